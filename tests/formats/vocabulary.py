"""A vocabulary that has the markers of every format, for tests of what formats make of tokens."""

from __future__ import annotations

from typecase.formats.registry import CALL_FORMATS, REASONING_FORMATS


def _markers() -> set[str]:
    found = {"x"}
    for call in CALL_FORMATS.values():
        found.update(call.needed)
    for reasoning in REASONING_FORMATS.values():
        found.update(token for token in (reasoning.start, reasoning.end) if token is not None)
        found.update(
            (*reasoning.also_ends, *reasoning.turns, *reasoning.needed, *reasoning.needed_when_on),
        )
    return found


VOCABULARY = {token: 100 + position for position, token in enumerate(sorted(_markers()))}
