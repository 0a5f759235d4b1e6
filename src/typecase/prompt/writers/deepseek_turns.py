"""The turns of a DeepSeek V4 or V4.1 prompt: what the two versions share.

::

    <BOS>{system}<USER>{question}<ASSISTANT><think>{reasoning}</think>{answer}<EOS>

There is no tool role: results become ``<tool_result>`` blocks of a user's turn, in the order in which the assistant
called, and neighbouring messages of users and tools are one turn. Reasoning of turns before the last question is left
out, unless tools are at hand. What opens the assistant's turn follows the message before it: a user's, or one with a
``task``, a quick instruction with a token of its own.

The versions differ in the names of tags, in which turns count as questions and in what stands at the front
(``Version``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.writers.dsml import ASSISTANT, BOS, EOS, THINK, THINK_END, USER, Dsml, function_schemas, json_text

__all__ = ["Block", "ToolResult", "Turn", "Unsupported", "Version", "write_turns"]

_REMINDER = "<｜latest_reminder｜>"
_TASKS = {name: f"<｜{name}｜>" for name in ("action", "query", "authority", "domain", "title", "read_url")}
_ANSWERING = ("assistant", "latest_reminder")
# These stay when the asides before the last question go.
_LASTING = ("user", "system", "latest_reminder", "direct_search_results")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What one call gave."""

    call_id: Any
    text: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A block of a kind that the prompt has no form for."""

    kind: Any


Block = str | ToolResult | Unsupported


@dataclass(slots=True, kw_only=True)
class Turn:
    """A message on its way into the prompt.

    Args:
        role: as the client wrote it.
        text: gives the content as text. Called when the turn is written, for the first fault to be told first.
        blocks: of a user's or tool's turn: texts and tool results in order.
        calls: the assistant's tool calls, their arguments as mappings.
        is_open: whether the assistant's turn has no end.
        shown: the message, for error texts.
    """

    role: str
    text: Callable[[], str]
    blocks: list[Block] = field(default_factory=list)
    reasoning: Any = None
    calls: Sequence[Mapping[str, Any]] = ()
    tools: Any = None
    response_format: Any = None
    task: Any = None
    is_open: bool = False
    shown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """How the versions differ.

    Args:
        dsml: the names of tags.
        system: the marker of a system text; empty for none.
        is_question: whether a turn (with its place) is a question: reasoning before the last one is left out.
        opens_answer: whether a system turn (its place, and the next turn or None) is answered by the assistant.
    """

    dsml: Dsml
    system: str
    is_question: Callable[[int, Turn], bool]
    opens_answer: Callable[[int, Turn | None], bool]


def write_turns(version: Version, turns: Sequence[Turn], *, thinking: bool, keep_reasoning: bool, effort: str) -> str:
    """The prompt.

    Args:
        version: which of the two.
        turns: the conversation, tools' results as turns of role ``tool`` with their one block.
        thinking: whether the assistant reasons.
        keep_reasoning: show the reasoning of all turns. Tools anywhere have the same effect.
        effort: what is said of the reasoning effort, at the front if the assistant reasons.

    Raises:
        RequestError: an unknown role or task, or a developer message without text.
    """
    merged = _merged(turns)
    _order_results(merged)
    keep_reasoning = keep_reasoning or any(turn.tools for turn in merged)
    if thinking and not keep_reasoning:
        merged = _without_past_asides(version, merged)
    writing = _Writing(version, merged, thinking, keep_reasoning, effort)
    return BOS + "".join(writing.written(i) for i in range(len(merged)))


def _merged(turns: Sequence[Turn]) -> list[Turn]:
    """Results and neighbouring messages of users as one turn. A message with a task is the last of its turn."""
    merged: list[Turn] = []
    for turn in turns:
        before = merged[-1] if merged and merged[-1].role == "user" else None
        joins = turn.role == "tool" or (turn.role == "user" and before is not None and before.task is None)
        if joins and before is not None:
            before.blocks += turn.blocks
        elif turn.role == "tool":
            merged.append(Turn(role="user", text=turn.text, blocks=list(turn.blocks)))
        else:
            merged.append(replace(turn, blocks=list(turn.blocks)))
    return merged


def _order_results(turns: Sequence[Turn]) -> None:
    """Bring the results of a turn into the order of the last calls. Texts between them stay where they are."""
    places: dict[Any, int] = {}
    for turn in turns:
        if turn.role == "assistant" and turn.calls:
            ids = [call.get("id") or call["function"].get("id", "") for call in turn.calls]
            places = {call_id: place for place, call_id in enumerate(ids) if isinstance(call_id, str) and call_id}
        elif turn.role == "user" and turn.blocks and places:
            found = [block for block in turn.blocks if isinstance(block, ToolResult)]
            ordered = iter(sorted(found, key=lambda result: places.get(result.call_id, 0)))
            turn.blocks = [next(ordered) if isinstance(block, ToolResult) else block for block in turn.blocks]


def _last_question(version: Version, turns: Sequence[Turn]) -> int:
    return max((i for i, turn in enumerate(turns) if version.is_question(i, turn)), default=-1)


def _without_past_asides(version: Version, turns: Sequence[Turn]) -> list[Turn]:
    """The turns without what was said beside the conversation (developers, unknown roles) before the last question."""
    last = _last_question(version, turns)
    return [turn for i, turn in enumerate(turns) if i >= last or turn.role in _LASTING or turn.role == "assistant"]


class _Writing:
    """Turns that know their neighbours."""

    def __init__(self, version: Version, turns: Sequence[Turn], thinking: bool, keep_reasoning: bool, effort: str):
        self.version = version
        self.turns = turns
        self.thinking = thinking
        self.keep_reasoning = keep_reasoning
        self.effort = effort if thinking else ""
        self.last_question = _last_question(version, turns)

    def written(self, index: int) -> str:
        turn = self.turns[index]
        text = turn.text()
        front = self.version.system if turn.role == "system" or (index == 0 and self.effort) else ""
        if index == 0:
            front += self.effort
        match turn.role:
            case "system":
                body = text + self._extras(turn)
            case "developer":
                if not text:
                    raise RequestError(f"Invalid message for role `developer`: {turn.shown}")
                body = USER + text + self._extras(turn)
            case "user":
                body = USER + ("\n\n".join(map(_block, turn.blocks)) if turn.blocks else text)
            case "latest_reminder":
                body = _REMINDER + text
            case "assistant":
                body = self._answer(index, turn, text)
            case _:
                raise RequestError(f"Invalid role: {turn.role}")
        return front + body + self._opening(index, turn)

    def _extras(self, turn: Turn) -> str:
        """Tools and the form of the answer, where a system or developer message brings them."""
        extras = f"\n\n{_tools(self.version.dsml, turn.tools)}" if turn.tools else ""
        if turn.response_format:
            extras += (
                "\n\n## Response Format:\n\nYou MUST strictly adhere to the following schema to reply:\n"
                + json_text(turn.response_format)
            )
        return extras

    def _answer(self, index: int, turn: Turn, text: str) -> str:
        is_task = index > 0 and self.turns[index - 1].task is not None
        shows = self.thinking and not is_task and (self.keep_reasoning or index > self.last_question)
        reasoning = f"{turn.reasoning or ''}{THINK_END}" if shows else ""
        calls = f"\n\n{self.version.dsml.calls(turn.calls)}" if turn.calls else ""
        return reasoning + text + calls + ("" if turn.is_open else EOS)

    def _opening(self, index: int, turn: Turn) -> str:
        """What opens the turn that follows, if it is the assistant's."""
        following = self.turns[index + 1] if index + 1 < len(self.turns) else None
        if following is not None and following.role not in _ANSWERING:
            return ""
        if turn.task is not None:
            if not isinstance(turn.task, str) or turn.task not in _TASKS:
                raise RequestError(f"Invalid task: '{turn.task}'. Valid tasks are: {list(_TASKS)}")
            token = _TASKS[turn.task]
            return token if turn.task != "action" else ASSISTANT + (THINK if self.thinking else THINK_END) + token
        asks = turn.role in ("user", "developer") or (
            turn.role == "system" and self.version.opens_answer(index, following)
        )
        if not asks:
            return ""
        reasons = self.thinking and (self.keep_reasoning or index >= self.last_question)
        return ASSISTANT + (THINK if reasons else THINK_END)


def _block(block: Block) -> str:
    match block:
        case ToolResult():
            return f"<tool_result>{block.text}</tool_result>"
        case Unsupported():
            return f"[Unsupported {block.kind}]"
    return block


def _tools(dsml: Dsml, tools: Any) -> str:
    block = dsml.opening(dsml.block)
    return "\n".join([
        "## Tools",
        "",
        "You have access to a set of tools to help answer the user's question. You can invoke tools by writing a "
        f'"{block}" block like the following:',
        "",
        *dsml.example("TOOL_NAME"),
        "",
        'String parameters should be specified as is and set `string="true"`. For all other types (numbers, booleans, '
        'arrays, objects), pass the value in JSON format and set `string="false"`.',
        "",
        f"If thinking_mode is enabled (triggered by {THINK}), you MUST output your complete reasoning inside "
        f"{THINK}...{THINK_END} BEFORE any tool calls or final response.",
        "",
        f"Otherwise, output directly after {THINK_END} with tool calls or final response.",
        "",
        "### Available Tool Schemas",
        "",
        function_schemas(tools),
        "",
        "You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.",
        "",
    ])  # fmt: skip
