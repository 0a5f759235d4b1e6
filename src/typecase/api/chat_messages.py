"""Chat messages: which shapes pass, and where vLLM says the fault is.

vLLM validates a message against a union: OpenAI's types (developer, system, user, assistant, tool, function, in this
order) and a catch-all that takes any role. Messages stay dicts here and most pass in one look; only odd ones are taken
apart. Unknown keys stay. What changes: ``reasoning_content`` becomes ``reasoning``, and the keys of tool calls
and of a developer's tools come in one order, which templates that print them whole show.

A message is refused when neither the catch-all nor its role's type takes it. The fault vLLM names first is then that of
the union's first branch, the developer message, whatever the role is; our ``param`` is that, while our text names the
real fault. An assistant message that only its own type takes has its tool calls checked after everything else. Content
parts are looked at where they are used (``prompt``): here a list passes if its items are objects or strings.
"""

from __future__ import annotations

__all__ = ["Message", "fits_catch_all", "has_non_text_content", "read_chat_messages", "read_messages"]

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from typecase.api.errors import RequestError
from typecase.api.faults import Loc, Problem, body_error, shown
from typecase.api.lax import lax_bool
from typecase.api.reading import REFUSED, Reading, add_fields

Message: TypeAlias = dict[str, Any]

# Keys that are right with a string as value, those that need a second look, and those of OpenAI's assistant alone.
_STRINGS = frozenset({"role", "name", "tool_call_id", "reasoning", "task"})
_CHECKED = frozenset({"reasoning_content", "tools", "author"})
_ASSISTANT_KEYS = frozenset({"audio", "function_call", "refusal"})
_OPENAI_ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "function"})

_CALL_FORM = '{"id": "...", "type": "function", "function": {"name": "...", "arguments": "a string"}}'

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal", "thinking", "tool_reference"})
_MEDIA_KEYS = (
    "input_image", "image_url", "image_embeds", "audio_embeds", "video_embeds", "prompt_embeds", "image_pil",
    "audio_url", "input_audio", "video_url",
)  # fmt: skip


def read_chat_messages(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of a chat's ``messages``, which are prepared first: see ``_prepared``."""
    return _read(value, loc, reading, prepare=True)


def read_messages(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``messages`` where vLLM takes them as they are (``/tokenize``)."""
    return _read(value, loc, reading, prepare=False)


def _read(value: object, loc: Loc, reading: Reading, *, prepare: bool) -> Any:
    if not isinstance(value, list | tuple):
        return reading.refuse(loc, "a list of messages", value)
    messages = []
    refused = False
    for i, message in enumerate(value):
        if type(message) is dict:
            # Most messages are a role and a text: no function call for those.
            if len(message) == 2 and type(message.get("content")) is str and type(message.get("role")) is str:
                messages.append(message)
                continue
            usual = _usual(message)
            if usual is not None:
                messages.append(usual)
                continue
            if prepare:
                message = _prepared(message)
        checked = _read_message(message, (*loc, i), reading)
        refused = refused or checked is REFUSED
        if reading.is_hopeless:
            break
        messages.append(checked)
    if messages:
        add_fields(reading, len(messages))
    return REFUSED if refused else messages


def _usual(message: Message) -> Message | None:
    """The message if it passes at first sight: a role, a text, strings, function calls. None says nothing about it."""
    content = message.get("content")
    role = message.get("role")
    if type(role) is not str or not (type(content) is str or (content is None and role == "assistant")):
        return None
    calls = None
    for key, value in message.items():
        if key in _STRINGS:
            if type(value) is not str:
                return None
        elif key == "tool_calls":
            if type(value) is not list:
                return None
            calls = value
        elif key in _CHECKED or (key in _ASSISTANT_KEYS and value is not None):
            return None
    if not calls:
        return message
    ordered = [_usual_call(call) for call in calls]
    return None if None in ordered else {**message, "tool_calls": ordered}


def _usual_call(call: Any) -> Message | None:
    """A function call in the order of vLLM's types, if it has just the usual keys."""
    if type(call) is not dict or len(call) != 3 or call.get("type") != "function":
        return None
    call_id, function = call.get("id"), call.get("function")
    if type(call_id) is not str or type(function) is not dict or len(function) != 2:
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if type(name) is not str or type(arguments) is not str:
        return None
    return {"id": call_id, "function": {"arguments": arguments, "name": name}, "type": "function"}


def _prepared(message: Message) -> Message:
    """What chat does to a message before it is checked: ``tool_calls`` becomes a list, ``reasoning_content``
    ``reasoning``. Nothing is changed in place."""
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        if not isinstance(calls, Iterable):
            # vLLM answers with the text of a TypeError and no param.
            raise RequestError(f"tool_calls of a message: expected a list of tool calls, got {shown(calls)}")
        message = {**message, "tool_calls": list(calls)}
    if "reasoning_content" in message:
        message = dict(message)
        old = message.pop("reasoning_content")
        if old is not None and message.get("reasoning") is None:
            message["reasoning"] = old
    return message


def _read_message(message: object, loc: Loc, reading: Reading) -> Any:
    if not isinstance(message, dict):
        return reading.refuse(loc, "a message (an object with role and content)", message)
    own: list[Problem] = []
    _catch_all_faults(message, loc, own)
    if not own:
        return _with_ordered_tools(_with_ordered_calls(message))
    if _role_type_takes(message):
        if message["role"] == "assistant":
            _note_call_faults(message.get("tool_calls", []), loc, reading)
        return _with_ordered_calls(message)
    if _is_harmony(message):
        text = f"{'.'.join(map(str, loc))}: a message needs a role; messages in harmony's own form aren't taken"
        reading.later.append(RequestError(text))
        return message
    own[0].first = _developer_fault(message, loc)
    reading.problems += own
    return REFUSED


def fits_catch_all(message: Message) -> bool:
    """Whether vLLM's catch-all for messages takes this one."""
    faults: list[Problem] = []
    _catch_all_faults(message, (), faults)
    return not faults


def _catch_all_faults(message: Message, loc: Loc, faults: list[Problem]) -> None:
    """What keeps vLLM's catch-all from taking the message."""

    def fault(key: str, expected: str) -> None:
        at = (*loc, key)
        text = f"expected {expected}, got {shown(message[key])}" if key in message else "is missing"
        faults.append(Problem(at, at, text))

    if not isinstance(message.get("role"), str):
        fault("role", "a string")
    if "content" in message:
        content = message["content"]
        if not isinstance(content, str) and not (
            isinstance(content, list) and all(isinstance(part, dict | str) for part in content)
        ):
            fault("content", "a string or a list of content parts")
    if "name" in message and not isinstance(message["name"], str):
        fault("name", "a string")
    for key in ("tool_call_id", "task"):
        if not isinstance(message.get(key), str | None):
            fault(key, "a string")
    calls = message.get("tool_calls")
    if calls is not None and not (isinstance(calls, list) and all(map(_is_function_call, calls))):
        fault("tool_calls", "a list of function calls, their arguments as a string")
    reasoning = message.get("reasoning")
    if not isinstance(reasoning, str | None) and not _is_prompt_embeds(reasoning):
        fault("reasoning", "a string")
    tools = message.get("tools")
    if tools is not None and not (isinstance(tools, list) and all(map(_is_function_tool, tools))):
        fault("tools", "a list of function tools")


def _role_type_takes(message: Message) -> bool:
    """Whether OpenAI's type for the message's role takes it. Their lists are only looked at when they are used."""
    role = message.get("role")
    if not isinstance(role, str) or role not in _OPENAI_ROLES:
        return False
    content = message.get("content", REFUSED)
    name = message.get("name", "")
    if role == "function":
        return isinstance(content, str | None) and isinstance(message.get("name"), str)
    if role == "tool":
        return _is_iterable(content) and isinstance(message.get("tool_call_id"), str)
    if not isinstance(name, str):
        return False
    if role != "assistant":
        return _is_iterable(content)
    audio, call = message.get("audio"), message.get("function_call")
    return (
        (content is REFUSED or content is None or _is_iterable(content))
        and (audio is None or (isinstance(audio, Mapping) and isinstance(audio.get("id"), str)))
        and (call is None or _has_texts(call, "arguments", "name"))
        and isinstance(message.get("refusal"), str | None)
        and _is_iterable(message.get("tool_calls", []))
    )


def _note_call_faults(calls: list[Any], loc: Loc, reading: Reading) -> None:
    """Note for later the first tool call that is neither a function's nor a custom one, by its index alone as vLLM."""
    for i, call in enumerate(calls):
        at = _call_fault(call)
        if at is not None:
            problem = Problem((*loc, "tool_calls", i, *at), (i, *at), "expected a tool call " + _CALL_FORM)
            reading.later.append(body_error([problem]))
            return


def _call_fault(call: Any) -> Loc | None:
    if not isinstance(call, dict):
        return ()
    is_custom = call.get("type") == "custom" and _has_texts(call.get("custom"), "input", "name")
    if not isinstance(call.get("id"), str):
        return ("id",)
    if is_custom:
        return None
    function = call.get("function")
    if not isinstance(function, Mapping):
        return ("function",)
    for key in ("arguments", "name"):
        if not isinstance(function.get(key), str):
            return ("function", key)
    return None if call.get("type") == "function" else ("type",)


def _developer_fault(message: Message, loc: Loc) -> Loc:
    """Where a developer message would have its first fault."""
    if not _is_iterable(message.get("content", REFUSED)):
        return (*loc, "content")
    return (*loc, "name") if message.get("role") == "developer" else (*loc, "role")


def _with_ordered_calls(message: Message) -> Message:
    calls = message.get("tool_calls")
    if not calls or not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [_ordered_call(call) for call in calls]}


def _ordered_call(call: Any) -> Any:
    if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
        return call
    function = call["function"]
    if len(function) == 2 and "arguments" in function and "name" in function:
        function = {"arguments": function["arguments"], "name": function["name"]}
    else:
        function = {key: function[key] for key in ("arguments", "name") if key in function} | function
    if len(call) == 3 and "id" in call and "type" in call:
        return {"id": call["id"], "function": function, "type": call["type"]}
    return {key: call[key] for key in ("id", "function", "type") if key in call} | call | {"function": function}


def _with_ordered_tools(message: Message) -> Message:
    """The message with the keys of its own tools (a developer's) in the order of vLLM's types."""
    tools = message.get("tools")
    if not tools:
        return message
    return {**message, "tools": [_ordered_tool(tool) for tool in tools]}


def _ordered_tool(tool: Message) -> Message:
    given = tool["function"]
    function = {key: given[key] for key in ("name", "description", "parameters", "strict") if key in given} | given
    if function.get("strict") is not None:
        function["strict"] = lax_bool(function["strict"])[0]
    return {"function": function, "type": tool["type"]} | tool | {"function": function}


def _is_iterable(value: object) -> bool:
    return isinstance(value, str | list | dict)


def _has_texts(value: object, *keys: str) -> bool:
    return isinstance(value, Mapping) and all(isinstance(value.get(key), str) for key in keys)


def _is_function_call(call: object) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("id"), str)
        and call.get("type") == "function"
        and _has_texts(call.get("function"), "arguments", "name")
    )


def _is_function_tool(tool: object) -> bool:
    if not (isinstance(tool, dict) and tool.get("type") == "function" and _has_texts(tool.get("function"), "name")):
        return False
    function = tool["function"]
    strict = function.get("strict")
    return (
        isinstance(function.get("description", ""), str)
        and isinstance(function.get("parameters", {}), dict)
        and (strict is None or lax_bool(strict)[0] is not REFUSED)
    )


def _is_prompt_embeds(value: object) -> bool:
    return _has_texts(value, "data") and value.get("type") == "prompt_embeds"  # type: ignore[attr-defined]


def _is_harmony(message: Message) -> bool:
    author, content = message.get("author"), message.get("content", [])
    return (
        isinstance(author, Mapping)
        and author.get("role") in ("user", "assistant", "system", "developer", "tool")
        and isinstance(content, list)
        and all(isinstance(part, dict) for part in content)
    )


def has_non_text_content(messages: object) -> bool:
    """Whether some message has a part that isn't text: media, embeddings, or nothing known."""
    if not isinstance(messages, list):
        return False
    for message in messages:
        if not isinstance(message, dict):
            continue
        for key in ("reasoning", "reasoning_content"):
            reasoning = message.get(key)
            if isinstance(reasoning, dict) and reasoning.get("type") == "prompt_embeds":
                return True
        content = message.get("content")
        if isinstance(content, list) and any(isinstance(part, dict) and not _is_text_part(part) for part in content):
            return True
    return False


def _is_text_part(part: dict[str, Any]) -> bool:
    kind = part.get("type", "text")
    return isinstance(kind, str) and kind in _TEXT_TYPES and not any(key in part for key in _MEDIA_KEYS)
