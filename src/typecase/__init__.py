"""typecase: the front half of an LLM service. Requests into token ids, without a GPU and without torch.

    >>> import typecase
    >>> model = typecase.load("tests/data/tiny")
    >>> rendered = model.render_chat({"messages": [{"role": "user", "content": "Hello"}]})
    >>> model.detokenize({"tokens": rendered.token_ids.tolist()}).prompt[-10:]
    'assistant\\n'

The names below are stable; see docs/library.md. They are loaded when first used, so that ``import typecase`` costs
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typecase.api.chat import ChatRequest
    from typecase.api.completions import CompletionRequest
    from typecase.api.errors import RequestError
    from typecase.api.generate import GenerateRequest, SamplingParams
    from typecase.api.messages import CountTokensRequest, MessagesRequest
    from typecase.api.responses import ResponsesRequest
    from typecase.checkpoint.checkpoint import CheckpointError
    from typecase.model import Model, load
    from typecase.prompt.budget import Budget

__version__ = "0.1.0"

__all__ = [
    "Budget",
    "ChatRequest",
    "CheckpointError",
    "CompletionRequest",
    "CountTokensRequest",
    "GenerateRequest",
    "MessagesRequest",
    "Model",
    "RequestError",
    "ResponsesRequest",
    "SamplingParams",
    "load",
]

_HOMES = {
    "Budget": "typecase.prompt.budget",
    "ChatRequest": "typecase.api.chat",
    "CheckpointError": "typecase.checkpoint.checkpoint",
    "CompletionRequest": "typecase.api.completions",
    "CountTokensRequest": "typecase.api.messages",
    "GenerateRequest": "typecase.api.generate",
    "MessagesRequest": "typecase.api.messages",
    "Model": "typecase.model",
    "RequestError": "typecase.api.errors",
    "ResponsesRequest": "typecase.api.responses",
    "SamplingParams": "typecase.api.generate",
    "load": "typecase.model",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'typecase' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
