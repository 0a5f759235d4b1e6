"""What a writer is: the code that writes a conversation where the checkpoint's Jinja template has no say."""

from __future__ import annotations

__all__ = ["Conversation", "Writer"]

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from typecase.prompt.conversation import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What there is to write.

    Args:
        messages: normalised (``normalise_messages`` with contents as text), developer messages left as they are.
        raw: the same messages as the client wrote them, checked.
        tools: definitions of the tools to show; None for none.
        kwargs: the effective template kwargs, ``add_generation_prompt``, ``continue_final_message``,
            ``reasoning_effort`` and such included.
        now: the clock.
    """

    messages: Sequence[Message]
    raw: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] | None
    kwargs: Mapping[str, Any]
    now: Callable[[], datetime]


class Writer(Protocol):
    """Writes the prompts of one family."""

    def write(self, conversation: Conversation) -> str | array[int]:
        """The prompt: text that is still to be encoded, or ids.

        Raises:
            RequestError: the conversation can't be written.
        """
        ...
