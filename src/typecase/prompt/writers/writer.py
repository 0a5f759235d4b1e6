"""What a writer is: the code that writes a conversation where the checkpoint's Jinja template has no say."""

from __future__ import annotations

__all__ = ["Conversation", "MiddleWriter", "Writer"]

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What there is to write.

    Args:
        messages: normalised (``normalise_messages``) with contents in the writer's ``content_format``, developer
            messages left as they are.
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
    """Writes the prompts of one family.

    ``content_format`` is how it reads contents: ``string``, or ``openai`` for lists of parts.
    """

    content_format: ContentFormat

    def write(self, conversation: Conversation) -> str | array[int]:
        """The prompt: text that is still to be encoded, or ids.

        Raises:
            RequestError: the conversation can't be written.
        """
        ...


@runtime_checkable
class MiddleWriter(Protocol):
    """A writer of a family that can also complete the middle of a text (a completion's ``suffix``)."""

    def write_middle(self, prompt: str, suffix: str) -> str:
        """The text of a completion's prompt whose output shall stand between ``prompt`` and ``suffix``."""
        ...
