"""The body of ``/v1/responses`` and its render route."""

from __future__ import annotations

__all__ = ["ResponsesRequest"]

from math import isnan
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from typecase.api.chat import CacheSalt, ExtraArgs, Int64, ReasoningEffort, Stop, TopLogprobs, fits_stop
from typecase.api.chat_checks import check_cache_salt, without_mm_kwargs_alias
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.limits import Limits
from typecase.api.reading import OpenRecord, reader_for
from typecase.api.response_items import read_input, read_tool_choice, read_tools
from typecase.api.structured import StructuredOutputs

Penalty = Annotated[float, Meta(ge=-2.0, le=2.0)]


class _Reasoning(OpenRecord):
    context: Literal["auto", "current_turn", "all_turns"] | None = None
    effort: ReasoningEffort | None = None
    generate_summary: Literal["auto", "concise", "detailed"] | None = None
    mode: str | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class _TextFormat(OpenRecord):
    type: Literal["text"]


class _SchemaFormat(OpenRecord):
    name: str
    schema: dict[str, Any]
    type: Literal["json_schema"]
    description: str | None = None
    strict: bool | None = None


class _ObjectFormat(OpenRecord):
    type: Literal["json_object"]


class _Text(OpenRecord):
    format: Annotated[
        dict[str, Any] | None, Meta(extra={"reader": reader_for(_TextFormat | _SchemaFormat | _ObjectFormat | None)})
    ] = None
    verbosity: Literal["low", "medium", "high"] | None = None


class _CacheOptions(OpenRecord):
    mode: Literal["implicit", "explicit"] = "implicit"
    ttl: Literal["30m"] = "30m"
    comparison_response_id: str | None = None
    prewarm: bool | None = None


def _underscored(value: Any) -> Any:
    return "in_memory" if value == "in-memory" else value


class ResponsesRequest(msgspec.Struct, kw_only=True):
    """A Responses request, its fields in vLLM's order.

    ``reasoning``, ``text``, items and tools are checked and stay dicts; the first two get defaults for what is missing.
    """

    background: bool | None = False
    include: (
        list[
            Literal[
                "code_interpreter_call.outputs",
                "computer_call_output.output.image_url",
                "file_search_call.results",
                "message.input_image.image_url",
                "message.output_text.logprobs",
                "reasoning.encrypted_content",
            ]
        ]
        | None
    ) = None
    input: Annotated[str | list[dict[str, Any]], Meta(extra={"reader": read_input})]
    instructions: str | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = None
    model: str | None = None
    logit_bias: dict[str, float] | None = None
    parallel_tool_calls: bool | None = True
    previous_response_id: str | None = None
    reasoning: Annotated[dict[str, Any] | None, Meta(extra={"reader": reader_for(_Reasoning | None)})] = None
    include_reasoning: bool = True
    service_tier: Literal["auto", "default", "flex", "scale", "priority"] = "auto"
    store: bool | None = True
    stream: bool | None = False
    temperature: float | None = None
    text: Annotated[dict[str, Any] | None, Meta(extra={"reader": reader_for(_Text | None)})] = None
    tool_choice: Annotated[str | dict[str, Any], Meta(extra={"reader": read_tool_choice})] = "auto"
    tools: Annotated[list[dict[str, Any]], Meta(extra={"reader": read_tools})] = msgspec.field(default_factory=list)
    top_logprobs: TopLogprobs = 0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    truncation: Literal["auto", "disabled"] | None = "disabled"
    user: str | None = None
    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool = True
    include_stop_str_in_output: bool = False
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    prompt_cache_key: str | None = None
    prompt_cache_options: Annotated[dict[str, Any] | None, Meta(extra={"reader": reader_for(_CacheOptions | None)})] = (
        None
    )
    prompt_cache_retention: Annotated[Literal["in_memory", "24h"] | None, Meta(extra={"before": _underscored})] = None
    safety_identifier: str | None = None
    watermarking: bool | None = None
    # Absent or a string: null is refused.
    request_id: Annotated[str | None, Meta(extra={"reader": reader_for(str)})] = None
    session_id: str | None = None
    media_io_kwargs: dict[str, dict[str, Any]] | None = None
    mm_processor_kwargs: dict[str, Any] | None = None
    priority: Int64 = 0
    mm_payload: Literal["tensors", "none"] = "tensors"
    return_mm_kwargs: bool | None = None
    cache_salt: CacheSalt = None
    enable_response_messages: bool = False
    previous_input_messages: list[dict[str, Any]] | None = None
    structured_outputs: StructuredOutputs | None = None
    repetition_penalty: float | None = None
    seed: Int64 | None = None
    stop: Stop = msgspec.field(default_factory=list)
    stop_token_ids: list[int] | None = msgspec.field(default_factory=list)
    ignore_eos: bool = False
    vllm_xargs: ExtraArgs | None = None
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """vLLM's checks of the body as a whole, in its order, before its fields are read."""
        _check_tool_choice(body)
        _check_custom_tools(body)
        if isinstance(body.get("input"), dict):
            body["input"] = list(body["input"])  # what vLLM makes of it; only an empty one passes
        if body.get("prompt") is not None:
            raise InvalidParameter("prompt template is not supported", "prompt")
        if body.get("background") and not body.get("store", True):
            raise InvalidParameter("background can only be used when `store` is true", "background")
        check_cache_salt(body)
        return without_mm_kwargs_alias(body)

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance that msgspec read needs no second look."""
        penalties = (self.presence_penalty, self.frequency_penalty)
        return (
            fits_stop(self.stop, limits)
            and (self.cache_salt is None or self.cache_salt.isascii())
            and not any(p is not None and isnan(p) for p in penalties)
        )

    @property
    def wants_logprobs(self) -> bool:
        """Whether the answer's tokens shall come with logprobs; ``top_logprobs`` alone doesn't say so."""
        return self.include is not None and "message.output_text.logprobs" in self.include


_NOT_FOUND = "Tool choice 'function' not found in 'tools' parameter."


def _check_tool_choice(body: dict[str, Any]) -> None:
    tools, choice = body.get("tools"), body.get("tool_choice", "auto")
    named = isinstance(choice, dict) and choice.get("type") in ("function", "custom")
    if tools is not None and not isinstance(tools, list | dict | str):
        raise RequestError(f"object of type {type(tools).__name__!r} has no len()")  # vLLM's TypeError
    if not tools:
        if choice in ("auto", "none"):
            body["tool_choice"] = "none"
        elif choice == "required":
            raise InvalidParameter("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice")
        elif named:
            raise InvalidParameter(_NOT_FOUND, "tool_choice")
    elif named:
        name = choice.get("name")
        if not name:
            raise InvalidParameter(_NOT_FOUND, "tool_choice")
        whole = _whole_name(name, tools)
        if whole != name:
            body["tool_choice"] = {**choice, "name": whole}


def _whole_name(name: Any, tools: Any) -> Any:
    """The name of a tool with its namespace, which may be left out where it is clear."""
    names: list[Any] = []
    inside: list[str] = []
    for tool in tools:
        if not isinstance(tool, dict):
            continue
        if tool.get("type") != "namespace":
            if isinstance(tool.get("name"), str):
                names.append(tool["name"])
            continue
        space, members = tool.get("name"), tool.get("tools")
        if not isinstance(members, list) or not isinstance(space, str):
            return name
        for member in members:
            local = member.get("name") if isinstance(member, dict) else None
            if isinstance(local, str):
                names.append(f"{space}__{local}")
                if local == name:
                    inside.append(f"{space}__{local}")
    if name in names:
        return name
    if len(inside) == 1:
        return inside[0]
    if inside:
        raise InvalidParameter(
            f"Tool choice '{name}' is ambiguous: it is defined in more than one namespace ({', '.join(inside)}). "
            "Select it by its full '<namespace>__<name>' name.",
            "tool_choice",
        )
    raise InvalidParameter(_NOT_FOUND, "tool_choice")


def _check_custom_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "custom":
            form = tool.get("format")
            if isinstance(form, dict) and form.get("type") == "grammar":
                raise InvalidParameter(
                    "Custom tools with a grammar format are not supported; only free-form text custom tools are "
                    "accepted.",
                    "tools",
                )
