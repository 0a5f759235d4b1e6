"""The program's log."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from typecase.api.printable import printable
from typecase.cli.failure import StartError
from typecase.cli.logs import LogOptions, configure

pytestmark = pytest.mark.usefixtures("loggers_as_before")


def test_lines_are_plain_and_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogOptions(prefix="50% "))
    logging.getLogger("typecase.x").warning("a\x1b[31m\n%s", "ü")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("50% ")
    assert err.endswith(" WARNING a\\x1b[31m\\nü\n")


def test_levels(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogOptions(level="ERROR", uvicorn_level="trace"))
    logging.getLogger("typecase.x").warning("quiet")
    logging.getLogger("uvicorn.error").debug("loud")
    err = capsys.readouterr().err
    assert "quiet" not in err
    assert "loud" in err


def test_tracebacks_stay_readable(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogOptions())
    try:
        raise ValueError("a\x1b")
    except ValueError:
        logging.getLogger("typecase").exception("failed")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].endswith("ERROR failed")
    assert lines[-1] == "ValueError: a\\x1b"


def test_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure(LogOptions(formatter="json", stream="ext://sys.stdout"))
    logging.getLogger("typecase.x").info("hello %s", "you")
    entry = json.loads(capsys.readouterr().out)
    assert (entry["levelname"], entry["name"], entry["message"]) == ("INFO", "typecase.x", "hello you")


def test_a_file_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    file.write_text(json.dumps({"version": 1, "loggers": {"typecase": {"level": "CRITICAL"}}}))
    configure(LogOptions(file=str(file)))
    assert logging.getLogger("typecase").level == logging.CRITICAL


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (LogOptions(file="/missing.json"), "logging configuration /missing.json: .*No such file"),
        (LogOptions(file="/missing.json", enabled=False), "switched off"),
        (LogOptions(level="LOUD"), "log level 'LOUD' is none of"),
        (LogOptions(stream="syslog"), "VLLM_LOGGING_STREAM 'syslog'"),
        (LogOptions(formatter="xml"), "formatter 'xml' is neither"),
    ],
)
def test_what_is_refused(options: LogOptions, reason: str) -> None:
    with pytest.raises(StartError, match=reason):
        configure(options)


def test_printable() -> None:
    assert printable("ü 漢 ok") == "ü 漢 ok"
    assert printable("\x9b\u2028\ud800") == "\\x9b\\u2028\\ud800"
