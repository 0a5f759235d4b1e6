"""What a request can be refused for.

One base, ``RequestError``, and a small class per cause. The core raises them; ``server/errors.py`` alone turns them
into HTTP answers. The wire shape is vLLM's ``{"error": {"message", "type", "param", "code"}}``.
"""

from __future__ import annotations

__all__ = [
    "BodyError",
    "InvalidHistory",
    "InvalidInput",
    "InvalidParameter",
    "JsonError",
    "MediaError",
    "NotSupported",
    "RequestError",
    "TemplateError",
    "TemplateLimit",
    "UnknownModel",
    "UnreadableBody",
]


class RequestError(Exception):
    """A request that can't be served. ``param`` names the field at fault, as vLLM would write it, or is None."""

    status = 400
    type = "BadRequestError"

    def __init__(self, message: str, *, param: str | None = None):
        super().__init__(message)
        self.message = message
        self.param = param


class InvalidParameter(RequestError):
    """A named parameter has a bad value. vLLM appends what it knows of it to the message, so do we."""

    def __init__(self, message: str, param: str, **value: object):
        """``value=...`` is given when the message should show it."""
        shown = f", value={value['value']}" if "value" in value else ""
        super().__init__(f"{message} (parameter={param}{shown})", param=param)


class BodyError(RequestError):
    """The body doesn't have the request's shape: a missing field, a wrong type. ``param`` starts with ``body``."""

    type = "Bad Request"


class JsonError(BodyError):
    """The body is no JSON."""


class UnreadableBody(JsonError):
    """The body's bytes are no text in any encoding of JSON. vLLM answers ``{"detail": ...}`` here."""

    def __init__(self, message: str = "There was an error parsing the body", *, param: str | None = "body"):
        super().__init__(message, param=param)


class InvalidHistory(RequestError):
    """A Responses request refers to history that a stateless server doesn't have."""

    type = "invalid_request_error"


class InvalidInput(InvalidParameter):
    """An item of a Responses request's input can't be used by this model."""

    type = "invalid_request_error"


class UnknownModel(RequestError):
    """The request names a model that isn't served here."""

    status = 404
    type = "NotFoundError"


class TemplateError(RequestError):
    """The chat template refused the conversation (``raise_exception``) or failed on it."""


class TemplateLimit(TemplateError):
    """The chat template used up its budget of steps, characters or time."""


class MediaError(RequestError):
    """Media that could not be fetched or decoded."""

    status = 422
    type = "UnprocessableEntityError"


class NotSupported(RequestError):
    """Asked for something this server doesn't do."""

    status = 501
    type = "NotImplementedError"
