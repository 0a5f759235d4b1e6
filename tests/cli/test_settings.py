"""From parsed flags and variables to the options of the front, the server and the log."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from typecase.api.limits import Limits
from typecase.checkpoint.checkpoint import Checkpoint
from typecase.cli.command import Command
from typecase.cli.environment import Environment
from typecase.cli.failure import StartError
from typecase.cli.logs import LogOptions
from typecase.cli.parser import Arguments
from typecase.cli.settings import context_length, front_options, log_options, model_name, server_settings
from typecase.front import FrontOptions
from typecase.server.settings import ServerSettings, TemplateBudget

Parse = Callable[..., Arguments]


@pytest.fixture(scope="module")
def parse() -> Parse:
    command = Command("launch render")
    return lambda *words: command.parse(words)[0]


def front(arguments: Arguments, **variables: Any) -> FrontOptions:
    return front_options(arguments, Environment(**variables))


def server(arguments: Arguments, **variables: Any) -> ServerSettings:
    return server_settings(arguments, Environment(**variables))


def test_defaults_are_those_of_the_options(parse: Parse) -> None:
    assert front(parse("m")) == FrontOptions(served_model_names=("m",))
    assert server(parse()) == ServerSettings()
    assert log_options(parse(), Environment()) == LogOptions()


def test_limits(parse: Parse) -> None:
    assert front(parse(), max_n=1, max_stop_strings=2, max_completion_prompts=3).limits == Limits(
        max_n=1, max_stop_strings=2, max_completion_prompts=3
    )


def test_model_name(parse: Parse) -> None:
    assert model_name(parse("a", "--model", "b")) == "a"
    assert model_name(parse("--model", "b")) == "b"
    assert model_name(parse()) == "Qwen/Qwen3-0.6B"


def test_served_names(parse: Parse) -> None:
    assert front(parse("m", "--served-model-name", "a", "b")).served_model_names == ("a", "b")
    assert front(parse("m", "--served-model-name", "None")).served_model_names == ("m",)


@pytest.mark.parametrize(
    ("words", "variable", "keys"),
    [
        ([], None, ()),
        ([], "env", ("env",)),
        ([], "", ()),
        (["--api-key", "a", "b"], "env", ("a", "b")),
        (["--api-key", "a", "--api-key", "b"], None, ("b",)),
        (["--api-key", "", "a"], None, ("a",)),
        (["--api-key", ""], "env", ()),
    ],
)
def test_api_keys(parse: Parse, words: list[str], variable: str | None, keys: tuple[str, ...]) -> None:
    assert server(parse(*words), api_key=variable).api_keys == keys


def test_server_flags(parse: Parse) -> None:
    settings = server(
        parse(
            *["--host", "::1", "--port", "1", "--root-path", "/api", "--allowed-origins", '["*"]'],
            *["--disable-access-log-for-endpoints", "/health, /metrics,", "--disable-uvicorn-access-log"],
            *["--max-body-mb", "0.5", "--header-timeout", "0", "--stop-timeout", "3"],
            *["--template-steps", "1k", "--template-characters", "3k"],
        ),
        keep_alive=9,
        template_timeout=None,
    )
    assert settings == ServerSettings(
        host="::1",
        port=1,
        root_path="/api",
        allowed_origins=("*",),
        access_log=False,
        access_log_excluded=frozenset({"/health", "/metrics"}),
        max_body_bytes=1 << 19,
        header_timeout=None,
        graceful_timeout=3,
        keep_alive=9,
        small_budget=TemplateBudget(steps=1000, characters=3000),
        full_budget=TemplateBudget(steps=1000, characters=3000, seconds=None),
    )


@pytest.mark.parametrize(
    ("words", "count", "note"),
    [
        ([], 1, ""),
        (["--api-server-count", "1"], 1, ""),
        (["-asc", "3"], 3, ""),
        (["-asc", "0"], 1, "--api-server-count 0: one process serves"),
        (["-asc", "-2"], 1, "--api-server-count -2: one process serves"),
        (["-asc", "100000"], 256, "--api-server-count 100000: 256 are started"),
    ],
)
def test_any_number_of_processes_starts(
    parse: Parse, caplog: pytest.LogCaptureFixture, words: list[str], count: int, note: str
) -> None:
    """As on vLLM's render server, which starts one whatever the number."""
    assert server(parse(*words)).api_server_count == count
    assert caplog.messages == ([note] if note else [])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--max-body-mb", "0"], "--max-body-mb must be a number of megabytes above 0, got 0"),
        (["--max-in-flight-mb=nan"], "--max-in-flight-mb must be"),
        (["--body-timeout=-1"], "--body-timeout must be a number of seconds"),
        (["--template-steps=0"], "--template-steps must be at least 1"),
        (["--allowed-methods", "{}"], "--allowed-methods must be a JSON list of strings, got {}"),
    ],
)
def test_server_flags_that_cannot_work(parse: Parse, words: list[str], reason: str) -> None:
    with pytest.raises(StartError, match=reason):
        server(parse(*words))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--tokenizer-cache-mb=-1"], "--tokenizer-cache-mb must be"),
        (["--max-model-len", "0"], "--max-model-len must be at least 1, or auto, got 0"),
        (["--default-chat-template-kwargs", "[1]"], "--default-chat-template-kwargs must be a JSON object"),
        (["--override-generation-config", "3"], "--override-generation-config must be a JSON object"),
        (["--override-generation-config.temperature", "hot"], '--override-generation-config: "temperature" must be'),
        (["--structured-outputs-config.reasoning_parser", "1"], "reasoning_parser must be a name"),
    ],
)
def test_front_flags_that_cannot_work(parse: Parse, words: list[str], reason: str) -> None:
    with pytest.raises(StartError, match=reason):
        front(parse(*words))


@pytest.mark.parametrize("word", ["auto", "-1"])
def test_length_of_the_checkpoint(parse: Parse, word: str) -> None:
    assert front(parse("--max-model-len", word)).max_model_len is None


def test_reasoning_parser(parse: Parse) -> None:
    assert front(parse("--reasoning-parser", "none")).reasoning_parser is None
    assert front(parse("--structured-outputs-config.reasoning_parser", "qwen3")).reasoning_parser == "qwen3"
    both = parse("--reasoning-parser", "a", "--structured-outputs-config.reasoning_parser", "b")
    assert front(both).reasoning_parser == "a"


class TestChatTemplate:
    def test_file(self, parse: Parse, tmp_path: Path) -> None:
        file = tmp_path / "{{odd}}.jinja"
        file.write_bytes("a\r\nü".encode())
        assert front(parse("--chat-template", str(file))).chat_template == "a\nü"

    @pytest.mark.parametrize("text", ["{{ messages }}", "a\nb", "}", "/no/such {"])
    def test_text(self, parse: Parse, text: str) -> None:
        assert front(parse("--chat-template", text)).chat_template == text

    @pytest.mark.parametrize("text", ["None", ""])
    def test_none(self, parse: Parse, text: str) -> None:
        assert front(parse("--chat-template", text)).chat_template is None

    def test_path_of_nothing(self, parse: Parse) -> None:
        with pytest.raises(
            StartError, match=r"chat template string \(template_chatml.jinja\) appears path-like, but doesn't exist"
        ):
            front(parse("--chat-template", "template_chatml.jinja"))

    def test_directory(self, parse: Parse, tmp_path: Path) -> None:
        with pytest.raises(StartError, match=r"Is a directory"):
            front(parse("--chat-template", str(tmp_path)))

    def test_no_text(self, parse: Parse, tmp_path: Path) -> None:
        file = tmp_path / "t"
        file.write_bytes(b"\xff")
        with pytest.raises(StartError, match="is no UTF-8 text"):
            front(parse("--chat-template", str(file)))


class TestGenerationConfig:
    @pytest.mark.parametrize("word", ["auto", "vllm"])
    def test_word(self, parse: Parse, word: str) -> None:
        assert front(parse("--generation-config", word)).generation_config == word

    def test_directory(self, parse: Parse, tmp_path: Path) -> None:
        (tmp_path / "generation_config.json").write_text('{"temperature": 0.5, "top_p": null}')
        assert front(parse("--generation-config", str(tmp_path))).generation_config == {"temperature": 0.5}

    def test_directory_without(self, parse: Parse, tmp_path: Path) -> None:
        assert front(parse("--generation-config", str(tmp_path))).generation_config == {}

    def test_broken(self, parse: Parse, tmp_path: Path) -> None:
        (tmp_path / "generation_config.json").write_text("{")
        with pytest.raises(StartError, match=r"--generation-config .*: generation_config.json: not valid JSON"):
            front(parse("--generation-config", str(tmp_path)))


def test_log_levels(parse: Parse) -> None:
    words = ["--logging-config", json.dumps({"log_level": "ERROR", "formatter": "json"})]
    assert log_options(parse(*words), Environment(log_level="DEBUG")) == LogOptions(level="ERROR", formatter="json")
    assert log_options(parse(*words, "--log-level", "WARNING"), Environment()).level == "WARNING"
    assert log_options(parse(), Environment(log_level="DEBUG")).level == "DEBUG"
    assert log_options(parse("--log-config-file", "f"), Environment(log_file="e")).file == "f"


@pytest.mark.parametrize("config", ['{"configure_logging": "no"}', '{"log_level": 3}', '{"level": "INFO"}'])
def test_log_settings_that_cannot_work(parse: Parse, config: str) -> None:
    with pytest.raises(StartError, match="--logging-config"):
        log_options(parse("--logging-config", config), Environment())


@dataclass
class Config:
    """As much of a checkpoint as the length depends on."""

    config: dict[str, Any] = field(default_factory=dict)
    max_model_len: int | None = None


def checkpoint(own: int, **config: Any) -> Checkpoint:
    return cast(Checkpoint, Config({"max_position_embeddings": own} | config, own))


class TestContextLength:
    def test_own(self) -> None:
        assert context_length(None, checkpoint(4096), allow_longer=False) == 4096

    def test_shorter(self) -> None:
        assert context_length(100, checkpoint(4096), allow_longer=False) == 100

    def test_longer(self) -> None:
        with pytest.raises(StartError) as refused:
            context_length(5000, checkpoint(4096), allow_longer=False)
        assert str(refused.value) == (
            "User-specified max_model_len (5000) is greater than the derived max_model_len "
            "(max_position_embeddings=4096 or model_max_length=None in model's config.json). "
            "To allow overriding this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1."
        )

    def test_longer_allowed(self) -> None:
        assert context_length(5000, checkpoint(4096), allow_longer=True) == 5000

    def test_nothing_said(self) -> None:
        silent = cast(Checkpoint, Config({}, 2048))
        assert context_length(None, silent, allow_longer=False) == 2048
        assert context_length(9000, silent, allow_longer=False) == 9000

    def test_longrope_reaches_further_than_its_default(self) -> None:
        rope = {"rope_type": "longrope", "original_max_position_embeddings": 4096}
        config = {"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_scaling": rope}
        model = cast(Checkpoint, Config(config, 4096))
        assert context_length(None, model, allow_longer=False) == 4096
        assert context_length(131072, model, allow_longer=False) == 131072

    def test_window(self) -> None:
        model = checkpoint(32768, sliding_window=4096)
        assert context_length(None, model, allow_longer=False, disable_sliding_window=True) == 4096
        assert context_length(None, model, allow_longer=False) == 32768
        unused = checkpoint(32768, sliding_window=4096, use_sliding_window=False)
        assert context_length(None, unused, allow_longer=False, disable_sliding_window=True) == 32768
