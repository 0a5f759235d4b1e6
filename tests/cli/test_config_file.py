"""``--config FILE.yaml``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from typecase.cli.command import Command
from typecase.cli.failure import StartError
from typecase.cli.parser import UsageError

Write = Callable[[str], str]


@pytest.fixture(scope="module")
def render() -> Command:
    return Command("launch render")


@pytest.fixture(scope="module")
def serve() -> Command:
    return Command("serve")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        path = tmp_path / "flags.yaml"
        path.write_text(text)
        return str(path)

    return write


ALL_KINDS = """
model: org/name
port: 9000
served_model_name: [a, b]
enable-request-id-headers: true
max-model-len: 2k
hf-overrides: {rope: {factor: 2.0}, list: [1, x]}
override-generation-config.temperature: 0.5
chat-template: "-dashed"
"""


@pytest.mark.parametrize("name", ["render", "serve"])
def test_every_kind_of_value(name: str, write: Write, request: pytest.FixtureRequest) -> None:
    command: Command = request.getfixturevalue(name)
    arguments, notes = command.parse(["--config", write(ALL_KINDS)])
    assert arguments.model == "org/name"
    assert arguments.port == 9000
    assert arguments.served_model_name == ["a", "b"]
    assert arguments.enable_request_id_headers is True
    assert arguments.max_model_len == 2000
    assert arguments.hf_overrides == {"rope": {"factor": 2.0}, "list": [1, "x"]}
    assert arguments.override_generation_config == {"temperature": 0.5}
    assert arguments.chat_template == "-dashed"
    assert notes == []


def test_the_line_stands_over_the_file(render: Command, write: Write) -> None:
    file = write("port: 9000\nserved-model-name: [a]\nenable-log-requests: true")
    arguments, _ = render.parse(["--port", "1", "--config", file, "MODEL", "--no-enable-log-requests"])
    assert (arguments.model_tag, arguments.port, arguments.served_model_name) == ("MODEL", 1, ["a"])
    assert arguments.enable_log_requests is False


def test_a_list_at_the_end_leaves_the_model_alone(render: Command, write: Write) -> None:
    arguments, _ = render.parse(["--config", write("served-model-name: [a, b]"), "MODEL"])
    assert (arguments.model_tag, arguments.served_model_name) == ("MODEL", ["a", "b"])


def test_false_switches_off_on_render(render: Command, write: Write) -> None:
    text = "enable_log_deltas: false\nheadless: false\ndisable-fastapi-docs: false\nenable-uvicorn-access-log: false"
    arguments, _ = render.parse(["--config", write(text)])
    assert arguments.enable_log_deltas is False
    assert arguments.headless is False
    assert arguments.disable_fastapi_docs is False
    assert arguments.disable_uvicorn_access_log is True


def test_false_is_ignored_on_serve(serve: Command, write: Write) -> None:
    file = write("enable-log-deltas: false")
    arguments, notes = serve.parse(["m", "--config", file])
    assert arguments.enable_log_deltas is True
    assert notes == [f"{file}: false is ignored, as vllm serve does, for enable-log-deltas"]


def test_serve_wants_a_model(serve: Command, write: Write) -> None:
    with pytest.raises(StartError, match="No model specified"):
        serve.parse(["--config", write("port: 1")])


@pytest.mark.parametrize("text", ["", "# nothing\n", "served-model-name: []"])
def test_files_that_say_nothing(render: Command, write: Write, text: str) -> None:
    assert render.parse(["--config", write(text)])[0].given == set()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a", "a mapping of flags is wanted, not a list"),
        ("port: false", "port is no switch that can be false"),
        ("1: 2", "the key 1 is no flag name"),
        ("a: !!python/object/apply:os.system [ls]", "could not determine a constructor"),
        ("a: [", "while parsing"),
        ("\x00", "unacceptable character"),
        ("a: &a [x]\nb: [" + "*a," * 21 + "]", "more than 20 aliases"),
        ("a: &a {b: *a}", "Circular reference"),
        ("a: " + "[" * 2_000, "recursion"),
        ("a: 2024-13-45", "month must be"),
        ("a: '" + "x" * (1 << 20) + "'", "more than 1048576 bytes"),
    ],
)
def test_files_that_are_refused(render: Command, write: Write, text: str, reason: str) -> None:
    with pytest.raises(StartError, match=reason) as refused:
        render.parse(["--config", write(text)])
    assert "\n" not in str(refused.value)


def test_unknown_flags_name_the_file(render: Command, write: Write) -> None:
    file = write("prot: 1")
    with pytest.raises(
        UsageError, match=r"unrecognized arguments: --prot=1 \(did you mean --port\?\) \(in .*flags.yaml\)"
    ):
        render.parse(["--config", file])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (["--config"], "No config file specified"),
        (["--config", "a.yaml", "--config", "b.yaml"], "More than one config file"),
        (["--config", "a.json"], "Config file must be of a yaml/yml type. json supplied"),
        (["--config", "missing.yaml"], "No such file"),
    ],
)
def test_lines_that_are_refused(render: Command, line: list[str], reason: str) -> None:
    with pytest.raises(StartError, match=reason):
        render.parse(line)


def test_the_form_with_an_equals_sign_is_not_read(render: Command) -> None:
    _, notes = render.parse(["--config=missing.yaml"])
    assert notes == ["--config=missing.yaml is not read, write --config missing.yaml"]
