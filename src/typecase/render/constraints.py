"""``response_format`` and ``structured_outputs`` -> the one constraint an engine gets, by vLLM's rules.

The schemas, regexes and grammars in it are passed on unread.
"""

from __future__ import annotations

__all__ = ["chat_constraint", "responses_constraint"]

import json
from typing import Any

import msgspec

from typecase.api.chat import ChatRequest
from typecase.api.completions import CompletionRequest
from typecase.api.errors import InvalidParameter
from typecase.api.responses import ResponsesRequest
from typecase.api.structured import StructuredOutputs


def chat_constraint(request: ChatRequest | CompletionRequest) -> StructuredOutputs | None:
    """The constraint of a chat or a completion. ``response_format`` is set over ``structured_outputs``; two
    constraints are refused."""
    response_format = request.response_format
    kind = "text" if response_format is None else response_format["type"]
    if response_format is None or kind == "text":
        return request.structured_outputs
    if kind == "json_object":
        return _over(request.structured_outputs, {"json_object": True})
    if kind == "json_schema":
        # Name, description and strictness play no part; without a schema there is no constraint, which is refused.
        return _over(request.structured_outputs, {"json": response_format["json_schema"]["schema"]})
    return _over(request.structured_outputs, {"structural_tag": json.dumps(response_format)})


def responses_constraint(request: ResponsesRequest) -> StructuredOutputs | None:
    """The constraint of a Responses request: ``text.format`` or ``structured_outputs``, not both."""
    text_format = None if request.text is None else request.text["format"]
    if text_format is None:
        return request.structured_outputs
    if request.structured_outputs is not None:
        raise InvalidParameter("Cannot specify both structured_outputs and text.format", "structured_outputs")
    if text_format["type"] == "json_object":
        return StructuredOutputs(json_object=True)
    if text_format["type"] == "json_schema":
        return StructuredOutputs(json=text_format["schema"])
    return None


def _over(given: StructuredOutputs | None, constraint: dict[str, Any]) -> StructuredOutputs:
    if given is None:
        return StructuredOutputs(**constraint)
    return StructuredOutputs(**(msgspec.structs.asdict(given) | constraint))
