"""The post-processor that puts a beginning and an end token around a text, as tokenizer.json writes it."""

from __future__ import annotations

from typing import Any

__all__ = ["bos_eos"]


def bos_eos(bos: tuple[str, int] | None, eos: tuple[str, int] | None) -> dict[str, Any] | None:
    """(text, id) of the tokens to put before and after every text; None when there are none.

    >>> bos_eos(None, None) is None
    True
    """
    if bos is None and eos is None:
        return None

    def around(sequence: str, type_id: int) -> list[dict[str, Any]]:
        parts: list[dict[str, Any]] = [{"Sequence": {"id": sequence, "type_id": type_id}}]
        if bos is not None:
            parts.insert(0, {"SpecialToken": {"id": bos[0], "type_id": type_id}})
        if eos is not None:
            parts.append({"SpecialToken": {"id": eos[0], "type_id": type_id}})
        return parts

    return {
        "type": "TemplateProcessing",
        "single": around("A", 0),
        "pair": around("A", 0) + around("B", 1),
        "special_tokens": {
            text: {"id": text, "ids": [token_id], "tokens": [text]} for text, token_id in filter(None, (bos, eos))
        },
    }
