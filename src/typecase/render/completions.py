"""``/v1/completions/render``: a completion request -> one ``GenerateRequest`` for each of its prompts.

No template and no parser has a say here: a text is encoded as it stands, ids are taken as they are. The order of the
steps is vLLM's, because it decides which of several faults is told: what can be said of the lengths of all texts comes
before any of them is encoded, and only then comes what is wrong with the request's sampling.
"""

from __future__ import annotations

from array import array
from typing import cast

from typecase.api.completions import CompletionRequest, Prompt
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.generate import GenerateRequest
from typecase.front import Front
from typecase.prompt.writers.writer import MiddleWriter
from typecase.render.length import Encoded, Tokenization
from typecase.render.requests import check_media_kwargs, check_model
from typecase.render.sampling import check_requested_tokens, resolve_sampling
from typecase.render.surrogates import refusing_surrogates

__all__ = ["render_completions"]

_LARGEST_ID = 2**32 - 1  # of an id that a tokenizer can decode
_LARGEST_NUMBER = 2**64 - 1  # that an engine's wire format can carry


def render_completions(front: Front, request: CompletionRequest, *, request_id: str) -> list[GenerateRequest]:
    """Render a completion request, prompt by prompt.

    Args:
        front: the model.
        request: decoded and checked.
        request_id: the id without its prefix; the answer's is ``cmpl-`` + this, with ``-0``, ``-1``... at its end if
            there are several prompts.

    Raises:
        RequestError: whatever vLLM's route refuses, with its status, type and param.

    Source: vLLM 0.33, ``POST /v1/completions/render``.
    """
    check_model(front, request.model)
    if request.use_beam_search:
        raise RequestError("Beam search is not supported by the render endpoint")
    prompt = request.prompt if request.suffix is None else _around_the_middle(front, request, request.suffix)
    if request.prompt_embeds is not None:
        if request.echo:
            raise RequestError("Echo is unsupported with prompt embeds.")
        if request.prompt_logprobs is not None:
            raise RequestError("prompt_logprobs is not compatible with prompt embeds.")
    check_media_kwargs(front, request.media_io_kwargs, request.mm_processor_kwargs)
    tokenization = _tokenization(front, request)
    if request.prompt_embeds is not None and request.prompt_embeds != []:
        raise InvalidParameter("You must set `--enable-prompt-embeds` to input `prompt_embeds`.", "prompt_embeds")
    encoded = _encode(front, request, prompt, tokenization)
    ids = [f"cmpl-{request_id}"] if len(encoded) == 1 else [f"cmpl-{request_id}-{i}" for i in range(len(encoded))]
    return [_rendered(front, request, one, name) for one, name in zip(encoded, ids, strict=True)]


def _around_the_middle(front: Front, request: CompletionRequest, suffix: str) -> str | list[str]:
    """The prompts of a request whose output shall stand between them and ``suffix``."""
    prompt = request.prompt
    texts = [prompt] if isinstance(prompt, str) else prompt
    if request.echo:
        refusal = "Echo is unsupported with suffix."
    elif request.prompt_embeds is not None:
        refusal = "suffix is not supported with prompt_embeds"
    elif request.truncate_prompt_tokens is not None:
        refusal = "suffix is not supported with truncate_prompt_tokens"
    elif texts is None or not all(isinstance(text, str) for text in texts):
        refusal = "suffix requires text prompt input for FIM completion rendering"
    elif isinstance(front.writer, MiddleWriter):
        written = [front.writer.write_middle(text, suffix) for text in texts]
        return written[0] if isinstance(prompt, str) else written
    elif not texts:
        return []
    else:
        refusal = "suffix is only supported for models with FIM completion rendering"
    raise RequestError(refusal, param="suffix")


def _tokenization(front: Front, request: CompletionRequest) -> Tokenization:
    """The request's token limits, checked before anything is encoded."""
    check_requested_tokens(request, front.max_model_len)
    tokenization = Tokenization(
        max_model_len=front.max_model_len,
        truncate=request.truncate_prompt_tokens,
        side=request.truncation_side,
        add_special_tokens=request.add_special_tokens,
        offsets=front.has_offsets and bool(request.return_token_offsets),
        generates=request.max_tokens != 0,
    )
    tokenization.check()
    return tokenization


def _encode(
    front: Front, request: CompletionRequest, prompt: Prompt | None, tokenization: Tokenization
) -> list[Encoded]:
    if not prompt:  # the empty text was refused with the body
        raise InvalidParameter("You must pass at least one prompt", "prompt")
    if not isinstance(prompt, str) and not isinstance(prompt[0], str):
        return _encode_ids(request, prompt, tokenization)
    texts = [prompt] if isinstance(prompt, str) else prompt
    if len(texts) > 1:
        for text in texts:
            tokenization.check_characters(front.tokenizer, text)
    with refusing_surrogates(prompt=request.prompt, suffix=request.suffix):
        return [tokenization.encode(front.tokenizer, text) for text in texts]


def _encode_ids(
    request: CompletionRequest, prompt: list[int] | list[list[int]], tokenization: Tokenization
) -> list[Encoded]:
    """Ids that came as such. Any number is as good as another here: it is the engine that knows its vocabulary."""
    several = isinstance(prompt[0], list)
    prompts = cast("list[list[int]]", prompt if several else [prompt])
    kept = [
        tokenization.fit_ids(_flat(ids, f"body.prompt.{i}" if several else "body.prompt"))
        for i, ids in enumerate(prompts)
    ]
    if request.echo and not request.return_token_ids:
        # vLLM decodes them for its log; all that comes of it is what can't be decoded.
        for i, ids in enumerate(kept):
            if ids.typecode != "I":
                where = f"body.prompt.{i}" if several else "body.prompt"
                raise RequestError(f"{where} holds {max(ids)}: a token id that is echoed is at most {_LARGEST_ID}")
    return [Encoded(ids) for ids in kept]


def _flat(ids: list[int], where: str) -> array[int]:
    """Ids as the flat array that the core works on, with room for those that no tokenizer has."""
    try:
        return array("I", ids)
    except OverflowError:
        pass
    try:
        return array("Q", ids)
    except OverflowError:
        raise RequestError(f"{where} holds {max(ids)}: a token id is at most {_LARGEST_NUMBER}") from None


def _rendered(front: Front, request: CompletionRequest, encoded: Encoded, request_id: str) -> GenerateRequest:
    if not encoded.ids:
        raise RequestError("No token_ids rendered")
    return GenerateRequest(
        request_id=request_id,
        token_ids=encoded.ids,
        token_offsets=encoded.offsets,
        sampling_params=resolve_sampling(
            request,
            defaults=front.sampling_defaults,
            max_model_len=front.max_model_len,
            prompt_len=len(encoded.ids),
            limits=front.options.limits,
        ),
        model=request.model,
        return_token_ids=request.return_token_ids,
        stream=bool(request.stream),
        stream_options=request.stream_options if request.stream else None,
        cache_salt=request.cache_salt,
        priority=request.priority,
        kv_transfer_params=request.kv_transfer_params or None,
        ec_transfer_params=request.ec_transfer_params or None,
    )
