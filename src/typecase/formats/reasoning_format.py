"""``ReasoningFormat``: how a family writes its reasoning, as far as rendering has to know.

Rendering reads it for two things: whether a prompt has already ended the reasoning (``typecase.parsing.prompt_state``),
and whether the engine's text must keep special tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["ALWAYS_ON", "ReasoningFormat", "TemplateSigns", "ThinkingSwitch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSigns:
    """Texts by which a chat template is recognised."""

    has: tuple[str, ...]
    lacks: tuple[str, ...] = ()

    def fit(self, template: str) -> bool:
        """Whether it is such a template."""
        return all(text in template for text in self.has) and not any(text in template for text in self.lacks)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingSwitch:
    """Which template kwargs turn reasoning on and off.

    ``default`` holds where none of ``keys`` is given; any true one turns it on. With ``null_is_off`` a null counts as
    given. ``off_effort`` is the ``reasoning_effort`` that turns it off whatever the keys say.
    """

    keys: tuple[str, ...] = ()
    default: bool = True
    null_is_off: bool = False
    off_effort: str | None = None

    def is_on(self, kwargs: Mapping[str, Any]) -> bool:
        """What ``kwargs`` say."""
        given = [kwargs[key] for key in self.keys if key in kwargs]
        if not self.null_is_off:
            given = [value for value in given if value is not None]
        if self.off_effort is not None and kwargs.get("reasoning_effort") == self.off_effort:
            return False
        return any(map(bool, given)) if given else self.default


ALWAYS_ON = ThinkingSwitch()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningFormat:
    """One reasoning format under all its names.

    Attributes:
        names: what ``--reasoning-parser`` may call it.
        start, end: the tokens around the reasoning; None where a format has no such token.
        also_ends: tokens that end it as well, since a tool call begins with them.
        turns: tokens of the prompt that begin or end a turn. Markers before the last of them say nothing about the
            answer. Without them any earlier marker counts.
        switch: which template kwargs turn reasoning off.
        reopens_when_off: a start token in the prompt opens reasoning though it is switched off.
        always_on: templates of the family that have no switch: it is ignored with them.
        prompt: ``markers`` is the usual rule. ``ended``: every prompt has ended the reasoning. ``open``: none has.
            ``unknown``: it can't be told from a prompt.
        without_markers: what holds when the tokenizer has no ``start``; None: the rule goes on without it.
        needed: tokens the tokenizer must have. ``needed_when_on``: only when reasoning is switched on.
        lacking: what vLLM says when it has not.
        keep_special: the engine's text keeps special tokens, on every request.
        scalar_kwarg: a template kwarg that may be no array or object, since vLLM fails on those.
        quirks: names of rules that a record can't hold: ``json_array`` (see ``typecase.render.tool_schemas``),
            ``kwargs_shown`` (the switch's default is written into ``reasoning_parser_kwargs``).
    """

    names: tuple[str, ...]
    start: str | None = None
    end: str | None = None
    also_ends: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    switch: ThinkingSwitch = field(default=ALWAYS_ON)
    reopens_when_off: bool = False
    always_on: TemplateSigns | None = None
    prompt: Literal["markers", "ended", "open", "unknown"] = "markers"
    without_markers: Literal["ended"] | None = None
    needed: tuple[str, ...] = ()
    needed_when_on: tuple[str, ...] = ()
    lacking: str = ""
    keep_special: bool = False
    scalar_kwarg: str | None = None
    quirks: frozenset[str] = frozenset()
