"""The messages of a harmony conversation: an author, a channel, a recipient, and what is said.

They are what gpt-oss's prompts are made of, however a request wrote them. The words are those of OpenAI's harmony
format.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from typecase.api.errors import RequestError
from typecase.prompt.writers.harmony_tools import HarmonyTool, tools_section

__all__ = ["ROLES", "Developer", "HarmonyMessage", "NoText", "System", "without_old_analysis"]

ROLES = frozenset({"user", "assistant", "system", "developer", "tool"})

_IDENTITY = "You are ChatGPT, a large language model trained by OpenAI."
_CUTOFF = "2024-06"
_CHANNELS = ("analysis", "commentary", "final")


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """What a system message says: who the model is, what day it is, how hard to think.

    ``instructions`` are added to the identity; None for none.
    """

    date: str
    effort: str = "medium"
    instructions: str | None = None

    @property
    def identity(self) -> str:
        """Who the model is, with what it is told besides."""
        return _IDENTITY if self.instructions is None else f"{_IDENTITY}\n{self.instructions}"

    def text(self, *, has_functions: bool) -> str:
        """The message's text; ``has_functions``: whether some developer message of the conversation defines any."""
        calls = "\nCalls to these tools must go to the commentary channel: 'functions'." if has_functions else ""
        return (
            f"{self.identity}\nKnowledge cutoff: {_CUTOFF}\nCurrent date: {self.date}\n\n"
            f"Reasoning: {self.effort}\n\n"
            f"# Valid channels: {', '.join(_CHANNELS)}. Channel must be included for every message.{calls}"
        )

    def as_json(self) -> dict[str, Any]:
        """The content as harmony's library passes it on."""
        return {
            "model_identity": self.identity,
            "reasoning_effort": self.effort.capitalize(),
            "conversation_start_date": self.date,
            "knowledge_cutoff": _CUTOFF,
            "channel_config": {"valid_channels": list(_CHANNELS), "channel_required": True},
            "type": "system_content",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Developer:
    """What a developer message says: instructions (None for none) and the functions there are."""

    instructions: str | None = None
    tools: Sequence[HarmonyTool] = ()

    def text(self) -> str:
        """The message's text; empty if it says nothing."""
        sections = [] if self.instructions is None else ["# Instructions", self.instructions]
        if self.tools:
            sections.append(tools_section(self.tools))
        return "\n\n".join(sections)

    def as_json(self) -> dict[str, Any]:
        """The content as harmony's library passes it on."""
        given: dict[str, Any] = {} if self.instructions is None else {"instructions": self.instructions}
        if self.tools:
            given["tools"] = {"functions": {"name": "functions", "tools": [tool.as_json() for tool in self.tools]}}
        return given | {"type": "developer_content"}


@dataclass(frozen=True, slots=True)
class NoText:
    """Something that isn't text and is refused if it has to be written. ``refusal`` says so."""

    refusal: str


Content: TypeAlias = str | System | Developer | NoText


@dataclass(frozen=True, slots=True)
class HarmonyMessage:
    """One message. ``name`` goes with the role, but stands for it with a tool; all but the role may be left out."""

    role: str
    contents: tuple[Content, ...]
    channel: str | None = None
    recipient: str | None = None
    content_type: str | None = None
    name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The message as harmony's library passes it on. Raises ``RequestError`` for what isn't text."""
        optional = {"channel": self.channel, "recipient": self.recipient, "content_type": self.content_type}
        return {
            "role": self.role,
            "name": self.name,
            "content": [_content_json(content) for content in self.contents],
            **{key: value for key, value in optional.items() if value is not None},
        }


def _content_json(content: Content) -> dict[str, Any]:
    if isinstance(content, NoText):
        raise RequestError(content.refusal)
    return {"type": "text", "text": content} if isinstance(content, str) else content.as_json()


def without_old_analysis(messages: Sequence[HarmonyMessage]) -> list[HarmonyMessage]:
    """The messages without the thoughts that led to answers already given: those before the last final one."""
    last = -1
    for i, message in enumerate(messages):
        if message.channel == "final" and message.role == "assistant":
            last = i
    return [m for i, m in enumerate(messages) if i > last or m.channel != "analysis"]
