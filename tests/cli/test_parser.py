"""What is ours in the parser: full names for our own flags, suggestions, errors, and which flags were given."""

from __future__ import annotations

import pytest

from typecase.cli.command import Command
from typecase.cli.flags import Flag
from typecase.cli.parser import Arguments, UsageError


@pytest.fixture(scope="module")
def command() -> Command:
    return Command("launch render")


def parse(command: Command, line: str) -> Arguments:
    return command.parse(line.split())[0]


def own(command: Command) -> list[Flag]:
    return [flag for flag in command.flags if flag.own]


def test_own_flags_by_full_name(command: Command) -> None:
    assert parse(command, "--tokenizer-cache-mb 8").tokenizer_cache_mb == 8
    assert parse(command, "--max_json_nodes=2k").max_json_nodes == 2000


def test_own_flags_not_by_prefix(command: Command) -> None:
    with pytest.raises(UsageError, match="unrecognized arguments: --tokenizer-cache 8"):
        parse(command, "m --tokenizer-cache 8")


def test_own_flags_leave_every_prefix_its_meaning(command: Command) -> None:
    theirs = [name for flag in command.flags if not flag.own for name in (*flag.names, *flag.negative)]
    for flag in own(command):
        for name in flag.names:
            assert not [spelling for spelling in theirs if spelling.startswith(name)]


def test_unknown_flag_gets_a_suggestion(command: Command) -> None:
    with pytest.raises(UsageError) as refused:
        parse(command, "m --prot=80")
    assert str(refused.value) == (
        "usage: typecase launch render [MODEL] [options]\n"
        "typecase launch render: error: unrecognized arguments: --prot=80 (did you mean --port?)"
    )


def test_errors_have_the_shape_of_argparse(command: Command) -> None:
    with pytest.raises(UsageError, match="typecase launch render: error: argument --port: invalid int value: 'x'"):
        parse(command, "--port x")


def test_errors_escape_control_characters(command: Command) -> None:
    with pytest.raises(UsageError) as refused:
        command.parse(["--x\x1b[31m\nb"])
    assert "\\x1b[31m\\nb" in str(refused.value)


def test_bad_sizes_say_what_to_write(command: Command) -> None:
    with pytest.raises(UsageError, match=r"Did you mean to use 1[.]5k instead"):
        parse(command, "--max-model-len 1.5K")
    with pytest.raises(UsageError, match="invalid human_readable_int value"):
        parse(command, "--max-num-batched-tokens " + "9" * 400 + "k")


def test_json_nested_beyond_reason_is_refused(command: Command) -> None:
    with pytest.raises(UsageError, match="invalid loads value"):
        command.parse(["--hf-overrides", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}"])


def test_given_are_the_flags_on_the_line(command: Command) -> None:
    assert parse(command, "m --port 8000 --no-trust-remote-code").given == {"model_tag", "port", "trust_remote_code"}


def test_sizes_inside_engine_settings(command: Command) -> None:
    given = command.parse(["--kv-transfer-config", '{"a": 80m, "b": "80m"}'])[0]
    assert given.kv_transfer_config == {"a": 80_000_000, "b": "80m"}
