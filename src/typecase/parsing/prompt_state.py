"""Has a rendered prompt already ended the answer's reasoning?

A template may open the reasoning at the end of the prompt, or write an empty one, or leave it to the model. Which of
these it did is read from the prompt's last tokens: ``True`` when what comes next is no reasoning.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["PromptState"]


class PromptState:
    """One reasoning format over one vocabulary. Immutable; shared by all threads.

    Args:
        reasoning: the format.
        token_id: the id of a token as the vocabulary spells it, or None.
        template: the checkpoint's own chat template, if it has a single one.
    """

    def __init__(
        self, reasoning: ReasoningFormat, token_id: Callable[[str], int | None], *, template: str | None = None
    ):
        self.reasoning = reasoning
        ids = {token: token_id(token) for token in _tokens(reasoning)}
        self._start = None if reasoning.start is None else ids[reasoning.start]
        end = None if reasoning.end is None else ids[reasoning.end]
        # Without a token for its usual end, a format's other ends don't count either.
        ends = () if end is None else (end, *(ids[token] for token in reasoning.also_ends))
        self._ends = frozenset(i for i in ends if i is not None)
        self._turns = frozenset(i for token in reasoning.turns if (i := ids[token]) is not None)
        self._decisive = self._ends | self._turns | {i for i in (self._start,) if i is not None}
        self._lacks = tuple(token for token in reasoning.needed_when_on if ids[token] is None)
        self._without_switch = (
            reasoning.always_on is not None and template is not None and reasoning.always_on.fit(template)
        )
        self._always = self._start is None and reasoning.without_markers == "ended"

    def is_on(self, kwargs: Mapping[str, Any]) -> bool:
        """Whether template kwargs let the model think."""
        switch = self.reasoning.switch
        if self._without_switch and any(kwargs.get(key) is False for key in switch.keys):
            return True
        return switch.is_on(kwargs)

    def lacks(self, kwargs: Mapping[str, Any]) -> tuple[str, ...]:
        """The tokens that the vocabulary should have and hasn't, for a request with these template kwargs."""
        return self._lacks if self._lacks and self.is_on(kwargs) else ()

    def ended(self, ids: array[int], kwargs: Mapping[str, Any]) -> bool | None:
        """Whether the prompt ``ids``, rendered with ``kwargs``, leaves no reasoning open. None: it can't be told."""
        match self.reasoning.prompt:
            case "ended":
                return True
            case "open":
                return False
            case "unknown":
                return None
        is_on = self.is_on(kwargs)
        if self._always or not (is_on or self.reasoning.reopens_when_off):
            return True
        decisive = self._decisive
        last = next((i for i in reversed(ids) if i in decisive), None)
        if last in self._ends:
            return True
        if last is not None and last == self._start:
            return False
        return not is_on


def _tokens(reasoning: ReasoningFormat) -> tuple[str, ...]:
    pair = tuple(token for token in (reasoning.start, reasoning.end) if token is not None)
    return (*pair, *reasoning.also_ends, *reasoning.turns, *reasoning.needed_when_on)
