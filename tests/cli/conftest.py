"""Starts of the program inside the test process."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from typecase.cli.main import main


@pytest.fixture
def loggers_as_before() -> Iterator[None]:
    """The program sets these loggers up for good."""
    loggers = [logging.getLogger(name) for name in ("typecase", "uvicorn")]
    before = [(logger, logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


@pytest.fixture
def failure(
    loggers_as_before: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run the program, which must refuse to start: exit code 1 and one last line, which is given back."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the server started")

    def failure(*words: str) -> str:
        monkeypatch.setattr("typecase.server.run.serve", refuse)
        assert main(words) == 1
        out, err = capsys.readouterr()
        assert out == ""
        last: str = err.splitlines()[-1]
        assert last.startswith("typecase: error: ")
        return last.removeprefix("typecase: error: ")

    return failure
