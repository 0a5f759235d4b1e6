"""Messages -> prompt ids, for every API that ends in a chat template or a writer: chat, Responses, ``/tokenize``."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from typecase.api.errors import InvalidParameter, RequestError
from typecase.front import Front
from typecase.prompt.budget import Budget
from typecase.prompt.conversation import fold_developer_messages, normalise_messages
from typecase.prompt.writers.writer import Conversation, Writer
from typecase.render.length import Encoded, Tokenization

__all__ = ["check_template_trust", "effort_kwargs", "encode_conversation", "merge_kwargs"]

_NO_TEMPLATE = (
    "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the "
    "tokenizer does not define one."
)
_UNTRUSTED_TEMPLATE = (
    "Chat template is passed with request, but --trust-request-chat-template is not set. "
    "Refused request with untrusted chat template."
)
# Names that the template call itself uses: in template kwargs they would be given twice.
_RESERVED = frozenset({"model_config", "tokenizer", "conversation"})


def merge_kwargs(defaults: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Template kwargs, the later ones winning. Keys keep their place; None and ``"auto"`` mean "not given"."""
    merged = dict(defaults)
    for name, value in overrides.items():
        if value is not None and value != "auto":
            merged[name] = value
    return merged


def effort_kwargs(front: Front, effort: str | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """What a reasoning effort says to a template: the word, mapped, and unless the request says, whether to think."""
    if effort is None:
        return {}
    effort = front.options.reasoning_effort_map.get(effort, effort)
    if "enable_thinking" in own:
        return {"reasoning_effort": effort}
    return {"reasoning_effort": effort, "enable_thinking": effort != "none"}


def check_template_trust(front: Front, template: str | None, kwargs: Mapping[str, Any] | None) -> None:
    """Refuse a request that brings a template of its own, unless the operator trusts them."""
    if front.options.trust_request_chat_template:
        return
    if template is not None or (kwargs and kwargs.get("chat_template") is not None):
        raise RequestError(_UNTRUSTED_TEMPLATE)


def encode_conversation(
    front: Front,
    tokenization: Tokenization,
    messages: Sequence[dict[str, Any]],
    *,
    tools: list[dict[str, Any]] | None,
    template: str | None,
    kwargs: Mapping[str, Any],
    now: Callable[[], datetime],
    budget: Budget | None,
    typed_parts: bool = True,
) -> Encoded:
    """The ids of a conversation: its family's writer, or the template over the normalised messages.

    Args:
        tokenization: the request's token limits.
        messages: checked request messages.
        tools: tool definitions for the template; None for none (an empty list is something else to some templates).
            They stand over the server's template kwarg of that name, and the request's own over them.
        template: a trusted request's own template, or the name of one of the checkpoint's.
        kwargs: the effective template kwargs, ``add_generation_prompt`` and such included.
        now: the clock of ``strftime_now``.
        budget: bounds on the template's work; None for none.
        typed_parts: see ``normalise_messages``.

    Raises:
        RequestError: parts that can't be used, no template, what the template itself says, or too long a prompt.
        UnicodeEncodeError: a lone surrogate in the prompt.
    """
    variables = dict(kwargs)
    if tools is not None and variables.get("tools") is front.template_kwargs.get("tools"):
        variables["tools"] = tools
    if front.writer is not None:
        text = _written(front, front.writer, messages, variables, now=now, typed_parts=typed_parts)
    else:
        text = _templated(front, messages, variables, template, now=now, budget=budget, typed_parts=typed_parts)
    if isinstance(text, str):
        if front.writer is None and _asks_for_ids(front, variables):
            return Encoded(tokenization.fit_ids(front.tokenizer.encode(text, add_special_tokens=False)))
        return tokenization.encode(front.tokenizer, text)
    return Encoded(tokenization.fit_ids(text))


def _asks_for_ids(front: Front, variables: Mapping[str, Any]) -> bool:
    """Whether the request's own kwargs have the template call tokenize: then no special tokens are added to the prompt.

    vLLM sets this kwarg itself, over the server's and under the request's.
    """
    return bool(variables.get("tokenize")) and variables["tokenize"] is not front.template_kwargs.get("tokenize")


def _written(
    front: Front,
    writer: Writer,
    messages: Sequence[dict[str, Any]],
    variables: dict[str, Any],
    *,
    now: Callable[[], datetime],
    typed_parts: bool,
) -> str | array[int]:
    conversation = normalise_messages(
        messages,
        content_format=writer.content_format,
        media_refusal=_media_refusal(front),
        typed_parts=typed_parts,
    )
    tools = variables.pop("tools", None)
    return writer.write(Conversation(messages=conversation, raw=messages, tools=tools, kwargs=variables, now=now))


def _templated(
    front: Front,
    messages: Sequence[dict[str, Any]],
    variables: dict[str, Any],
    template: str | None,
    *,
    now: Callable[[], datetime],
    budget: Budget | None,
    typed_parts: bool,
) -> str:
    own = variables.pop("chat_template", None)
    if not _RESERVED.isdisjoint(variables):
        name = next(iter(_RESERVED & variables.keys()))
        raise InvalidParameter(f"chat_template_kwargs can't hold {name!r}", "chat_template_kwargs")
    _check_kinds(variables, own)
    asked = template or front.options.chat_template or own
    chosen = front.template(asked, has_tools=variables.get("tools") is not None)
    conversation = normalise_messages(
        messages,
        content_format=chosen.content_format if chosen else "string",
        media_refusal=_media_refusal(front),
        typed_parts=typed_parts,
    )
    if chosen is None:
        raise RequestError(_NO_TEMPLATE)
    if not chosen.knows_developer:
        conversation = fold_developer_messages(conversation)
    accepted = chosen.chat.accepted
    shown: dict[str, Any] = {**front.checkpoint.special_tokens}
    for name, value in variables.items():
        if name in accepted:
            shown[name] = value
    return chosen.chat.render(
        conversation,
        tools=shown.pop("tools", None),
        documents=shown.pop("documents", None),
        add_generation_prompt=shown.pop("add_generation_prompt", False),
        continue_final_message=shown.pop("continue_final_message", False),
        variables=shown,
        now=now,
        budget=budget,
    )


def _check_kinds(variables: Mapping[str, Any], template: Any) -> None:
    """Refuse template kwargs that stand in for fields of the request and are of no kind these can have."""
    for name in ("tools", "documents"):
        value = variables.get(name)
        if not isinstance(value, list | dict | str | None):
            raise RequestError(f"chat_template_kwargs.{name} must be a list, got {type(value).__name__}")
    if not isinstance(template, str | None):
        raise RequestError(f"chat_template_kwargs.chat_template must be a string, got {type(template).__name__}")


def _media_refusal(front: Front) -> str:
    if front.checkpoint.is_multimodal:
        return "images, audio and video are not supported by this version of typecase; send text parts only"
    return f"{front.options.served_model_names[0]} is not a multimodal model"
