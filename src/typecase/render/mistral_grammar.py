"""The Lark grammar that vLLM 0.33 puts around the output of Mistral's newer tokenizers (tekken from version 11 on).

It holds the answer's whole form, reasoning and tool calls included, so that engines apply it from the first token on.
mistral-common writes it; nothing compiles it here.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from typecase.api.chat import ChatRequest
from typecase.api.errors import RequestError
from typecase.api.structured import StructuredOutputs
from typecase.front import Front
from typecase.text.mistral import MistralBackend

if TYPE_CHECKING:
    from mistral_common.guidance.grammar_factory import GrammarFactory

__all__ = ["MistralGrammar", "with_mistral_grammar"]

_ANY_JSON: dict[str, Any] = {"anyOf": [{"type": "object"}, {"type": "array"}]}
# The library remembers its last 128 grammars; one with a large schema in it is taken out of that memory.
_LONGEST_REMEMBERED = 100_000


class MistralGrammar(StructuredOutputs):
    """A constraint that is such a grammar, and none that the client gave."""


def with_mistral_grammar(front: Front, request: ChatRequest) -> ChatRequest | None:
    """The request with a grammar as its constraint.

    None where there is none: the tokenizer is too old for it, the output isn't parsed by Mistral's format, or the
    client's own constraint is of a kind that a grammar can't take in.

    Raises:
        RequestError: tools or schema can't be put into one.
    """
    backend = front.tokenizer.mistral
    formats = (front.formats.call, front.formats.reasoning)
    if backend is None or not any(f is not None and "mistral" in f.names for f in formats):
        return None
    if not backend.has_grammars or not _fits(request):
        return None
    constraint, answer = request.structured_outputs, request.response_format
    schema: dict[str, Any] | None = None
    if constraint is not None:
        schema = _ANY_JSON if constraint.json_object is not None else _parsed(constraint.json)
    elif answer is not None and answer["type"] != "text":
        schema = _ANY_JSON
        if answer["type"] == "json_schema" and answer.get("json_schema") is not None:
            schema = answer["json_schema"].get("schema")
        request = replace(request, response_format=None)
    return replace(request, structured_outputs=MistralGrammar(grammar=_grammar(backend, request, schema)))


def _fits(request: ChatRequest) -> bool:
    constraint, answer = request.structured_outputs, request.response_format
    if answer is not None and answer["type"] == "structural_tag":
        return False
    return constraint is None or (
        constraint.whitespace_pattern is None and (constraint.json is not None or constraint.json_object is not None)
    )


def _parsed(schema: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if not isinstance(schema, str):
        return schema
    try:
        parsed: dict[str, Any] = json.loads(schema)
    except (ValueError, RecursionError) as error:
        raise RequestError(str(error)) from error
    return parsed


def _grammar(backend: MistralBackend, request: ChatRequest, schema: dict[str, Any] | None) -> str:
    from mistral_common.guidance import grammar_factory

    try:
        grammar = _written(_factory(backend), request, schema)
    except (ValueError, AssertionError, RecursionError) as error:
        raise RequestError(str(error)) from error
    if len(grammar) > _LONGEST_REMEMBERED:
        grammar_factory._cached_get_lark_from_jinja.cache_clear()
    return grammar


def _written(factory: GrammarFactory, request: ChatRequest, schema: dict[str, Any] | None) -> str:
    from mistral_common.protocol.instruct.tool_calls import Tool, ToolChoiceEnum

    template = factory.select_jinja_template()
    choice = request.tool_choice
    if choice == "none" and schema is not None:
        return factory.get_lark_for_json_schema(template=template, json_schema=schema)
    tools = None if request.tools is None else [Tool.from_openai(tool) for tool in request.tools]
    if isinstance(choice, dict):
        # A choice by name is one that must call, among one tool, whose name is in the grammar.
        tools = [tool for tool in tools or () if tool.function.name == choice["function"]["name"]]
    return factory.get_lark_from_jinja(
        template=template,
        mode=ToolChoiceEnum("required" if isinstance(choice, dict) else choice or "auto"),
        tools=tools,
        json_schema=schema,
        parallel_tool_calls=bool(request.parallel_tool_calls),
        json_only=False,
        force_tool_names=isinstance(choice, dict),
    )


@lru_cache(maxsize=8)
def _factory(backend: MistralBackend) -> GrammarFactory:
    from mistral_common.guidance.grammar_factory import GrammarFactory

    class Factory(GrammarFactory):
        """The library's, without the tokenizer for compiling grammars: they are only written here."""

        def __init__(self, tokenizer: Any):
            self._tokenizer = tokenizer
            self._special_token_map = self._build_special_token_map()

    return Factory(backend.common.instruct_tokenizer.tokenizer)
