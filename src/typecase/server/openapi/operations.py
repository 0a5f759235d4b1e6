"""What each route takes and answers, for the schema; the routes themselves don't need it.

A route that has no entry here is documented by its path and summary alone; the tests want one for each.
"""

from __future__ import annotations

__all__ = ["OPERATIONS", "Operation"]

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``body`` and ``answer`` are schemas of JSON; ``text``: the answer is plain text instead; neither: it is empty.

    ``example`` is a body; the schema shows it with the served model's name. ``refused``: there is no other answer than
    a refusal. ``names_requests``: the ``X-Request-Id`` header becomes the request's id.
    """

    id: str
    group: str
    body: Schema | None = None
    answer: Schema | None = None
    text: bool = False
    example: Mapping[str, Any] | None = None
    error: str = "Error"
    refused: bool = False
    names_requests: bool = False


_WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
_GENERATE = _ref("GenerateRequest")

OPERATIONS: Mapping[tuple[str, str], Operation] = {
    ("POST", "/v1/chat/completions/render"): Operation(
        id="render_chat",
        group="Render",
        body=_ref("ChatRequest"),
        answer=_GENERATE,
        names_requests=True,
        example={
            "messages": [
                {"role": "system", "content": "Answer in one sentence."},
                {"role": "user", "content": "What does a typecase hold?"},
            ],
            "max_tokens": 64,
            "temperature": 0,
        },
    ),
    ("POST", "/v1/completions/render"): Operation(
        id="render_completions",
        group="Render",
        body=_ref("CompletionRequest"),
        answer={"type": "array", "items": _GENERATE},
        names_requests=True,
        example={"prompt": ["A typecase holds", "A composing stick holds"], "max_tokens": 16},
    ),
    ("POST", "/v1/responses/render"): Operation(
        id="render_responses",
        group="Render",
        body=_ref("ResponsesRequest"),
        answer=_GENERATE,
        example={
            "instructions": "Answer in one sentence.",
            "input": "What does a typecase hold?",
            "max_output_tokens": 64,
        },
    ),
    ("POST", "/v1/messages/render"): Operation(
        id="render_messages",
        group="Render",
        body=_ref("MessagesRequest"),
        answer=_GENERATE,
        names_requests=True,
        example={
            "system": "Answer in one sentence.",
            "messages": [{"role": "user", "content": "What does a typecase hold?"}],
            "max_tokens": 64,
        },
    ),
    ("POST", "/v1/messages/count_tokens"): Operation(
        id="count_tokens",
        group="Tokens",
        body=_ref("CountTokensRequest"),
        answer=_ref("CountTokensResponse"),
        error="AnthropicError",
        example={
            "messages": [{"role": "user", "content": "What is the weather in Mainz?"}],
            "tools": [{"name": "weather", "description": "The weather of a city", "input_schema": _WEATHER}],
        },
    ),
    ("POST", "/tokenize"): Operation(
        id="tokenize",
        group="Tokens",
        body={"anyOf": [_ref("TokenizePrompt"), _ref("TokenizeChat")]},
        answer=_ref("TokenizeResponse"),
        example={"prompt": "A typecase holds", "return_token_strs": True},
    ),
    ("POST", "/detokenize"): Operation(
        id="detokenize",
        group="Tokens",
        body=_ref("DetokenizeRequest"),
        answer=_ref("DetokenizeResponse"),
        example={"tokens": [1, 2, 3]},
    ),
    ("GET", "/v1/models"): Operation(id="list_models", group="Server", answer=_ref("ModelList")),
    ("GET", "/tokenizer_info"): Operation(id="tokenizer_info", group="Tokens", answer={"type": "object"}),
    ("GET", "/version"): Operation(
        id="version",
        group="Server",
        answer={"type": "object", "properties": {"version": {"type": "string"}}, "required": ["version"]},
    ),
    ("GET", "/load"): Operation(
        id="load",
        group="Server",
        answer={"type": "object", "properties": {"server_load": {"type": "integer"}}, "required": ["server_load"]},
    ),
    ("GET", "/kv_event_sources"): Operation(id="kv_event_sources", group="Server", answer={"type": "object"}),
    ("GET", "/health"): Operation(id="health", group="Server"),
    ("GET", "/ping"): Operation(id="ping", group="Server"),
    ("POST", "/ping"): Operation(id="post_ping", group="Server"),
    ("POST", "/invocations"): Operation(
        id="invocations", group="Server", body={"type": "object"}, refused=True, example={}
    ),
    ("GET", "/metrics"): Operation(id="metrics", group="Server", text=True),
}
