"""What the server asks of a model: `typecase.model.Model`, seen from here.

The renderings are plain functions from the request's body to the answer's body (decode, render, encode), so that a
short one runs on the event loop and a long one in a thread without the route knowing.
"""

from __future__ import annotations

__all__ = ["Rendering", "ServedModel"]

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from typecase.prompt.budget import Budget


class Rendering(Protocol):
    """Request body in, answer body out; refusals are raised. ``request_id`` is the client's ``X-Request-Id``."""

    def __call__(self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None) -> bytes: ...


class ServedModel(Protocol):
    """One model under its names."""

    @property
    def names(self) -> Sequence[str]: ...
    @property
    def root(self) -> str: ...
    @property
    def max_model_len(self) -> int: ...

    def warm_up(self) -> None: ...
    def tokenizer_info(self) -> Mapping[str, Any]: ...
    def render_chat_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def render_completions_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def render_messages_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def count_tokens_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def render_responses_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def tokenize_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
    def detokenize_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes: ...
