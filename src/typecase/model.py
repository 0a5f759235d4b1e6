"""``Model``: a checkpoint ready for requests. The library's face, and what the server holds.

    import typecase
    model = typecase.load("path/to/checkpoint")
    rendered = model.render_chat({"messages": [{"role": "user", "content": "Hello"}]})
    rendered.token_ids            # array("I")

Everything here is synchronous: no event loop, no server, no network once loaded.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from typecase.api.chat import ChatRequest
from typecase.api.completions import CompletionRequest, decode_completion
from typecase.api.decode import Readable, decode_request
from typecase.api.generate import GenerateRequest, encode_generate_request, encode_generate_requests
from typecase.api.messages import CountTokensRequest, CountTokensResponse, MessagesRequest
from typecase.api.responses import ResponsesRequest
from typecase.api.tokenize import (
    DetokenizeRequest,
    DetokenizeResponse,
    TokenizeRequest,
    TokenizeResponse,
    decode_tokenize,
)
from typecase.checkpoint.checkpoint import CheckpointError
from typecase.front import Front, FrontOptions
from typecase.loading.sources import Source, load_checkpoint
from typecase.prompt.budget import Budget
from typecase.render.chat import render_chat
from typecase.render.completions import render_completions
from typecase.render.message_rules import MessageRules
from typecase.render.messages import count_tokens, render_messages
from typecase.render.responses import render_responses
from typecase.render.tokenize import detokenize, tokenize
from typecase.text.backends import UnloadableTokenizer
from typecase.text.tokenizer import load_mistral_tokenizer, load_tokenizer

__all__ = ["Model", "load", "load_model"]

Request = TypeVar("Request", bound=Readable)


class Model:
    """One checkpoint under its served names. Safe to use from several threads.

    Requests may be given as JSON (``bytes``), as a mapping of JSON values, or as the request type itself; all but the
    last are checked like requests on the wire. Every method raises ``typecase.RequestError`` for a request that can't
    be served.
    """

    def __init__(self, front: Front, *, root: str):
        self.front = front
        self.root = root
        self._message_rules = MessageRules(front)

    @property
    def names(self) -> tuple[str, ...]:
        """The names requests may give as ``model``; the first is the usual one."""
        return self.front.options.served_model_names

    @property
    def max_model_len(self) -> int:
        """The context in tokens."""
        return self.front.max_model_len

    def render_chat(
        self,
        request: ChatRequest | Mapping[str, Any] | bytes,
        *,
        request_id: str | None = None,
        now: datetime | None = None,
        budget: Budget | None = None,
    ) -> GenerateRequest:
        """Render a chat completion request (vLLM's ``POST /v1/chat/completions/render``).

        Args:
            request: what to render.
            request_id: the id, without ``chatcmpl-``; default: the request's own, or 16 random hex digits.
            now: what time templates see; default: the time of the call.
            budget: bounds on the template's work; default: none.
        """
        chat = self._decoded(ChatRequest, request)
        return render_chat(
            self.front,
            chat,
            request_id=_chosen(request_id, chat.request_id),
            now=_clock(now),
            budget=budget,
        )

    def render_completions(
        self, request: CompletionRequest | Mapping[str, Any] | bytes, *, request_id: str | None = None
    ) -> list[GenerateRequest]:
        """Render a completion request, prompt by prompt (vLLM's ``POST /v1/completions/render``).

        Args:
            request: what to render.
            request_id: the id, without ``cmpl-`` and the prompt's number; default: the request's own, or 16 random hex
                digits.
        """
        if isinstance(request, Mapping | bytes):
            request = decode_completion(request, limits=self.front.options.limits)
        return render_completions(self.front, request, request_id=_chosen(request_id, request.request_id))

    def render_messages(
        self,
        request: MessagesRequest | Mapping[str, Any] | bytes,
        *,
        request_id: str | None = None,
        now: datetime | None = None,
        budget: Budget | None = None,
    ) -> GenerateRequest:
        """Render a request of Anthropic's Messages API (vLLM's ``POST /v1/messages/render``).

        The arguments are those of ``render_chat``; a request brings no id of its own.
        """
        return render_messages(
            self._message_rules,
            self._decoded(MessagesRequest, request),
            request_id=_chosen(request_id),
            now=_clock(now),
            budget=budget,
        )

    def count_tokens(
        self,
        request: CountTokensRequest | Mapping[str, Any] | bytes,
        *,
        now: datetime | None = None,
        budget: Budget | None = None,
    ) -> CountTokensResponse:
        """The length of a Messages request's prompt (``POST /v1/messages/count_tokens``)."""
        asked = self._decoded(CountTokensRequest, request)
        return count_tokens(self._message_rules, asked, now=_clock(now), budget=budget)

    def render_responses(
        self,
        request: ResponsesRequest | Mapping[str, Any] | bytes,
        *,
        now: datetime | None = None,
        budget: Budget | None = None,
    ) -> GenerateRequest:
        """Render a Responses request (vLLM's ``POST /v1/responses/render``).

        Its id is the request's own, or ``resp_`` and 16 random hex digits.
        """
        asked = self._decoded(ResponsesRequest, request)
        request_id = asked.request_id
        if request_id is None:
            request_id = f"resp_{_chosen()}"
        return render_responses(self.front, asked, request_id=request_id, now=_clock(now), budget=budget)

    def tokenize(
        self, request: TokenizeRequest | Mapping[str, Any] | bytes, *, budget: Budget | None = None
    ) -> TokenizeResponse:
        """The ids of a text (``prompt``) or of a chat (``messages``); vLLM's ``POST /tokenize``."""
        asked = decode_tokenize(request) if isinstance(request, Mapping | bytes) else request
        return tokenize(self.front, asked, now=_clock(None), budget=budget)

    def detokenize(self, request: DetokenizeRequest | Mapping[str, Any] | bytes) -> DetokenizeResponse:
        """The text of ids (``tokens``); vLLM's ``POST /detokenize``."""
        return detokenize(self.front, self._decoded(DetokenizeRequest, request))

    def tokenizer_info(self) -> dict[str, Any]:
        """What vLLM's ``/tokenizer_info`` shows: the tokenizer's settings and the name of its class."""
        facts = self.front.checkpoint.tokenizer
        settings = {k: v for k, v in self.front.checkpoint.tokenizer_config.items() if k != "chat_template"}
        # vLLM puts a class of its own around those of transformers; Mistral's is its own already.
        kind = facts.class_name if self.front.tokenizer.mistral is not None else f"Cached{facts.class_name}"
        info = {**settings, "tokenizer_class": kind}
        if self.front.options.chat_template is not None:
            info["chat_template"] = self.front.options.chat_template
        return info

    def warm_up(self) -> None:
        """Build what the libraries build lazily, so that it doesn't cost the first request."""
        self.front.tokenizer.warm_up()
        self.front.template(None, has_tools=False)
        self._message_rules.warm_up()

    # The same from body to body, for the server's routes.

    def render_chat_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        """``render_chat`` from a JSON body to a JSON body."""
        return encode_generate_request(self.render_chat(body, request_id=request_id, budget=budget))

    def render_completions_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        """``render_completions`` from a JSON body to a JSON body. There is no template, and so no budget to keep."""
        return encode_generate_requests(self.render_completions(body, request_id=request_id))

    def render_messages_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        """``render_messages`` from a JSON body to a JSON body."""
        return encode_generate_request(self.render_messages(body, request_id=request_id, budget=budget))

    def count_tokens_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        """``count_tokens`` from a JSON body to a JSON body."""
        return msgspec.json.encode(self.count_tokens(body, budget=budget))

    def render_responses_bytes(
        self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None
    ) -> bytes:
        """``render_responses`` from a JSON body to a JSON body. The header's id is not used here, as in vLLM."""
        return encode_generate_request(self.render_responses(body, budget=budget))

    def tokenize_bytes(self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None) -> bytes:
        """``tokenize`` from a JSON body to a JSON body."""
        return msgspec.json.encode(self.tokenize(body, budget=budget))

    def detokenize_bytes(self, body: bytes, /, *, request_id: str | None = None, budget: Budget | None = None) -> bytes:
        """``detokenize`` from a JSON body to a JSON body."""
        return msgspec.json.encode(self.detokenize(body))

    def _decoded(self, cls: type[Request], request: Request | Mapping[str, Any] | bytes) -> Request:
        if isinstance(request, Mapping | bytes):
            return decode_request(cls, request, limits=self.front.options.limits)
        if not isinstance(request, cls):
            raise TypeError(f"a request is bytes, a mapping or a {cls.__name__}, not {type(request).__name__}")
        return request


def load_model(source: Source, options: FrontOptions) -> Model:
    """Read a checkpoint and make it ready.

    Raises:
        CheckpointError: it can't be read; one line that says which file is missing or wrong and what to do.
    """
    checkpoint = load_checkpoint(source)
    try:
        if checkpoint.mistral_tokenizer is not None:
            tokenizer = load_mistral_tokenizer(checkpoint.mistral_tokenizer)
        else:
            tokenizer = load_tokenizer(checkpoint.tokenizer_json, cache_bytes=int(options.tokenizer_cache_mb * 2**20))
    except UnloadableTokenizer as error:
        raise CheckpointError(f"tokenizer.json can't be used: {' '.join(str(error).split())}") from error
    if not options.served_model_names:
        options = replace(options, served_model_names=(source.model,))
    return Model(Front(checkpoint, tokenizer, options), root=source.model)


def load(model: str | os.PathLike[str], **settings: Any) -> Model:
    """Load a model directory, a hub id or a GGUF file.

    Args:
        model: its path or id.
        settings: fields of ``Source`` (``revision``, ``tokenizer``, ``hf_overrides``...) and of ``FrontOptions``
            (``max_model_len``, ``chat_template``: its text, ``served_model_names``, ``enable_auto_tool_choice`` with
            ``tool_call_parser``, ``reasoning_parser``...), by name.

    Raises:
        CheckpointError: it can't be read, or a parser doesn't fit it.
        TypeError, ValueError: a setting that doesn't exist or can't be.
    """
    of_source = {f.name for f in fields(Source)}
    of_front = {f.name for f in fields(FrontOptions)}
    for name in settings:
        if name not in of_source | of_front:
            raise TypeError(f"load() got an unexpected setting {name!r}")
    _check_settings(settings)
    source = Source(model=os.fspath(model), **{k: v for k, v in settings.items() if k in of_source})
    options = FrontOptions(**{k: v for k, v in settings.items() if k in of_front})
    return load_model(source, options)


def _check_settings(settings: dict[str, Any]) -> None:
    """Refuse what a command line couldn't say and what would only show in odd answers later."""
    names = settings.get("served_model_names", ())
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"served_model_names must be a tuple of names, got {names!r}")
    length = settings.get("max_model_len")
    if length is not None and (type(length) is not int or length < 1):
        raise ValueError(f"max_model_len must be a number of tokens, got {length!r}")
    template = settings.get("chat_template")
    if template is not None and not any(sign in template for sign in "{}\n") and _PATH.search(template):
        raise ValueError(f"chat_template is the template's text, not a path: got {template!r}")


_PATH = re.compile(r"[/\\]|\.(jinja2?|txt)$")

# Ids have to differ, not to be secret: a generator of our own is seeded once, and anew in a forked worker.
_ids = random.Random()
os.register_at_fork(after_in_child=_ids.seed)


def _chosen(*given: str | None) -> str:
    """The first id that was given (an empty one is given, too), else 16 random hex digits."""
    for value in given:
        if value is not None:
            return value
    return f"{_ids.getrandbits(64):016x}"


def _clock(now: datetime | None) -> Callable[[], datetime]:
    return datetime.now if now is None else lambda: now
