"""``CallFormat``: how a family writes tool calls, as far as rendering has to know: what constrains the output.

The words for constraints are vLLM's: a *structural tag* describes the tagged output to the engine's grammar compiler;
the *strict level* says how much of a call it pins down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, TypeAlias

__all__ = ["ArgumentStyle", "Block", "Call", "CallFormat", "StrictLevel", "ToolTag"]

ArgumentStyle: TypeAlias = Literal["json", "qwen_xml", "minimax_xml", "deepseek_xml", "deepseek_v4_1_xml", "glm_xml"]


class StrictLevel(IntEnum):
    """How much of a tool call is pinned down though no tool asks for it (``--tool-strict-level``)."""

    AUTO = 0
    """Only what ``tool_choice`` and each tool's ``strict`` ask for."""
    FUNCTION = 1
    """The frame of every call."""
    PARAMETER = 2
    """Its arguments, too, as if every tool were strict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One spelling of a call: ``before``, the tool's name, ``after``, the arguments, ``end``."""

    before: str
    after: str
    end: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What stands around the calls of an answer.

    ``close`` has several spellings where the turn may end with the block. ``lead`` comes before ``open`` where calls
    are required. ``as_tag`` says whether the grammar then has one tag for the block, or a sequence of its parts.
    """

    open: str
    close: tuple[str, ...]
    separator: str = ""
    lead: str = ""
    as_tag: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTag:
    """The structural tag of a call format.

    Attributes:
        calls: the spellings of a call that the grammar takes.
        style: how the arguments are written.
        number: the call's number and this marker stand between name and arguments.
        trigger: the text that begins a call (or the block) where text is allowed as well.
        excludes: what that text may not hold.
        block: what stands around the calls.
        listed: one call that must be made is a list that stops after the first; if not, it is that call alone.
    """

    calls: tuple[Call, ...]
    style: ArgumentStyle = "json"
    number: str = ""
    trigger: str
    excludes: tuple[str, ...] = ()
    block: Block | None = None
    listed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFormat:
    """One call format under all its names.

    Attributes:
        names: what ``--tool-call-parser`` may call it.
        style: ``json``: without a structural tag, required and named calls are written as plain JSON by a schema.
            ``native``: they are always written as the family writes calls, constrained or not.
        tag: the structural tag; a name is that of a builder in ``typecase.render.tool_tags``.
        default_level: the strict level where the operator sets none.
        keep_special: when the engine's text keeps special tokens: always, only for requests that may call tools, or
            never.
        needed: tokens the tokenizer must have, and ``lacking``: what vLLM says when it has not.
        scalar_kwarg: a template kwarg that may be no array or object, since vLLM fails on those.
        quirks: names of rules that a record can't hold: ``json_array``, ``no_schema`` (no JSON schema even without
            tags), see ``typecase.render.tool_schemas``.
    """

    names: tuple[str, ...]
    style: Literal["json", "native"]
    tag: ToolTag | str | None = None
    default_level: StrictLevel = StrictLevel.AUTO
    keep_special: Literal["always", "tools", "never"]
    needed: tuple[str, ...] = ()
    lacking: str = ""
    scalar_kwarg: str | None = None
    quirks: frozenset[str] = frozenset()
