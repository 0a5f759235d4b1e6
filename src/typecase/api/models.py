"""The answer of ``/v1/models``."""

from __future__ import annotations

__all__ = ["ModelCard", "ModelList", "ModelPermission"]

from typing import Literal

import msgspec


class ModelPermission(msgspec.Struct, kw_only=True):
    """What OpenAI once said about a model. ``id`` (``modelperm-...``) and ``created`` are fresh in every answer."""

    id: str
    object: Literal["model_permission"] = "model_permission"
    created: int
    allow_create_engine: bool = False
    allow_sampling: bool = True
    allow_logprobs: bool = True
    allow_search_indices: bool = False
    allow_view: bool = True
    allow_fine_tuning: bool = False
    organization: str = "*"
    group: str | None = None
    is_blocking: bool = False


class ModelCard(msgspec.Struct, kw_only=True):
    """One served name. ``owned_by`` is what vLLM says, since clients look for it."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "vllm"
    root: str | None = None
    parent: str | None = None
    max_model_len: int | None = None
    permission: list[ModelPermission] = msgspec.field(default_factory=list)


class ModelList(msgspec.Struct, kw_only=True):
    """All served names."""

    object: Literal["list"] = "list"
    data: list[ModelCard] = msgspec.field(default_factory=list)
