"""vLLM's own checks of a chat body, on the body as it came and in vLLM's order, before any field is read.

The texts are vLLM's to the letter. Where it would fail with a bare TypeError or crash, the words are ours.
"""

from __future__ import annotations

__all__ = [
    "check_cache_salt",
    "check_chat_body",
    "check_generation_prompt",
    "check_logprob_counts",
    "check_response_format",
    "check_stream_options",
    "constraint_of",
    "kinds_of",
    "without_mm_kwargs_alias",
]

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from typecase.api.chat_messages import has_non_text_content
from typecase.api.errors import BodyError, InvalidParameter, RequestError
from typecase.api.faults import quoted, shown
from typecase.api.structural_tags import check_response_format_tag, check_structural_tag

Body: TypeAlias = dict[str, Any]

_USAGE = 'Correct usage: `{"type": "function", "function": {"name": "my_function"}}`'
_SALT_MAX = 128
_SALT_FORBIDDEN = frozenset("@/\\\x00")


def check_chat_body(body: Body) -> Body:
    """The body, checked and prepared for reading. ``body`` itself may be changed, what it holds is not."""
    if type(body.get("messages")) is list and _CHECKED_FIELDS.isdisjoint(body):
        return body
    for check in _CHECKS:
        check(body)
    return without_mm_kwargs_alias(body)


def check_generation_prompt(body: Body) -> None:
    if body.get("continue_final_message") and body.get("add_generation_prompt"):
        raise RequestError("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")


def check_cache_salt(body: Body) -> None:
    salt = body.get("cache_salt")
    if salt is None:
        return
    if not isinstance(salt, str) or not salt:
        raise InvalidParameter("Parameter 'cache_salt' must be a non-empty string if provided.", "cache_salt")
    if len(salt) > _SALT_MAX or not _SALT_FORBIDDEN.isdisjoint(salt):
        raise InvalidParameter(
            "Parameter 'cache_salt' must be at most 128 characters and must not contain '@', '/', '\\\\', or NUL.",
            "cache_salt",
        )


def without_mm_kwargs_alias(body: Body) -> Body:
    """``return_mm_kwargs: false`` is an old way to write ``mm_payload: "none"``."""
    if body.get("return_mm_kwargs") is False and "mm_payload" not in body:
        return {**body, "mm_payload": "none"}
    return body


def _check_messages(body: Body) -> None:
    messages = body.get("messages", ())
    if not isinstance(messages, Iterable):
        # vLLM answers with the text of a TypeError and no param.
        raise RequestError(f"messages: expected a list of messages, got {shown(messages)}")


def _drop_prompt_ids_with_media(body: Body) -> None:
    """Forwarded prompt ids can't stand for media, so the messages count."""
    transfer = body.get("kv_transfer_params")
    if (
        isinstance(transfer, Mapping)
        and transfer.get("prompt_token_ids") is not None
        and has_non_text_content(body.get("messages"))
    ):
        body["kv_transfer_params"] = {k: v for k, v in transfer.items() if k != "prompt_token_ids"}


def _check_tools(body: Body) -> None:
    tools = body.get("tools")
    if tools == []:
        raise InvalidParameter(
            "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.", "tools"
        )
    if "tool_choice" not in body and tools:
        body["tool_choice"] = "auto"
    choice = body.get("tool_choice")
    if choice is None or choice == "none":
        return
    if tools is None:
        raise InvalidParameter("When using `tool_choice`, `tools` must be set.", "tool_choice")
    if choice in ("auto", "required"):
        return
    if not isinstance(choice, dict):
        raise InvalidParameter(
            f"Invalid value for `tool_choice`: {quoted(choice)}! "
            'Only named tools, "none", "auto" or "required" are supported.',
            "tool_choice",
        )
    _check_named_choice(choice.get("function"), tools)


def _check_named_choice(function: Any, tools: Any) -> None:
    if not isinstance(function, dict):
        raise InvalidParameter(
            f"Invalid value for `function`: `{quoted(function)}` in `tool_choice`! {_USAGE}", "tool_choice.function"
        )
    if "name" not in function:
        raise InvalidParameter(
            f"Expected field `name` in `function` in `tool_choice`! {_USAGE}", "tool_choice.function.name"
        )
    name = function["name"]
    if not isinstance(name, str) or not name:
        raise InvalidParameter(
            f"Invalid `name` in `function`: `{quoted(name)}` in `tool_choice`! {_USAGE}", "tool_choice.function.name"
        )
    if not isinstance(tools, list) and tools not in ({}, ""):
        raise RequestError(f"tools: expected a list of tools, got {shown(tools)}")
    for i, tool in enumerate(tools):
        inner = tool.get("function", {}) if isinstance(tool, dict) else None
        if not isinstance(inner, dict):  # a TypeError in vLLM
            raise RequestError(f"tools.{i}: expected a function tool, got {shown(tool)}")
        if "name" not in inner:  # a KeyError, and so a 500, in vLLM
            raise BodyError(f"tools.{i}: expected a function tool with a name", param=f"body.tools.{i}.function")
        if inner["name"] == name:
            return
    raise InvalidParameter(
        "The tool specified in `tool_choice` does not match any of the specified `tools`", "tool_choice"
    )


def constraint_of(body: Body) -> Mapping[str, Any] | None:
    """What is in ``structured_outputs``; anything but an object is refused, where vLLM crashes."""
    constraint = body.get("structured_outputs")
    if constraint is None or isinstance(constraint, Mapping):
        return constraint
    raise BodyError(
        f'structured_outputs: expected an object such as {{"json": ...}}, got {shown(constraint)}',
        param="body.structured_outputs",
    )


def kinds_of(constraint: Mapping[str, Any]) -> int:
    """How many of the kinds that exclude each other are given."""
    return sum(constraint.get(kind) is not None for kind in ("json", "regex", "choice"))


def _check_structured_outputs(body: Body) -> None:
    constraint = constraint_of(body)
    if constraint is None:
        return
    count = kinds_of(constraint)
    if count > 1:
        raise RequestError(
            "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice')."
        )
    if count and body.get("tool_choice", "none") not in ("none", "auto", "required"):
        raise RequestError("You can only either use constraints for structured outputs or tools, not both.")
    tag = constraint.get("structural_tag")
    if tag is not None:
        check_structural_tag(tag, "structured_outputs")


def _check_logprobs(body: Body) -> None:
    if body.get("logprob_token_ids"):
        if body.get("use_beam_search"):
            raise InvalidParameter("`logprob_token_ids` is not supported with beam search.", "logprob_token_ids")
        if not body.get("logprobs"):
            raise InvalidParameter(
                "when using `logprob_token_ids`, `logprobs` must be set to true.", "logprob_token_ids"
            )
    check_logprob_counts(body, "top_logprobs")
    top = body.get("top_logprobs")
    if top is not None and (top == -1 or top > 0) and not body.get("logprobs"):
        raise InvalidParameter("when using `top_logprobs`, `logprobs` must be set to true.", "top_logprobs")


def check_logprob_counts(body: Body, of_output: str) -> None:
    """The bounds of ``prompt_logprobs`` and of the field that holds the same for the output's tokens."""
    for field in ("prompt_logprobs", of_output):
        value = body.get(field)
        if value is not None and not isinstance(value, int | float):
            raise InvalidParameter(f"`{field}` must be an integer.", field, value=quoted(value))
    for field in ("prompt_logprobs", of_output):
        value = body.get(field)
        if value is None:
            continue
        if field == "prompt_logprobs" and body.get("stream") and (value > 0 or value == -1):
            raise InvalidParameter("`prompt_logprobs` are not available when `stream=True`.", field)
        if value < 0 and value != -1:
            raise InvalidParameter(f"`{field}` must be a positive value or -1.", field, value=quoted(value))


def check_stream_options(body: Body) -> None:
    """Options of a stream need one."""
    if body.get("stream_options") and not body.get("stream"):
        raise InvalidParameter("Stream options can only be defined when `stream=True`.", "stream_options")


def check_response_format(body: Body) -> None:
    """Refuse a schema format without a schema and a structural tag that can't be compiled."""
    response_format = body.get("response_format")
    if not isinstance(response_format, Mapping):
        return
    kind = response_format.get("type")
    if kind == "json_schema" and response_format.get("json_schema") is None:
        raise InvalidParameter(
            "When response_format type is 'json_schema', the 'json_schema' field must be provided.", "response_format"
        )
    if kind == "structural_tag":
        check_response_format_tag(response_format)


# pydantic runs the validators of a class in the reverse of the order they are written in: this is the order in effect.
_CHECKS: tuple[Callable[[Body], None], ...] = (
    _check_messages,
    _drop_prompt_ids_with_media,
    check_generation_prompt,
    _check_tools,
    _check_structured_outputs,
    _check_logprobs,
    check_stream_options,
    check_response_format,
    check_cache_salt,
)
# A body with none of these, and with a list of messages, has nothing to check.
_CHECKED_FIELDS = frozenset(
    {
        "add_generation_prompt", "cache_salt", "continue_final_message", "kv_transfer_params", "logprob_token_ids",
        "logprobs", "prompt_logprobs", "response_format", "return_mm_kwargs", "stream_options", "structured_outputs",
        "tool_choice", "tools", "top_logprobs",
    }
)  # fmt: skip
