"""The routes that turn requests into token ids, and ids into text. No rule about models lives here."""

from __future__ import annotations

__all__ = ["render_routes"]

from collections.abc import Sequence

import msgspec

from typecase.prompt.budget import Budget
from typecase.server.routes.route import Route, Work
from typecase.server.served import Rendering, ServedModel


def render_routes(models: Sequence[ServedModel]) -> list[Route]:
    """The render routes, ``/tokenize`` and ``/detokenize`` for all served models."""

    def post(
        path: str, summary: str, renderings: Sequence[Rendering], *, loose: bool = True, anthropic: bool = False
    ) -> Route:
        return Route(path, ("POST",), Work(_by_model(models, renderings), loose, anthropic), summary)

    return [
        post("/tokenize", "Token ids of a text or a chat", [model.tokenize_bytes for model in models]),
        post("/detokenize", "Text of token ids", [model.detokenize_bytes for model in models], loose=False),
        post("/v1/chat/completions/render", "Render a chat", [model.render_chat_bytes for model in models]),
        post("/v1/completions/render", "Render a completion", [model.render_completions_bytes for model in models]),
        post("/v1/messages/render", "Render a Messages request", [model.render_messages_bytes for model in models]),
        post(
            "/v1/messages/count_tokens",
            "Count the tokens of a Messages request's prompt",
            [model.count_tokens_bytes for model in models],
            anthropic=True,
        ),
        post("/v1/responses/render", "Render a Responses request", [model.render_responses_bytes for model in models]),
    ]


class _Named(msgspec.Struct):
    model: str | None = None


def _by_model(models: Sequence[ServedModel], renderings: Sequence[Rendering]) -> Rendering:
    """The rendering of the model that the request names; of the first one when it names none of them."""
    if len(models) == 1:
        return renderings[0]
    by_name = {name: call for model, call in zip(models, renderings, strict=True) for name in model.names}
    peek = msgspec.json.Decoder(_Named).decode

    def render(body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None) -> bytes:
        try:
            name = peek(body).model or ""
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            name = ""  # the rendering finds the fault again and words it
        return by_name.get(name, renderings[0])(body, request_id=request_id, budget=budget)

    return render
