"""What the model's formats change in a request: how its output is constrained, and whether special tokens are kept.

``adjusted`` gives a copy of the request with other ``structured_outputs``, ``response_format`` (``text`` in Responses),
``skip_special_tokens`` and, where vLLM does so, ``tools``. The steps and their order are those of vLLM 0.33's
``adjust_request``: the reasoning format's wishes, then a structural tag for tool calls, then the call format's wishes.
Tags are made here, never compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from typecase.api.chat import ChatRequest
from typecase.api.errors import RequestError
from typecase.api.responses import ResponsesRequest
from typecase.api.structured import StructuredOutputs
from typecase.formats.call_format import CallFormat, StrictLevel
from typecase.formats.choice import Formats
from typecase.front import Front
from typecase.render.answer_formats import answer_format, fits_tags
from typecase.render.callable_tools import ToolsToTag, WantedCalls, function_tools, tools_to_tag, wanted_calls
from typecase.render.constraints import chat_constraint, responses_constraint
from typecase.render.harmony_tags import HARMONY_SPELLINGS, harmony_answer, harmony_tools
from typecase.render.mistral_grammar import with_mistral_grammar
from typecase.render.tag_formats import one_of, structural_tag
from typecase.render.tagged_tools import Choice
from typecase.render.tool_schemas import array_of_calls, mistral_array, named_arguments, without_definitions
from typecase.render.tool_tags import tools_format

__all__ = ["adjusted"]

R = TypeVar("R", ChatRequest, ResponsesRequest)

# Characters of a structural tag, where names and schemas of tools stand once for each spelling (harmony has 12).
_LONGEST_TAG = 64 << 20
# What stands around them, and how long a character of a name can become.
_AROUND_CALL = 256
_LONGEST_ESCAPE = 6


def adjusted(front: Front, request: R, kwargs: Mapping[str, Any]) -> R:
    """The request as the model's formats want it; itself where they have no say.

    Args:
        front: the model.
        request: checked; one that was built in code may lack what checks see to (tools for a choice, say).
        kwargs: the effective template kwargs.

    Raises:
        RequestError: the tools or constraints can't be put together, or the kwargs ask for reasoning that this
            tokenizer can't mark.
    """
    formats = front.formats
    if isinstance(request, ChatRequest) and (constrained := with_mistral_grammar(front, request)) is not None:
        return constrained
    if formats.is_empty or (formats.reasoning is None and request.tool_choice == "none" and not front.is_harmony):
        return request
    try:
        if front.is_harmony:
            return _with_calls(formats, _with_harmony_answer(request))
        _check_kwargs(front, kwargs)
        return _with_calls(formats, _with_reasoning(formats, request))
    except RecursionError:
        raise RequestError("tools: a schema is nested too deeply") from None


def _check_kwargs(front: Front, kwargs: Mapping[str, Any]) -> None:
    for part in (front.formats.reasoning, front.formats.call):
        value = kwargs.get(part.scalar_kwarg) if part is not None and part.scalar_kwarg is not None else None
        if isinstance(value, list | dict):
            raise RequestError(f"unhashable type: '{type(value).__name__}'")  # vLLM's TypeError
    if front.prompt_state is not None and (lacking := front.prompt_state.lacks(kwargs)):
        # vLLM crashes here.
        raise RequestError(
            f"chat_template_kwargs: reasoning can't be switched on, the tokenizer has no {' and '.join(lacking)}",
            param="chat_template_kwargs",
        )


def _with_reasoning(formats: Formats, request: R) -> R:
    reasoning = formats.reasoning
    if reasoning is None or not reasoning.keep_special:
        return request
    request = replace(request, skip_special_tokens=False)
    return _with_mistral_array(request) if "json_array" in reasoning.quirks else request


def _with_calls(formats: Formats, request: R) -> R:
    call = formats.call
    if call is None:
        return request
    if request.tools and (wanted := wanted_calls(request)) is not None:
        request = _with_tag(formats, call, request, wanted)
        if call.style == "json" and not (call.tag is not None and formats.enforced) and "no_schema" not in call.quirks:
            request = _with_schema(request, wanted)
    if call.keep_special == "always" or (
        call.keep_special == "tools" and request.tools and request.tool_choice != "none"
    ):
        request = replace(request, skip_special_tokens=False)
    return _with_mistral_array(request) if "json_array" in call.quirks else request


def _constraint(request: ChatRequest | ResponsesRequest) -> StructuredOutputs | None:
    return responses_constraint(request) if isinstance(request, ResponsesRequest) else chat_constraint(request)


def _constrained(request: R, constraint: StructuredOutputs) -> R:
    """The request with this constraint in place of all others."""
    if isinstance(request, ResponsesRequest):
        return replace(request, structured_outputs=constraint, text=None)
    return replace(request, structured_outputs=constraint, response_format=None)


def _with_tag(formats: Formats, call: CallFormat, request: R, wanted: WantedCalls) -> R:
    """The request with a structural tag for its calls, if there is to be one."""
    constraint = _constraint(request)
    is_auto = wanted.choice == "auto"
    single = request.parallel_tool_calls is False
    level = formats.level
    if single and not (is_auto and constraint is not None):
        # Calls can only be counted where their frame is in the grammar. A client's own format stays as it is.
        level = max(level, StrictLevel.FUNCTION)
    if call.tag is None:
        return request
    tools = tools_to_tag(request, wanted, level, hosted_too=call.tag == "harmony")
    answer = None
    if tools and is_auto and constraint is not None:
        if not fits_tags(constraint):
            return request
        answer = answer_format(constraint)
    if not tools or not formats.enforced:
        return request
    if wanted.name is not None:
        tools = tools.named(wanted.name)
    # Beside an answer in the client's format, calls are not allowed in free text.
    calls = _calls(call, tools, "required" if answer is not None else wanted.choice, single=single)
    tag = structural_tag(calls if answer is None else one_of((calls, answer)))
    return _constrained(request, StructuredOutputs(structural_tag=tag))


def _calls(call: CallFormat, tools: ToolsToTag, choice: Choice, *, single: bool) -> str:
    assert call.tag is not None
    spellings = HARMONY_SPELLINGS if call.tag == "harmony" else 1 if isinstance(call.tag, str) else len(call.tag.calls)
    lengths = (len(tool.schema) + _LONGEST_ESCAPE * len(tool.name) + _AROUND_CALL for tool in tools.tools)
    if sum(lengths) * spellings > _LONGEST_TAG:
        raise RequestError(
            f"tools: constraining their calls takes more than {_LONGEST_TAG >> 20} MB of names and schemas",
            param="tools",
        )
    if call.tag == "harmony":
        return harmony_tools(tools.tools, choice, hosted=tools.hosted)
    return tools_format(call.tag, tools.tools, choice, single=single)


def _with_schema(request: R, wanted: WantedCalls) -> R:
    """The request with a JSON schema for calls that must be made."""
    constraint = request.structured_outputs
    if wanted.choice == "auto" or (constraint is not None and constraint.structural_tag is not None):
        return request
    tools = function_tools(request, needed=wanted.choice == "required")
    if wanted.name is not None:
        schema = named_arguments(tools, wanted.name)
    else:
        schema = array_of_calls(tools, single=request.parallel_tool_calls is False)
    if isinstance(request, ResponsesRequest):
        # structured_outputs stays, and is refused later as two constraints are.
        return replace(request, text={"format": {"type": "json_schema", "schema": schema}})
    if wanted.name is None:
        request = replace(request, tools=without_definitions(tools))
    return _constrained(request, StructuredOutputs(json=schema))


def _with_mistral_array(request: R) -> R:
    """Mistral's own array of calls, in chat, where the client gave no constraint that stands."""
    wanted = wanted_calls(request)
    if (
        not isinstance(request, ChatRequest)
        or not request.tools
        or wanted is None
        or wanted.choice == "auto"
        or request.structured_outputs is not None
        or (request.response_format is not None and request.response_format["type"] == "structural_tag")
    ):
        return request
    schema = mistral_array(request.tools, wanted.name)
    return request if schema is None else _constrained(request, StructuredOutputs(json=schema))


def _with_harmony_answer(request: R) -> R:
    """A client's constraint holds for the final channel only."""
    constraint = _constraint(request)
    answer = None if constraint is None else answer_format(constraint)
    if constraint is None or answer is None:
        return request
    options = {
        name: value
        for name, value in asdict(constraint).items()
        if name in ("disable_any_whitespace", "disable_additional_properties", "whitespace_pattern")
    }
    tag = structural_tag(harmony_answer(answer))
    return _constrained(request, StructuredOutputs(structural_tag=tag, **options))
