"""What an engine is told about a prompt's reasoning: has it ended, and the template kwargs to judge by."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from typecase.api.chat import ChatRequest
from typecase.api.generate import ReasoningParserKwargs
from typecase.front import Front
from typecase.render.mistral_grammar import MistralGrammar

__all__ = ["reasoning_ended", "reasoning_parser_kwargs"]


def reasoning_ended(front: Front, request: ChatRequest, ids: array[int], kwargs: Mapping[str, Any]) -> bool | None:
    """Whether constraints hold from the first token on; None leaves it to the engine."""
    if not request.include_reasoning or isinstance(request.structured_outputs, MistralGrammar):
        return True
    return None if front.prompt_state is None else front.prompt_state.ended(ids, kwargs)


def reasoning_parser_kwargs(front: Front, kwargs: Mapping[str, Any], *, judged: bool) -> ReasoningParserKwargs | None:
    """The effective template kwargs, for servers with a reasoning format.

    ``judged``: vLLM has looked at the prompt's reasoning (chat). Its Holo2 parser then leaves its default in them.
    """
    reasoning = front.formats.reasoning
    if reasoning is None:
        return None
    shown = dict(kwargs)
    if judged and "kwargs_shown" in reasoning.quirks:
        keys = reasoning.switch.keys
        if all(shown.get(key) is None for key in keys):
            shown |= dict.fromkeys(keys, reasoning.switch.default)
    return ReasoningParserKwargs(chat_template_kwargs=shown)
