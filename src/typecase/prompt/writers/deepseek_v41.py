"""DeepSeek V4.1: prompts as text.

Differs from V4 in a marker before system texts, in tag names that begin with a space, and in the effort, a number.
A system message in the middle counts as a question; a turn of tool results alone doesn't. The messages are taken as
the client wrote them, with ``response_format``, ``wo_eos``, ``content_blocks`` and ``tools`` of any message.

Source: vLLM 0.33, tokenizer mode ``deepseek_v41``; its error texts, since clients read them. Where vLLM trips over an
assertion (500), the answer is a 400 here; where it can't copy an empty list of parts (400), that is an empty text here.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat, checked_text
from typecase.prompt.writers.deepseek_turns import Block, ToolResult, Turn, Unsupported, Version, write_turns
from typecase.prompt.writers.deepseek_v4 import written_middle
from typecase.prompt.writers.dsml import Dsml, check_kwargs
from typecase.prompt.writers.ids_on_request import ids_on_request
from typecase.prompt.writers.writer import Conversation
from typecase.text.tokenizer import Tokenizer

__all__ = ["DeepseekV41Writer"]

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_EFFORTS = {"low": 50, "high": 75, "xhigh": 75, "max": 100}
_TEXTS = ("text", "input_text", "output_text")
_IMAGE = "<｜deepseek_image｜>"


def _is_question(index: int, turn: Turn) -> bool:
    if turn.role not in ("user", "developer") and not (turn.role == "system" and index > 0):
        return False
    return not turn.blocks or any(isinstance(block, str) for block in turn.blocks)


_VERSION = Version(
    dsml=Dsml(" calls", " invoke", " parameter"),
    system="<｜System｜>",
    is_question=_is_question,
    opens_answer=lambda index, _: index > 0,
)


class DeepseekV41Writer:
    """Writes prompts of DeepSeek V4.1."""

    content_format: ContentFormat = "openai"

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer

    def write(self, conversation: Conversation) -> str | array[int]:
        """The prompt.

        Raises:
            RequestError: a role, task or effort that the model doesn't know, a part that isn't text, or a developer
                message without text.
        """
        kwargs = conversation.kwargs
        check_kwargs(kwargs)
        given = zip(conversation.raw, conversation.messages, strict=True)
        turns = [_turn(raw, message, f"messages[{i}]") for i, (raw, message) in enumerate(given)]
        if conversation.tools:
            system = next((turn for turn in turns if turn.role == "system"), None)
            if system is None:
                turns.insert(0, Turn(role="system", text=str, tools=conversation.tools))
            else:
                system.tools = conversation.tools
        thinking, effort = _reasoning(kwargs)
        prompt = write_turns(
            _VERSION,
            turns,
            thinking=thinking,
            keep_reasoning=not kwargs.get("drop_thinking", True),
            effort=(
                f"Reasoning Effort: {effort} (range 1-100, the higher the value, the more thorough the reasoning)\n\n"
            ),
        )
        return ids_on_request(prompt, kwargs, self.tokenizer)

    def write_middle(self, prompt: str, suffix: str) -> str:
        """The prompt of a completion that shall stand between two texts."""
        return written_middle(prompt, suffix)


def _reasoning(kwargs: Mapping[str, Any]) -> tuple[bool, int]:
    """Whether to think, and how hard."""
    thinking = bool(kwargs.get("thinking") or kwargs.get("enable_thinking"))
    if "thinking" not in kwargs and "enable_thinking" not in kwargs:
        thinking = True
    effort = kwargs.get("reasoning_effort")
    if effort is None or effort == "none":
        return thinking and effort is None, _EFFORTS["high"]
    if isinstance(effort, str) and effort in _EFFORTS:
        return thinking, _EFFORTS[effort]
    if type(effort) is int and 1 <= effort <= 100:
        return thinking, effort
    raise RequestError(
        "DeepSeek V4.1 reasoning_effort must be low, high, xhigh, max, or an integer within [1, 100] in "
        "chat_template_kwargs"
    )


def _turn(raw: Message, message: Message, where: str) -> Turn:
    """``message`` is ``raw`` normalised: its tool calls have mappings as arguments."""
    role = raw["role"]
    if role not in _ROLES:
        raise RequestError(f"Invalid role: {role}")
    reasoning = raw["reasoning"] if "reasoning" in raw else raw.get("reasoning_content")
    _refuse_image_marker(reasoning)
    text = _text(raw.get("content"), f"{where}.content")
    turn = Turn(
        role=role,
        text=lambda: text,
        reasoning=reasoning,
        calls=message.get("tool_calls", ()),
        tools=raw.get("tools"),
        response_format=raw.get("response_format"),
        task=raw.get("task"),
        is_open=bool(raw.get("wo_eos")),
        shown=raw,
    )
    if role == "tool":
        turn.blocks = [ToolResult(raw.get("tool_call_id"), text)]
    elif role == "user":
        blocks = raw.get("content_blocks")
        turn.blocks = [text] if blocks is None else _blocks(blocks, f"{where}.content_blocks")
    return turn


def _text(content: Any, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        _refuse_image_marker(content)
        return content
    texts = []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _TEXTS:
            raise RequestError(f"DeepSeek V4.1 supports text and image content only; got {kind!r}")
        text = part.get("text", "")
        _refuse_image_marker(text)
        texts.append(text)
    return "\n\n".join(checked_text(text, f"{where}[{i}]") for i, text in enumerate(texts))


def _blocks(blocks: Any, where: str) -> list[Block]:
    """Blocks that a client wrote itself."""
    if blocks in ({}, ""):
        return []  # to vLLM just as empty as a list
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        raise RequestError(f"{where}: expected a list of blocks, each an object with a type")
    return [_block(block, f"{where}[{i}]") for i, block in enumerate(blocks)]


def _block(block: Mapping[str, Any], where: str) -> Block:
    match block.get("type"):
        case "text":
            return checked_text(block.get("text", ""), where)
        case "tool_result":
            content = block.get("content", "")
            if isinstance(content, list):
                content = "\n\n".join(_result_part(part, where) for part in content)
            return ToolResult(block.get("tool_use_id", ""), str(content))
        case "image" | "image_url" as kind:
            return f"[Unsupported {kind}]"
        case kind:
            return Unsupported(kind)


def _result_part(part: Any, where: str) -> str:
    if not isinstance(part, Mapping):
        raise RequestError(f"{where}: the parts of a tool result must be objects with a type")
    kind = part.get("type")
    return checked_text(part.get("text", ""), where) if kind == "text" else f"[Unsupported {kind}]"


def _refuse_image_marker(text: Any) -> None:
    """The marker of an image can't be typed: it would stand for pixels that aren't there."""
    if isinstance(text, str) and _IMAGE in text:
        raise RequestError(
            f"Message text contains image special token {_IMAGE!r}; provide images as image content parts."
        )
