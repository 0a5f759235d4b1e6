"""Which formats a server speaks, by its flags: names to records, and whether the tokenizer has what they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from typecase.checkpoint.errors import CheckpointError
from typecase.formats.call_format import CallFormat, StrictLevel
from typecase.formats.harmony import CALLS as HARMONY_CALLS
from typecase.formats.harmony import REASONING as HARMONY_REASONING
from typecase.formats.reasoning_format import ReasoningFormat
from typecase.formats.registry import call_format, reasoning_format

__all__ = ["Formats", "choose_formats"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Formats:
    """The formats in use; either may be missing.

    ``level`` is the strict level, the operator's or the format's own. ``enforced``: structural tags are made at all
    (``VLLM_ENFORCE_STRICT_TOOL_CALLING``).
    """

    call: CallFormat | None = None
    reasoning: ReasoningFormat | None = None
    level: StrictLevel = StrictLevel.AUTO
    enforced: bool = True

    @property
    def is_empty(self) -> bool:
        """Whether there is none."""
        return self.call is None and self.reasoning is None


def choose_formats(
    *,
    call: str | None,
    reasoning: str | None,
    level: Literal["auto", "function", "parameter"] | None,
    enforced: bool,
    token_id: Callable[[str], int | None],
    is_harmony: bool,
) -> Formats:
    """Resolve ``--tool-call-parser`` (None unless it counts), ``--reasoning-parser`` and ``--tool-strict-level``.

    Args:
        token_id: the id of a token as the vocabulary spells it, or None.
        is_harmony: the checkpoint is a gpt-oss, which takes the harmony formats only.

    Raises:
        CheckpointError: a name is unknown or unsupported, or the checkpoint can't be used with its format; the words
            are vLLM's where it refuses, too.
    """
    calls = call_format(call) if call else None
    thinks = reasoning_format(reasoning) if reasoning else None
    flags = " and ".join(
        f"{flag} {name}"
        for flag, name, found in (("--tool-call-parser", call, calls), ("--reasoning-parser", reasoning, thinks))
        if found is not None
    )
    for found in (thinks, calls):
        if found is not None and any(token_id(token) is None for token in found.needed):
            raise CheckpointError(f"{flags} cannot be used with this checkpoint's tokenizer: {found.lacking}")
    if is_harmony and (thinks not in (None, *HARMONY_REASONING) or calls not in (None, *HARMONY_CALLS)):
        raise CheckpointError(
            f"{flags} cannot be used with a gpt-oss model: "
            "its formats are --tool-call-parser openai and --reasoning-parser openai_gptoss"
        )
    if level is not None:
        strictness = StrictLevel[level.upper()]
    else:
        strictness = StrictLevel.AUTO if calls is None else calls.default_level
    return Formats(call=calls, reasoning=thinks, level=strictness, enforced=enforced)
