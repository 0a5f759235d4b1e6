"""Log lines of the program: plain, on standard error, with control characters escaped.

The level is that of ``--log-level``, ``--logging-config`` or ``VLLM_LOGGING_LEVEL``; uvicorn's loggers have
their own, ``--uvicorn-log-level``. A file for ``logging.config.dictConfig`` replaces all of this, as in vLLM.
"""

from __future__ import annotations

__all__ = ["LogOptions", "configure"]

import json
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typecase.api.printable import printable
from typecase.cli.failure import StartError

LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG", "NOTSET")
_STREAMS = {"ext://sys.stderr": "stderr", "ext://sys.stdout": "stdout"}
_TRACE = 5  # uvicorn's name for what is below DEBUG


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """How to log. ``stream`` is written as in a dictConfig; ``file`` is one."""

    level: str = "INFO"
    uvicorn_level: str = "info"
    formatter: str = "text"
    stream: str = "ext://sys.stderr"
    prefix: str = ""
    file: str | None = None
    enabled: bool = True


class _TextFormatter(logging.Formatter):
    """``12:34:56 WARNING message``, a traceback on its own lines."""

    def __init__(self, prefix: str):
        super().__init__(f"{prefix.replace('%', '%%')}%(asctime)s %(levelname)s %(message)s", "%m-%d %H:%M:%S")

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(self, ei: Any) -> str:
        return "\n".join(printable(line) for line in super().formatException(ei).splitlines())


class _JsonFormatter(logging.Formatter):
    """One JSON object a line, with the keys that vLLM's ``formatter: json`` has."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "asctime": self.formatTime(record),
            "levelname": record.levelname,
            "name": record.name,
            "processName": record.processName,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["exc_info"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def configure(options: LogOptions) -> None:
    """Set up logging for this process, once, before anything is logged."""
    if options.file is not None:
        if not options.enabled:
            raise StartError("a logging configuration file was given, but logging configuration is switched off")
        _configure_from(options.file)
        return
    if not options.enabled:
        return
    if options.level not in LEVELS:
        raise StartError(f"log level {options.level!r} is none of {', '.join(LEVELS)}")
    if options.stream not in _STREAMS:
        raise StartError(f"VLLM_LOGGING_STREAM {options.stream!r} is neither ext://sys.stdout nor ext://sys.stderr")
    if options.formatter not in ("text", "json"):
        raise StartError(f"--logging-config: formatter {options.formatter!r} is neither text nor json")
    handler = logging.StreamHandler(getattr(sys, _STREAMS[options.stream]))
    handler.setFormatter(_JsonFormatter() if options.formatter == "json" else _TextFormatter(options.prefix))
    logging.addLevelName(_TRACE, "TRACE")
    for name, level in (("typecase", options.level), ("uvicorn", options.uvicorn_level.upper())):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)


def _configure_from(file: str) -> None:
    from logging.config import dictConfig

    try:
        config = json.loads(Path(file).read_bytes())
        if not isinstance(config, dict):
            raise ValueError(f"a JSON object is wanted, not {type(config).__name__}")
        dictConfig(config)
    except (OSError, ValueError, TypeError, AttributeError, ImportError, KeyError) as error:
        raise StartError(f"logging configuration {file}: {error}") from None
