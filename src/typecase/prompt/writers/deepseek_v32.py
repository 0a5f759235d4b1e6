"""DeepSeek V3.2: prompts as text.

::

    <BOS>{system}<USER>{question}<ASSISTANT></think>{answer}<EOS>

Tools stand in a system message of their own at the very front. A call's results follow it in one
``<function_results>`` block, which closes when every call has its result; then the assistant goes on. With thinking on
(``thinking`` or ``enable_thinking``; off by default) the turn after the last user message begins with ``<think>``
instead of ``</think>``, and only the assistant turns after that message show their reasoning.

``add_generation_prompt`` and ``continue_final_message`` have no say: what the last message is decides alone.

Source: vLLM 0.33, tokenizer mode ``deepseek_v32``; its error texts, since clients read them.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from typecase.api.errors import RequestError
from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat
from typecase.prompt.writers.dsml import (
    ASSISTANT,
    BOS,
    EOS,
    THINK,
    THINK_END,
    USER,
    Dsml,
    check_kwargs,
    function_schemas,
    has_tools,
)
from typecase.prompt.writers.ids_on_request import ids_on_request
from typecase.prompt.writers.writer import Conversation
from typecase.text.tokenizer import Tokenizer

__all__ = ["DeepseekV32Writer"]

_DSML = Dsml("function_calls")
_BLOCK, _BLOCK_END = _DSML.opening(_DSML.block), _DSML.closing(_DSML.block)
_TOOLS = "\n".join([
    "## Tools",
    "You have access to a set of tools you can use to answer the user's question.",
    f'You can invoke functions by writing a "{_BLOCK}" block like the following as part of your reply to the user:',
    *_DSML.example("FUNCTION_NAME"),
    "String and scalar parameters should be specified as is without any escaping or quotes, while lists and objects"
    ' should use JSON format. The "string" attribute should be set to "true" for string type parameters and "false"'
    " for other types (numbers, booleans, arrays, objects).",
    "If the thinking_mode is enabled, then after function results you should strongly consider outputting a thinking"
    " block. Here is an example:",
    _BLOCK,
    "...",
    _BLOCK_END,
    "<function_results>",
    "...",
    "</function_results>",
    f"{THINK}...thinking about results{THINK_END}",
    "Here are the functions available in JSONSchema format:",
    "<functions>",
    "{schemas}",
    "</functions>",
    "",
])  # fmt: skip


class DeepseekV32Writer:
    """Writes prompts of DeepSeek V3.2."""

    content_format: ContentFormat = "string"

    def __init__(self, tokenizer: Tokenizer):
        self.tokenizer = tokenizer

    def write(self, conversation: Conversation) -> str | array[int]:
        """The prompt.

        Raises:
            RequestError: a role that the model doesn't know, a tool result without its call, a developer message
                without text, a turn of the assistant that should show reasoning and has none, or, with thinking on, a
                developer message before the last question.
        """
        kwargs = conversation.kwargs
        check_kwargs(kwargs)
        thinking = bool(kwargs.get("thinking") or kwargs.get("enable_thinking"))
        messages = list(conversation.messages)
        if has_tools(conversation.tools):
            messages.insert(0, {"role": "system", "tools": conversation.tools})
        if not messages:
            raise RequestError("Provide at least one message: there is nothing to write a prompt of")
        kept = _without_past_asides(messages) if thinking and messages[-1]["role"] == "user" else messages
        history = _History(kept, thinking=thinking)
        prompt = BOS + "".join(history.written(i) for i in range(len(kept)))
        if len(kept) < len(messages):
            # vLLM leaves messages out and then misses them: in thinking mode no such conversation can be written.
            raise RequestError(f"Index {len(kept)} out of range for messages list of length {len(kept)}")
        return ids_on_request(prompt, kwargs, self.tokenizer)


def _last_question(messages: Sequence[Message]) -> int:
    """Where the last message of a user or developer is; -1 without one."""
    return max((i for i, message in enumerate(messages) if message["role"] in ("user", "developer")), default=-1)


def _callers(messages: Sequence[Message]) -> list[int]:
    """For each message where the last before it is that isn't a tool's result; -1 without one."""
    callers, last = [], -1
    for i, message in enumerate(messages):
        callers.append(last)
        if message["role"] != "tool":
            last = i
    return callers


def _without_past_asides(messages: list[Message]) -> list[Message]:
    """The conversation without developer messages (and unknown roles) before the last question."""
    last = _last_question(messages)
    kept = ("user", "system", "tool", "assistant")
    return [message for i, message in enumerate(messages) if i >= last or message["role"] in kept]


class _History:
    """Messages that know what came before them."""

    def __init__(self, messages: list[Message], *, thinking: bool):
        self.messages = messages
        self.thinking = thinking
        self.last_question = _last_question(messages)
        self.callers = _callers(messages)

    def written(self, index: int) -> str:
        message = self.messages[index]
        match message["role"]:
            case "system":
                tools = message.get("tools")
                return f"{message.get('content') or ''}" + (f"\n\n{_tools(tools)}" if tools else "")
            case "developer":
                return USER + _developer(message) + ASSISTANT + self._opening(index == self.last_question)
            case "user":
                return f"{USER}{message['content']}{ASSISTANT}" + self._opening(index == self.last_question)
            case "tool":
                return self._result(index, message)
            case "assistant":
                return self._answer(index, message)
        raise RequestError(f"Invalid role: {message['role']}")

    def _opening(self, is_current: bool) -> str:
        """What opens the assistant's words: reasoning only where the conversation now stands."""
        return THINK if is_current and self.thinking else THINK_END

    def _answer(self, index: int, message: Message) -> str:
        calls = message.get("tool_calls")
        reasoning = ""
        if self.thinking and index > self.last_question:
            if not (message.get("reasoning") or calls):
                raise RequestError(
                    f"ThinkingMode: thinking, invalid message without reasoning/tool_calls `{message}` "
                    "after last user message"
                )
            reasoning = (message.get("reasoning") or "") + THINK_END
        return reasoning + (message["content"] or "") + (f"\n\n{_DSML.calls(calls)}" if calls else "") + EOS

    def _result(self, index: int, message: Message) -> str:
        caller = self.callers[index]
        # A result at the front is matched with the last message's calls: vLLM indexes with -1 there.
        before = self.messages[caller]
        if index > 0 and (caller < 0 or before["role"] != "assistant"):
            raise RequestError(f"Invalid messages at {index}:\n{before}")
        calls, place = before.get("tool_calls") or (), index - caller
        if len(calls) < place:
            raise RequestError("No tool calls but found tool output")
        opening = "\n\n<function_results>" if place == 1 else ""
        closing = (
            f"\n</function_results>\n\n{self._opening(index >= self.last_question)}" if place == len(calls) else ""
        )
        return f"{opening}\n<result>{message['content']}</result>{closing}"


def _developer(message: Message) -> str:
    if not message["content"]:
        raise RequestError(f"Invalid message for role `developer`: {message}")
    tools = message.get("tools")
    return (f"\n\n{_tools(tools)}" if tools else "") + f"\n\n# The user's message is: {message['content']}"


def _tools(tools: Sequence[Mapping[str, Any]]) -> str:
    return _TOOLS.replace("{schemas}", function_schemas(tools))
