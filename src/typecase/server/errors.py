"""Exceptions into answers: the one place.

Whatever the core raises becomes vLLM's ``{"error": {"message", "type", "param", "code"}}``. Messages are cleaned as
vLLM cleans them: no memory addresses, no traceback lines, no file paths. Text from a request may stand in a message,
so the cleaning must be linear: vLLM's patterns are written here so that they never scan a run of characters twice.
"""

from __future__ import annotations

__all__ = [
    "UNREADABLE_BODY",
    "UNSUPPORTED_MEDIA_TYPE",
    "BodyTooLarge",
    "Busy",
    "answer_to",
    "as_anthropic",
    "clean_message",
    "error_answer",
]

import logging
import re

import msgspec

from typecase.api.errors import RequestError, UnreadableBody
from typecase.server.answers import Answer, detail, json_answer

_log = logging.getLogger("typecase.server")


class BodyTooLarge(RequestError):
    """The body is longer than the server takes."""

    status = 413
    type = "Request Entity Too Large"

    def __init__(self, limit: int):
        super().__init__(
            f"The request body is larger than {limit} bytes, the most this server takes. "
            "Send less, or have the operator raise --max-body-mb."
        )


class Busy(RequestError):
    """The server holds as much as it may; the same request can succeed a moment later."""

    status = 503
    type = "ServiceUnavailableError"

    def __init__(self, message: str = "The server is holding too much data of other requests. Please try again."):
        super().__init__(message)


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>")
_FRAME = re.compile(r'File "[^"]+", line \d+, in \S+(\n\s+.*)?')
_SYSTEM_PATH = re.compile(r"/(?:home|usr|opt|var|tmp|root|lib|mnt|srv)(?:/[\w.\-]+)+")
_PATH_RUN = re.compile(r"(?:/[\w\-]++)++(?:\.\w+)?+")


def clean_message(message: str) -> str:
    """``message`` without what tells about the machine it was written on."""
    message = _ADDRESS.sub(">", message)
    if 'File "' in message:
        message = _without_frames(message)
    if "/" in message:
        message = _SYSTEM_PATH.sub("<path>", message)
        message = _PATH_RUN.sub(_file_path, message)
    # A lone surrogate quoted from the request can't be sent; show it the way it was written.
    return message.strip().encode("utf-8", "backslashreplace").decode()


def _without_frames(message: str) -> str:
    """Without ``File "...", line N, in NAME`` and the white space before it."""
    kept, at = [], 0
    for frame in _FRAME.finditer(message):
        kept.append(message[at : frame.start()].rstrip())
        at = frame.end()
    return "".join(kept) + message[at:]


def _file_path(run: re.Match[str]) -> str:
    """A run of ``/name/name`` counts as a path when a file ending follows and it has two parts or more."""
    text = run[0]
    return "<path>" if "." in text and text.count("/") > 1 else text


def error_answer(status: int, message: str, type: str, param: str | None = None) -> Answer:
    """An error in vLLM's shape."""
    if param is not None:
        param = param.encode("utf-8", "backslashreplace").decode()
    return json_answer(
        status, {"error": {"message": clean_message(message), "type": type, "param": param, "code": status}}
    )


UNREADABLE_BODY = detail(400, "There was an error parsing the body")
UNSUPPORTED_MEDIA_TYPE = error_answer(
    400, "1 validation error:\n  Unsupported Media Type: Only 'application/json' is allowed", "Bad Request"
)
_TOO_DEEP = error_answer(400, "The request body is nested too deeply.", "BadRequestError", "body")
_INTERNAL = error_answer(500, "Internal server error. The server's log has the details.", "InternalServerError")


def answer_to(error: Exception) -> Answer:
    """The answer for what a route raised. Unforeseen exceptions are logged, without the words of the request."""
    if isinstance(error, UnreadableBody):
        return UNREADABLE_BODY
    if isinstance(error, RequestError):
        answer = error_answer(error.status, error.message, error.type, error.param)
        if isinstance(error, Busy):
            answer.headers.append((b"retry-after", b"1"))
        return answer
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    # An exception's message may quote the request, which must not reach a log: its class and the frames are enough.
    withheld = _Withheld(f"{type(error).__name__} (its message may quote the request and is not logged)")
    _log.error("Unexpected error while answering a request", exc_info=withheld.with_traceback(error.__traceback__))
    return _INTERNAL


# Anthropic's clients choose their exception by the type.
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


def as_anthropic(answer: Answer) -> Answer:
    """An error in the shape of Anthropic's API, whatever shape it has in vLLM's.

    vLLM leaves what pydantic refuses in its own shape, which Anthropic's clients can't read.
    """
    told = msgspec.json.decode(answer.body)
    message = told["error"]["message"] if "error" in told else told["detail"]
    other = "api_error" if answer.status >= 500 else "invalid_request_error"
    error = {"type": _ANTHROPIC_TYPES.get(answer.status, other), "message": message}
    extra = [header for header in answer.headers if header[0] not in (b"content-length", b"content-type")]
    return json_answer(answer.status, {"type": "error", "error": error}, *extra)


class _Withheld(Exception):
    """Stands in a log for an exception whose message must stay out of it."""
