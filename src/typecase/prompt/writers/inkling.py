"""Inkling: prompts as ids, each piece of text encoded by itself between special tokens.

::

    <|message_system|>tool_declare<|content_xml|>[{"description":...}]<|end_message|>
    <|message_system|><|content_text|>Thinking effort level: 0.9<|end_message|>
    <|message_user|><|content_text|>{question}<|end_message|>
    <|message_model|><|content_thinking|>{reasoning}<|end_message|>
    <|message_model|>f<|content_invoke_tool_json|>{"name":"f","args":{}}<|end_message|><|content_model_end_sampling|>

Every part of a content is a message of its own. The effort stands before the first message that isn't a system's or
developer's: a number in ``reasoning_effort``, or a name; a name that isn't known leaves it out.

Source: vLLM 0.33, tokenizer mode ``inkling``; its error texts, since clients read them. Like DeepSeek V4.1's, its
contents are the client's own; a list of parts that vLLM can't read twice (an empty one) is read here.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typecase.api.errors import RequestError
from typecase.checkpoint.errors import CheckpointError
from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat
from typecase.prompt.writers.writer import Conversation
from typecase.text.tokenizer import Tokenizer

__all__ = ["InklingWriter"]

_HEADS = {
    "assistant": "<|message_model|>",
    "developer": "<|message_system|>",
    "system": "<|message_system|>",
    "tool": "<|message_tool|>",
    "user": "<|message_user|>",
}
_TEXT, _THINKING = "<|content_text|>", "<|content_thinking|>"
_TOOLS, _CALL = "<|content_xml|>", "<|content_invoke_tool_json|>"
_END, _TURN_END = "<|end_message|>", "<|content_model_end_sampling|>"
# These stand for media; a tokenizer without them isn't Inkling's.
_MEDIA = ("<|content_image|>", "<|content_audio_input|>", "<|audio_end|>")
_OTHER_SPELLINGS = {_TOOLS: "<|unused_200024|>"}
_EFFORTS = {"none": 0.0, "minimal": 0.1, "low": 0.2, "medium": 0.7, "high": 0.9, "xhigh": 0.99, "max": 0.99}
_GREATEST_EFFORT = 0.99


class InklingWriter:
    """Writes prompts of Inkling."""

    content_format: ContentFormat = "string"

    def __init__(self, tokenizer: Tokenizer):
        """Raises ``CheckpointError`` if the tokenizer lacks a special token."""
        self.tokenizer = tokenizer
        self._ids = _special_ids(tokenizer)

    def write(self, conversation: Conversation) -> array[int]:
        """The prompt.

        Raises:
            RequestError: a role, part or effort that the model has no form for, tools of no shape, or a last message
                that is to be continued.
            UnicodeEncodeError: a lone surrogate.
        """
        kwargs = conversation.kwargs
        if kwargs.get("continue_final_message"):
            raise RequestError("Inkling renderer does not support continue_final_message")
        return _Prompt(self.tokenizer, self._ids).written(
            conversation,
            _effort(kwargs.get("reasoning_effort")),
            opens_answer=kwargs.get("add_generation_prompt", True),
        )


class _Prompt:
    """A prompt on its way."""

    def __init__(self, tokenizer: Tokenizer, special: Mapping[str, int]):
        self.tokenizer = tokenizer
        self.special = special
        self.ids = array("I")
        self.called: dict[str, str] = {}  # the name of each call by its id

    def written(self, conversation: Conversation, effort: float | None, *, opens_answer: Any) -> array[int]:
        tools = _all_tools(conversation)
        if tools:
            self._message("system", _TOOLS, _tool_specs(tools), author="tool_declare")
        for raw, message in zip(conversation.raw, conversation.messages, strict=True):
            role = raw["role"]
            if role not in _HEADS:
                raise RequestError(f"unsupported Inkling message role {role!r}; expected one of {sorted(_HEADS)}")
            if role not in ("system", "developer") and effort is not None:
                self._message("system", _TEXT, _effort_text(effort))
                effort = None
            match role:
                case "tool":
                    author = raw.get("name") or self.called.get(str(raw.get("tool_call_id") or ""), "")
                    self._message("tool", _TEXT, "".join(_texts(raw.get("content"))), author=str(author))
                case "assistant":
                    self._answer(raw, message)
                case _:
                    self._parts(role, raw)
        if effort is not None:
            self._message("system", _TEXT, _effort_text(effort))
        if opens_answer:
            self.ids.append(self.special[_HEADS["assistant"]])
        return self.ids

    def _answer(self, raw: Message, message: Message) -> None:
        reasoning = raw.get("reasoning")
        if reasoning is None:
            reasoning = raw.get("reasoning_content")
        if reasoning:
            if not isinstance(reasoning, str):
                raise RequestError("assistant reasoning_content must be a string for Inkling rendering")
            self._message("assistant", _THINKING, reasoning)
        self._parts("assistant", raw)
        for call in message.get("tool_calls", ()):
            function = call["function"]
            name = function.get("name")
            if not isinstance(name, str):
                raise RequestError("tool call function name must be a string")
            if call.get("id"):
                self.called[str(call["id"])] = name
            text = f'{{"name":{_sorted_json(name)},"args":{_sorted_json(function["arguments"])}}}'
            self._message("assistant", _CALL, text, author=name)
        self.ids.append(self.special[_TURN_END])

    def _parts(self, role: str, raw: Message) -> None:
        for text in _texts(raw.get("content")):
            self._message(role, _TEXT, text)

    def _message(self, role: str, kind: str, text: str, *, author: str = "") -> None:
        self.ids.append(self.special[_HEADS[role]])
        if author:
            self.ids += self.tokenizer.encode(author)
        self.ids.append(self.special[kind])
        self.ids += self.tokenizer.encode(text)
        self.ids.append(self.special[_END])


def _special_ids(tokenizer: Tokenizer) -> dict[str, int]:
    ids: dict[str, int] = {}
    for token in (*_HEADS.values(), _TEXT, _THINKING, _TOOLS, _CALL, _END, _TURN_END, *_MEDIA):
        token_id = tokenizer.token_id(token)
        if token_id is None and token in _OTHER_SPELLINGS:
            token_id = tokenizer.token_id(_OTHER_SPELLINGS[token])
        if token_id is None:
            raise CheckpointError(f"tokenizer.json: Inkling's special token {token} is missing")
        ids[token] = token_id
    return ids


def _effort(value: Any) -> float | None:
    """How hard to think; None if nothing shall be said of it."""
    if value is None:
        value = "high"
    number = _EFFORTS.get(value) if isinstance(value, str) else value
    return None if isinstance(number, bool) or not isinstance(number, int | float) else number


def _effort_text(effort: float) -> str:
    if not 0.0 <= effort <= _GREATEST_EFFORT:
        # An integer may be too large for a float, and is then shown as it is.
        shown = effort if abs(effort) > 2**53 else float(effort)
        raise RequestError(f"Inkling reasoning_effort must be in [0.0, 0.99], got {shown}")
    digits = f"{effort:.2f}".rstrip("0").rstrip(".")
    return f"Thinking effort level: {'0.0' if digits in ('0', '-0') else digits}"


def _texts(content: Any) -> Iterator[str]:
    """The texts of a content. Media have been refused by now."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield content
        return
    if not isinstance(content, Sequence):
        raise RequestError("message content must be a string or a sequence of parts")
    for part in content:
        if isinstance(part, str):
            yield part
            continue
        if not isinstance(part, Mapping):
            raise RequestError(f"content part must be mapping, got {type(part).__name__}")
        kind = part.get("type")
        if kind not in (None, "text", "input_text"):
            raise RequestError(f"unsupported content part type: {kind!r}")
        text = part.get("text", "")
        yield text if isinstance(text, str) else ""


def _all_tools(conversation: Conversation) -> list[Any]:
    """The request's tools and those of developers."""
    tools: list[Any] = []
    own = [raw.get("tools") for raw in conversation.raw if raw["role"] == "developer"]
    for given in (conversation.tools, *own):
        if given and not isinstance(given, list):
            raise RequestError(f"tools: expected a list of tools, got {type(given).__name__}")
        tools += given or ()
    return tools


def _tool_specs(tools: Sequence[Any]) -> str:
    specs = []
    for tool in tools:
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if not isinstance(function, Mapping) or "name" not in function:
            raise RequestError('tools: expected {"type": "function", "function": {"name": "..."}}')
        specs.append(
            {
                "description": function.get("description") or "",
                "name": function["name"],
                "parameters": function.get("parameters") or {},
                "type": tool.get("type", "function"),
            }
        )
    return _sorted_json(specs)


def _sorted_json(value: Any) -> str:
    """JSON without spaces, the keys of objects sorted."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    except ValueError:
        raise RequestError("Out of range float values are not JSON compliant") from None
    except RecursionError:
        raise RequestError("The request is nested too deeply to be written as JSON") from None
