"""The items of a Responses request: its input, its tools and its tool choice, checked as far as text input needs.

vLLM validates them against the OpenAI SDK's types. Messages and function tools are checked in full here; items and
tools of other known types by the fields they need. They stay dicts as the client wrote them.
"""

from __future__ import annotations

__all__ = ["read_input", "read_tool_choice", "read_tools"]

from collections.abc import Mapping
from typing import Any, Literal

from typecase.api.faults import Loc
from typecase.api.reading import REFUSED, OpenRecord, Reading, reader_for

_MESSAGE_ROLES = frozenset({"user", "assistant", "system", "developer"})
_PART_TYPES: dict[str, tuple[str, ...]] = {"input_text": ("text",), "input_image": (), "input_file": ()}
_ANSWER_PART_TYPES: dict[str, tuple[str, ...]] = {"output_text": ("text",), "refusal": ("refusal",)}

# Items other than messages, with the strings they can't do without.
_ITEM_TYPES: dict[str, tuple[str, ...]] = {
    "additional_tools": (),
    "apply_patch_call": ("call_id", "status"),
    "apply_patch_call_output": ("call_id", "status"),
    "code_interpreter_call": ("id", "container_id", "status"),
    "compaction": ("encrypted_content",),
    "compaction_trigger": (),
    "computer_call": ("id", "call_id", "status"),
    "computer_call_output": ("call_id",),
    "custom_tool_call": ("call_id", "input", "name"),
    "custom_tool_call_output": ("call_id",),
    "file_search_call": ("id", "status"),
    "function_call": ("arguments", "call_id", "name"),
    "function_call_output": (),
    "image_generation_call": ("id", "status"),
    "item_reference": ("id",),
    "local_shell_call": ("id", "call_id", "status"),
    "local_shell_call_output": ("id", "output"),
    "mcp_approval_request": ("id", "arguments", "name", "server_label"),
    "mcp_approval_response": ("approval_request_id",),
    "mcp_call": ("id", "arguments", "name", "server_label"),
    "mcp_list_tools": ("id", "server_label"),
    "program": ("id", "call_id", "code", "fingerprint"),
    "program_output": ("id", "call_id", "result", "status"),
    "shell_call": ("call_id",),
    "shell_call_output": ("call_id",),
    "tool_search_call": (),
    "tool_search_output": (),
    "web_search_call": ("id", "status"),
}
_OTHER_TOOLS: dict[str, tuple[str, ...]] = {
    "apply_patch": (),
    "code_interpreter": (),
    "computer": (),
    "computer_use_preview": ("environment",),
    "custom": ("name",),
    "file_search": (),
    "image_generation": (),
    "local_shell": (),
    "mcp": ("server_label",),
    "namespace": ("name", "description"),
    "programmatic_tool_calling": (),
    "shell": (),
    "tool_search": (),
    "web_search": (),
    "web_search_2025_08_26": (),
    "web_search_preview": (),
    "web_search_preview_2025_03_11": (),
}
_HOSTED_CHOICES = frozenset(
    {
        "file_search",
        "web_search_preview",
        "computer",
        "computer_use_preview",
        "computer_use",
        "web_search_preview_2025_03_11",
        "image_generation",
        "code_interpreter",
        "programmatic_tool_calling",
        "apply_patch",
        "shell",
    }
)


class _FunctionTool(OpenRecord, kw_only=True):
    name: str
    parameters: dict[str, Any] | None = None
    strict: bool | None = None
    type: Literal["function"]
    defer_loading: bool | None = None
    description: str | None = None


_read_function_tool = reader_for(_FunctionTool)


def read_input(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``input``: a text or a list of items."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return reading.refuse(loc, "a string or a list of items", value)
    for i, item in enumerate(value):
        if not _is_item(item):
            kind = f" of type {item['type']!r:.60}" if isinstance(item, dict) and "type" in item else ""
            reading.fault(loc, f"item {i}{kind} isn't an input item this API knows; a message has a role and content")
            return REFUSED
    return value


def read_tools(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``tools``."""
    if not isinstance(value, list):
        return reading.refuse(loc, "a list of tools", value)
    refused = False
    for i, tool in enumerate(value):
        if (
            isinstance(tool, dict)
            and _has_texts(tool, _OTHER_TOOLS.get(_kind(tool)))
            and (tool["type"] != "custom" or isinstance(tool.get("description"), str | None))
            and (tool["type"] != "namespace" or _is_members(tool.get("tools")))
        ):
            continue
        refused = _read_function_tool(tool, (*loc, i), reading) is REFUSED or refused
    return REFUSED if refused else value


def read_tool_choice(value: object, loc: Loc, reading: Reading) -> Any:
    """The reader of ``tool_choice``."""
    if isinstance(value, str) and value in ("none", "auto", "required"):
        return value
    if isinstance(value, dict):
        kind = _kind(value)
        if kind in ("function", "custom") and isinstance(value.get("name"), str):
            return value
        if kind == "mcp" and isinstance(value.get("server_label"), str):
            return value
        if kind == "allowed_tools" and value.get("mode") in ("auto", "required"):
            tools = value.get("tools")
            if isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools):
                return value
        if kind in _HOSTED_CHOICES:
            return value
    return reading.refuse(loc, "'none', 'auto', 'required' or an object that names a tool", value)


def _is_members(tools: object) -> bool:
    """Whether these can be the tools of a namespace."""
    return isinstance(tools, list) and all(
        isinstance(tool, dict) and _kind(tool) in ("function", "custom") and isinstance(tool.get("name"), str)
        for tool in tools
    )


def _is_item(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    if item.get("type") is None and isinstance(item.get("id"), str):
        return True  # a reference may leave its type out, and have anything else
    kind = item.get("type", "message")
    if kind == "message":
        return _is_message(item)
    if kind == "reasoning":
        return isinstance(item.get("summary"), list)
    return isinstance(kind, str) and _has_texts(item, _ITEM_TYPES.get(kind))


def _is_message(item: Mapping[str, Any]) -> bool:
    role, content = item.get("role"), item.get("content")
    if not isinstance(role, str) or role not in _MESSAGE_ROLES:
        return False
    if isinstance(content, str):
        return True
    if not isinstance(content, list):
        return False
    return _all_parts(content, _PART_TYPES) or (
        role == "assistant"
        and "type" in item
        and _all_parts(content, _ANSWER_PART_TYPES)
        and isinstance(item.get("id", ""), str)
        and item.get("status", "completed") in ("in_progress", "completed", "incomplete")
    )


def _all_parts(content: list[Any], types: Mapping[str, tuple[str, ...]]) -> bool:
    return all(isinstance(part, dict) and _has_texts(part, types.get(_kind(part))) for part in content)


def _kind(value: Mapping[str, Any]) -> str:
    kind = value.get("type")
    return kind if isinstance(kind, str) else ""


def _has_texts(value: Mapping[str, Any], keys: tuple[str, ...] | None) -> bool:
    return keys is not None and all(isinstance(value.get(key), str) for key in keys)
