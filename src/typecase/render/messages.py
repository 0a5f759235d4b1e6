"""``/v1/messages/render`` and ``/v1/messages/count_tokens``: Anthropic's requests over the same path as chat.

A request becomes a ``ChatRequest`` whose fields are set here and not checked again, as in vLLM 0.33: ``tools: []`` or a
tool choice without tools, which a chat's body may not have, come through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from typecase.api.chat import ChatRequest
from typecase.api.chat_checks import check_chat_body
from typecase.api.errors import RequestError
from typecase.api.generate import GenerateRequest
from typecase.api.message_blocks import ContentBlock, Message, Tool, ToolDefinition, ToolReference, changes_tools
from typecase.api.messages import (
    CountTokensRequest,
    CountTokensResponse,
    MessagesRequest,
    ThinkingDisabled,
    ThinkingEnabled,
    ToolChoice,
)
from typecase.prompt.budget import Budget
from typecase.render.chat import chat_prompt, render_chat
from typecase.render.message_blocks import chat_messages
from typecase.render.message_rules import MessageRules

__all__ = ["chat_request", "count_tokens", "render_messages"]

_CHOICES = {"auto": "auto", "any": "required", "none": "none"}


def render_messages(
    rules: MessageRules,
    request: MessagesRequest,
    *,
    request_id: str,
    now: Callable[[], datetime],
    budget: Budget | None = None,
) -> GenerateRequest:
    """Render one Messages request.

    Args:
        rules: the model.
        request: decoded and checked.
        request_id: the id without its prefix; the answer's is ``chatcmpl-`` + this.
        now: the clock that templates see.
        budget: bounds on the template's work.

    Raises:
        RequestError: whatever vLLM's route refuses, with its status, type and param.

    Source: vLLM 0.33, ``POST /v1/messages/render``.
    """
    chat = chat_request(rules, request, now=now)
    return render_chat(rules.front, chat, request_id=request_id, now=now, budget=budget)


def count_tokens(
    rules: MessageRules, request: CountTokensRequest, *, now: Callable[[], datetime], budget: Budget | None = None
) -> CountTokensResponse:
    """The length of the prompt that a Messages request makes, tools and the start of the answer included.

    Raises ``RequestError``. Source: vLLM 0.33's ``serve``, ``POST /v1/messages/count_tokens``.
    """
    chat = chat_request(rules, request, now=now)
    return CountTokensResponse.of(len(chat_prompt(rules.front, chat, now=now, budget=budget).ids))


def chat_request(
    rules: MessageRules, request: MessagesRequest | CountTokensRequest, *, now: Callable[[], datetime]
) -> ChatRequest:
    """The chat request that a Messages request stands for. Raises ``RequestError``."""
    choice = _tool_choice(request.tool_choice)
    chat = ChatRequest(
        model=request.model,
        messages=chat_messages(request.system, request.messages, merge_system=rules.merges_system, now=now),
        chat_template_kwargs=request.chat_template_kwargs,
        tool_choice=choice,
    )
    if isinstance(request, MessagesRequest):
        _set_sampling(chat, request)
    if request.tool_choice is not None:
        chat.parallel_tool_calls = not request.tool_choice.disable_parallel_tool_use
    config = request.output_config
    if config is not None:
        chat.reasoning_effort = config.effort
        if config.format is not None and config.format.json_schema:
            chat.response_format = _json_format(config.format.json_schema)
    match request.thinking:
        case ThinkingDisabled():
            chat.reasoning_effort = rules.disabled_effort(now)
        case ThinkingEnabled(budget_tokens=budget):
            chat.thinking_token_budget = budget
    tools = _tools_at_the_end(request)
    if tools is not None:
        chat.tools = [_chat_tool(tool) for tool in tools]
        chat.tool_choice = "auto" if choice is None else choice
    return chat


def _set_sampling(chat: ChatRequest, request: MessagesRequest) -> None:
    # Of chat's own checks these fields alone concern one.
    checked = check_chat_body(
        {
            "messages": chat.messages,
            "cache_salt": request.cache_salt,
            "kv_transfer_params": request.kv_transfer_params,
        }
    )
    chat.max_tokens = chat.max_completion_tokens = request.max_tokens
    chat.stop = request.stop_sequences
    chat.temperature = request.temperature
    chat.top_p = request.top_p
    chat.top_k = request.top_k
    chat.watermarking = request.watermarking
    chat.cache_salt = request.cache_salt
    chat.kv_transfer_params = checked["kv_transfer_params"]
    chat.ec_transfer_params = request.ec_transfer_params
    chat.vllm_xargs = request.vllm_xargs
    chat.mm_payload = request.mm_payload
    if request.stream:
        chat.stream = True
        chat.stream_options = {"include_usage": True, "continuous_usage_stats": True}


def _tool_choice(choice: ToolChoice | None) -> str | dict[str, Any] | None:
    if choice is None:
        return None
    if choice.type == "tool":
        return {"function": {"name": choice.name}, "type": "function"}
    return _CHOICES[choice.type]


def _json_format(schema: dict[str, Any]) -> dict[str, Any]:
    inner = {"name": "json_schema", "description": None, "schema": schema, "strict": None}
    return {"type": "json_schema", "json_schema": inner}


def _tools_at_the_end(request: MessagesRequest | CountTokensRequest) -> list[Tool] | None:
    """The request's tools after what its messages add and remove: a template is shown one list for all turns."""
    if not changes_tools(request.messages):
        return request.tools
    tools = {tool.name: tool for tool in request.tools or ()}
    removed: set[str] = set()
    for block in _changes(request.messages):
        match block.tool:
            case ToolDefinition(definition=tool):
                name = tool.name
                tools[name] = tool
            case ToolReference(name=name):
                if name not in tools:
                    raise RequestError(f"{block.type} references tool {name!r}, which is not declared in tools")
                if block.type == "tool_addition":
                    tools[name] = msgspec.structs.replace(tools[name], defer_loading=None)
            case None:
                continue
        if block.type == "tool_removal":
            removed.add(name)
        else:
            removed.discard(name)
    return [tool for name, tool in tools.items() if name not in removed]


def _changes(messages: Sequence[Message]) -> Iterator[ContentBlock]:
    for message in messages:
        if not isinstance(message.content, str):
            yield from (block for block in message.content if block.is_change)


def _chat_tool(tool: Tool) -> dict[str, Any]:
    """A tool as chat's templates and ``parse_context`` see it: flags only when they are given."""
    schema = tool.input_schema
    function: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema if "type" in schema else {**schema, "type": "object"},
    }
    if tool.strict is not None:
        function["strict"] = tool.strict
    if tool.defer_loading is not None:
        function["defer_loading"] = tool.defer_loading
    return {"type": "function", "function": function}
