"""DeepSeek V4: prompts as text, and the prompt of a completion between two texts.

Tools stand behind the first system message. Thinking is on unless ``thinking`` or ``enable_thinking`` says otherwise
or ``reasoning_effort`` is ``none``; the effort (``high`` if not given) is a few sentences at the front.
``add_generation_prompt`` and ``continue_final_message`` have no say.

Source: vLLM 0.33, tokenizer mode ``deepseek_v4``; its error texts, since clients read them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat, checked_text
from typecase.prompt.writers.deepseek_turns import ToolResult, Turn, Version, write_turns
from typecase.prompt.writers.dsml import Dsml, check_kwargs, has_tools
from typecase.prompt.writers.ids_on_request import ids_on_request
from typecase.prompt.writers.writer import Conversation
from typecase.text.tokenizer import Tokenizer

__all__ = ["DeepseekV4Writer", "written_middle"]

_VERSION = Version(
    dsml=Dsml("tool_calls"),
    system="",
    is_question=lambda _, turn: turn.role in ("user", "developer"),
    # A system message at the end is answered like a question, and one before the assistant's turn opens that.
    opens_answer=lambda _, following: following is None or following.role == "assistant",
)
_EFFORTS = {
    "low": "",
    "high": (
        "Reasoning Effort: Absolute maximum with no shortcuts permitted.\n"
        "You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve the root "
        "cause, rigorously stress-testing your logic against all potential paths, edge cases, and adversarial "
        "scenarios.\n"
        "Explicitly write out your entire deliberation process, documenting every intermediate step, considered "
        "alternative, and rejected hypothesis to ensure absolutely no assumption is left unchecked.\n\n"
    ),
    "max": (
        "Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.\n"
        "You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: exhaustively "
        "decompose the problem into its most fundamental components, trace every causal chain to its root, and "
        "resolve the underlying cause rather than any surface symptom.\n"
        "Do not stop reasoning until you have independently verified the solution from multiple angles and are "
        "certain that no assumption remains unchecked and no error remains undiscovered.\n\n"
    ),
}
_EFFORT_LEVELS = {"minimal": "low", "low": "low", "medium": "low", "max": "max"}


class DeepseekV4Writer:
    """Writes prompts of DeepSeek V4."""

    content_format: ContentFormat = "openai"

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer

    def write(self, conversation: Conversation) -> str | array[int]:
        """The prompt.

        Raises:
            RequestError: a role or task that the model doesn't know, a part that isn't text, or a developer message
                without text.
        """
        kwargs = conversation.kwargs
        check_kwargs(kwargs)
        thinking, effort = _reasoning(kwargs)
        turns = [_turn(message, f"messages[{i}].content") for i, message in enumerate(conversation.messages)]
        if has_tools(conversation.tools):
            system = next((turn for turn in turns if turn.role == "system"), None)
            if system is None:
                turns.insert(0, Turn(role="system", text=str, tools=conversation.tools))
            else:
                system.tools = conversation.tools
        prompt = write_turns(
            _VERSION,
            turns,
            thinking=thinking,
            keep_reasoning=not kwargs.get("drop_thinking", True),
            effort=_EFFORTS[effort],
        )
        return ids_on_request(prompt, kwargs, self.tokenizer)

    def write_middle(self, prompt: str, suffix: str) -> str:
        """The prompt of a completion that shall stand between two texts."""
        return written_middle(prompt, suffix)


def written_middle(prompt: str, suffix: str) -> str:
    """The prompt of a completion between two texts, for every version from V4 on."""
    return f"<｜fim▁begin｜>{prompt}<｜fim▁hole｜>{suffix}<｜fim▁end｜>"


def _reasoning(kwargs: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether to think, and how hard."""
    thinking = bool(kwargs.get("thinking")) or bool(kwargs.get("enable_thinking"))
    if "thinking" not in kwargs and "enable_thinking" not in kwargs:
        thinking = True
    effort = kwargs.get("reasoning_effort")
    if effort == "none":
        return False, "low"
    return thinking, _EFFORT_LEVELS.get(effort, "high") if isinstance(effort, str) else "high"


def _turn(message: Message, where: str) -> Turn:
    role, content = message["role"], message["content"]
    if role == "tool":
        result = content if isinstance(content, str) else _result_text(content, where)
        return Turn(role=role, text=str, blocks=[ToolResult(message.get("tool_call_id"), result)])
    if role == "user":
        text = _text(content, where)
        return Turn(role=role, text=lambda: text, blocks=[text], task=message.get("task"))
    return Turn(
        role=role,
        text=lambda: _text(content, where),
        reasoning=message.get("reasoning"),
        calls=message.get("tool_calls", ()),
        tools=message.get("tools"),
        task=message.get("task"),
        shown=message,
    )


def _text(parts: Sequence[Mapping[str, Any]], where: str) -> str:
    for part in parts:
        if part["type"] != "text":
            raise RequestError(f"Unsupported content block type: {part['type']!r}")
    return "\n\n".join(checked_text(part["text"], f"{where}[{i}]") for i, part in enumerate(parts))


def _result_text(parts: Sequence[Mapping[str, Any]], where: str) -> str:
    """The text of a result with parts that aren't text: those are named."""
    return "\n\n".join(
        checked_text(part["text"], f"{where}[{i}]") if part["type"] == "text" else f"[Unsupported {part['type']}]"
        for i, part in enumerate(parts)
    )
