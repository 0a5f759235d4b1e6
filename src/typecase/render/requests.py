"""What every render route checks of a request before it renders: the model's name, media kwargs, reused prompt ids."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from typecase.api.chat_messages import has_non_text_content
from typecase.api.errors import InvalidParameter, UnknownModel
from typecase.front import Front

__all__ = ["check_media_kwargs", "check_model", "reused_prompt_ids"]


def check_model(front: Front, name: str | None) -> None:
    """Refuse a model that isn't served here. No name is any name."""
    names = front.options.served_model_names
    if not name or name in names or front.options.skip_model_name_validation:
        return
    raise UnknownModel(f"The model `{name}` does not exist. Valid aliases: {', '.join(names)}.", param="model")


def check_media_kwargs(front: Front, media_io: Mapping[str, Any] | None, processor: Mapping[str, Any] | None) -> None:
    """Refuse settings of media processing from requests, unless the operator trusts them."""
    if front.options.trust_request_mm_kwargs:
        return
    for name, kwargs, what in (
        ("mm_processor_kwargs", processor, "multimodal preprocessing"),
        ("media_io_kwargs", media_io, "multimodal media loading"),
    ):
        if kwargs:
            raise InvalidParameter(
                f"Per-request {name} are disabled by default because they can change {what} resource usage. "
                "Start the server with --trust-request-mm-kwargs only when clients are trusted.",
                name,
            )


def reused_prompt_ids(
    front: Front, transfer: dict[str, Any] | None, *, ignored: bool, messages: Sequence[Any]
) -> tuple[dict[str, Any] | None, array[int] | None]:
    """The prompt ids a prefill stage handed on in ``kv_transfer_params``, and those parameters without them.

    They replace the rendered prompt, but for requests whose messages must be seen (``ignored``: echo) or hold media.
    """
    if not transfer or "prompt_token_ids" not in transfer:
        return transfer, None
    rest = {key: value for key, value in transfer.items() if key != "prompt_token_ids"}
    ids = transfer["prompt_token_ids"]
    if ids is None or ignored or has_non_text_content(messages):
        return rest, None
    where = "kv_transfer_params.prompt_token_ids"
    if not isinstance(ids, list) or not ids or any(type(i) is not int or i < 0 for i in ids):
        raise InvalidParameter(
            "`kv_transfer_params['prompt_token_ids']` must be a non-empty list of non-negative integers.", where
        )
    if max(ids) >= front.vocabulary_size:
        raise InvalidParameter(f"Token id {max(ids)} is out of vocabulary", where)
    return rest, array("I", ids)
