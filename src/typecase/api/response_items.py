"""The items of a Responses request, its tools and its tool choice, read as vLLM's SDK types read them.

Most requests are made of a few usual kinds of items, which pass at first sight. All others go through the union of
everything the SDK knows (``openai_types``), and become what vLLM makes of them: an ordinary dict, or a ``Model``.
"""

from __future__ import annotations

__all__ = ["read_input", "read_tool_choice", "read_tools"]

from typing import Any

from typecase.api.faults import Loc, Problem
from typecase.api.openai_types import Model, root_reader, shape_reader, shapes_by_type
from typecase.api.reading import REFUSED, Reading

_ROLES = ("user", "assistant", "system", "developer")
_STATUSES = ("in_progress", "completed", "incomplete")
_MESSAGE_KEYS = frozenset({"type", "role", "content"})
_CALL_KEYS = frozenset({"type", "id", "call_id", "name", "arguments", "status"})
_OUTPUT_KEYS = frozenset({"type", "id", "call_id", "output", "status"})
_TOOL_KEYS = frozenset({"type", "name", "description", "parameters", "strict"})
_NO_ITEM = "isn't an input item this API knows; a message has a role and content"

Item = dict[str, Any]


def read_input(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``input``: a text or a list of items."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return reading.refuse(loc, "a string or a list of items", value)
    items = []
    for i, item in enumerate(value):
        read = _usual(item) if type(item) is dict else None
        if read is None:
            read = _read_item(item, (*loc, i), reading)
            if read is REFUSED:
                # vLLM names the first of all alternatives: that the input isn't a text.
                for problem in reading.problems:
                    if problem.at[: len(loc)] == loc:
                        problem.first = loc
                return REFUSED
        items.append(read)
    return items


def read_tools(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``tools``."""
    if type(value) is list and all(type(tool) is dict and _is_usual_tool(tool) for tool in value):
        return value
    return root_reader("tools")(value, loc, reading)


def read_tool_choice(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``tool_choice``."""
    before = len(reading.problems)
    choice = root_reader("tool_choice")(value, loc, reading)
    if choice is REFUSED:
        del reading.problems[before:]
        return reading.refuse(loc, "'none', 'auto', 'required' or an object that names a tool", value)
    return choice


def _usual(item: Item) -> Item | None:
    """The item as it is meant if it is of a usual kind. None says nothing about it."""
    kind, content = item.get("type"), item.get("content")
    match kind:
        case "function_call" if _CALL_KEYS.issuperset(item):
            texts = all(type(item.get(key)) is str for key in ("call_id", "name", "arguments"))
            if texts and type(item.get("id", "")) is str and item.get("status", "completed") in _STATUSES:
                return Model(item)
        case "function_call_output" if _OUTPUT_KEYS.issuperset(item):
            texts = all(type(item.get(key)) is str for key in ("call_id", "output"))
            if texts and type(item.get("id", "")) is str and item.get("status", "completed") in _STATUSES:
                return item
        case "message" | None if _MESSAGE_KEYS.issuperset(item) and ("type" not in item or kind is not None):
            role = item.get("role")
            if role not in _ROLES:
                return None
            if type(content) is str:
                return item
            if type(content) is not list or not content:
                return None
            if role != "assistant":
                return item if all(_is_text(part, "input_text") for part in content) else None
            if kind == "message" and all(_is_text(part, "output_text") for part in content):
                return Model(item)
    return None


def _is_text(part: Any, kind: str) -> bool:
    return type(part) is dict and len(part) == 2 and part.get("type") == kind and type(part.get("text")) is str


def _is_usual_tool(tool: Item) -> bool:
    return (
        tool.get("type") == "function"
        and _TOOL_KEYS.issuperset(tool)
        and type(tool.get("name")) is str
        and isinstance(tool.get("description"), str | None)
        and isinstance(tool.get("parameters"), dict | None)
        and isinstance(tool.get("strict"), bool | None)
    )


def _read_item(item: object, loc: Loc, reading: Reading) -> Any:
    """An item through everything the SDK knows, after vLLM's own attempts to make a model of it."""
    if isinstance(item, dict):
        match item.get("type"):
            case "function_call":
                model = _as_model("FunctionToolCall2", item, reading)
            case "reasoning":
                # The id that vLLM makes up isn't seen anywhere.
                item = item if "id" in item else {**item, "id": ""}
                model = _as_model("ReasoningItem2", item, reading)
            case "message" if item.get("role") == "assistant" and isinstance(item.get("content"), list):
                model = _as_model("OutputMessage2", _completed(item), reading)
            case _:
                model = REFUSED
        if model is not REFUSED:
            return model
        item = _with_image_details(item)
    attempt = Reading(reading.limits)
    read = root_reader("input")([item], loc[:-1], attempt)
    if read is not REFUSED:
        return read[0]
    reading.problems += _closest_faults(item, loc, reading)
    return REFUSED


def _as_model(shape: str, item: Item, reading: Reading) -> Any:
    return shape_reader(shape)(item, (), Reading(reading.limits))


def _completed(item: Item) -> Item:
    """An assistant's message with what vLLM fills in where it is left out."""
    parts = [
        {**part, "annotations": []}
        if isinstance(part, dict) and part.get("type") == "output_text" and "annotations" not in part
        else part
        for part in item["content"]
    ]
    return {"id": "", "status": "completed", **item, "content": parts}


def _with_image_details(item: Item) -> Item:
    content = item.get("content")
    if not isinstance(content, list):
        return item
    parts = [
        {**part, "detail": "auto"}
        if isinstance(part, dict) and part.get("type") == "input_image" and "detail" not in part
        else part
        for part in content
    ]
    return {**item, "content": parts}


def _closest_faults(item: object, loc: Loc, reading: Reading) -> list[Problem]:
    """What is wrong with an item, by the kind it says it is."""
    if not isinstance(item, dict):
        return [Problem(loc, loc, _NO_ITEM)]
    kind = item.get("type", "message")
    names = shapes_by_type().get(kind) if isinstance(kind, str) else None
    if names is None:
        return [Problem(loc, loc, f"type {kind!r:.60} {_NO_ITEM}")]
    attempt = Reading(reading.limits)
    shape_reader(names[0])(item, loc, attempt)
    return attempt.problems or [Problem(loc, loc, _NO_ITEM)]
