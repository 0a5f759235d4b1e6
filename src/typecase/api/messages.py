"""The bodies of Anthropic's ``/v1/messages/render`` and ``/v1/messages/count_tokens``, as vLLM 0.33 reads them.

Unlike chat's, these messages have fixed shapes: every field of a block is checked whatever the block's type is, unknown
fields are dropped. Faults of blocks are told where vLLM tells them, at the ``content`` or ``system`` they stand in.
"""

from __future__ import annotations

__all__ = [
    "CountTokensRequest",
    "CountTokensResponse",
    "MessagesRequest",
    "OutputConfig",
    "OutputFormat",
    "ThinkingAdaptive",
    "ThinkingDisabled",
    "ThinkingEnabled",
    "ToolChoice",
]

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from typecase.api.chat import CacheSalt, ExtraArgs
from typecase.api.chat_checks import without_mm_kwargs_alias
from typecase.api.faults import Loc, Problem, body_error
from typecase.api.limits import Limits
from typecase.api.message_blocks import Messages, System, Tool, changes_tools, tagged_reader
from typecase.api.reading import REFUSED, Reading, nullable_reader, reader_for

Effort: TypeAlias = Literal["low", "medium", "high", "xhigh", "max"]
_Display: TypeAlias = Literal["summarized", "omitted", "updates"] | None


class ToolChoice(msgspec.Struct, kw_only=True):
    """Whether and which tools are to be called; ``name`` belongs to type ``tool``."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None

    @property
    def is_complete(self) -> bool:
        return self.type != "tool" or bool(self.name)


class ThinkingEnabled(msgspec.Struct, kw_only=True, tag_field="type", tag="enabled"):
    """Thinking with a budget; ``display`` has no effect."""

    budget_tokens: Annotated[int, Meta(ge=1024)]
    display: _Display = None


class ThinkingDisabled(msgspec.Struct, kw_only=True, tag_field="type", tag="disabled"):
    """No thinking."""


class ThinkingAdaptive(msgspec.Struct, kw_only=True, tag_field="type", tag="adaptive"):
    """Thinking as deep as the model likes; ``display`` has no effect."""

    display: _Display = None


class OutputFormat(msgspec.Struct, kw_only=True):
    """The JSON schema of the output."""

    json_schema: dict[str, Any] | None = msgspec.field(default=None, name="schema")
    type: Literal["json_schema"] = "json_schema"


class OutputConfig(msgspec.Struct, kw_only=True):
    """How hard to think, and what form the output has."""

    effort: Effort | None = None
    format: OutputFormat | None = None


_read_choice_fields = nullable_reader(reader_for(ToolChoice))


def _read_choice(value: object, loc: Loc, reading: Reading) -> Any:
    choice = _read_choice_fields(value, loc, reading)
    if choice is None or choice is REFUSED or choice.is_complete:
        return choice
    return reading.fault(loc, "tool_choice.name is required when type is 'tool'")


Thinking: TypeAlias = Annotated[
    ThinkingEnabled | ThinkingDisabled | ThinkingAdaptive | None,
    Meta(extra={"reader": nullable_reader(tagged_reader(ThinkingEnabled, ThinkingDisabled, ThinkingAdaptive))}),
]
_Choice: TypeAlias = Annotated[ToolChoice | None, Meta(extra={"reader": _read_choice})]
_Model: TypeAlias = Annotated[str, Meta(min_length=1)]
_StopSequences: TypeAlias = Annotated[list[str], Meta(extra={"longest": "max_stop_strings"})] | None


class MessagesRequest(msgspec.Struct, kw_only=True):
    """A Messages request, its fields in vLLM's order; those from ``mm_payload`` on are vLLM's own."""

    model: _Model
    messages: Messages
    max_tokens: Annotated[int, Meta(ge=1)]
    metadata: dict[str, Any] | None = None
    output_config: OutputConfig | None = None
    thinking: Thinking = None
    stop_sequences: _StopSequences = None
    stream: bool | None = False
    system: System = None
    temperature: float | None = None
    tool_choice: _Choice = None
    tools: list[Tool] | None = None
    top_k: int | None = None
    top_p: float | None = None
    mm_payload: Literal["tensors", "none"] = "tensors"
    return_mm_kwargs: bool | None = None
    cache_salt: CacheSalt = None
    watermarking: bool | None = None
    kv_transfer_params: dict[str, Any] | None = None
    ec_transfer_params: dict[str, Any] | None = None
    vllm_xargs: ExtraArgs | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.leaves_room:
            raise body_error([Problem((), (), "thinking.budget_tokens must be less than max_tokens")])

    @property
    def leaves_room(self) -> bool:
        """Whether the answer has room beside the thinking; a prefill stage, which decodes nothing, needs none."""
        if not isinstance(self.thinking, ThinkingEnabled) or self.thinking.budget_tokens < self.max_tokens:
            return True
        return bool(self.kv_transfer_params and self.kv_transfer_params.get("do_remote_decode"))

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """What vLLM does to a body before its fields are read."""
        return without_mm_kwargs_alias(body)

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance that msgspec read needs no second look."""
        return (
            (self.stop_sequences is None or len(self.stop_sequences) <= limits.max_stop_strings)
            and (self.cache_salt is None or self.cache_salt.isascii())
            and self.leaves_room
            and not changes_tools(self.messages)
        )


class CountTokensRequest(msgspec.Struct, kw_only=True):
    """A request to count a prompt's tokens, its fields in vLLM's order."""

    model: _Model
    messages: Messages
    output_config: OutputConfig | None = None
    system: System = None
    thinking: Thinking = None
    tool_choice: _Choice = None
    tools: list[Tool] | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    @classmethod
    def check_body(cls, body: dict[str, Any]) -> dict[str, Any]:
        """Nothing is checked before the fields are read."""
        return body

    def is_final(self, limits: Limits) -> bool:
        """Whether an instance that msgspec read needs no second look."""
        return not changes_tools(self.messages)


class _ContextManagement(msgspec.Struct, kw_only=True):
    original_input_tokens: int


class CountTokensResponse(msgspec.Struct, kw_only=True):
    """How many tokens a prompt has. Nothing is edited out of prompts here, so the original count is the same."""

    input_tokens: int
    context_management: _ContextManagement

    @classmethod
    def of(cls, count: int) -> CountTokensResponse:
        """The answer for ``count`` tokens."""
        return cls(input_tokens=count, context_management=_ContextManagement(original_input_tokens=count))
