"""What a request gets for the sampling parameters it leaves out: the checkpoint's generation config and the operator's
overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["SamplingDefaults", "sampling_defaults"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingDefaults:
    """What a request gets for what it leaves out, decided at start.

    ``max_tokens`` stands in for a missing limit, ``max_tokens_cap`` bounds even what was asked for.
    """

    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    max_tokens: int | None = None
    max_tokens_cap: int | None = None
    skip_special_tokens: bool = True


_FLOATS = ("repetition_penalty", "presence_penalty", "frequency_penalty", "temperature", "top_p", "min_p")
_INTS = ("top_k", "max_new_tokens")


def sampling_defaults(
    own: Mapping[str, Any],
    *,
    choice: Literal["auto", "vllm"] | Mapping[str, Any] = "auto",
    overrides: Mapping[str, Any] | None = None,
) -> SamplingDefaults:
    """The defaults that ``--generation-config`` and ``--override-generation-config`` come to.

    Args:
        own: the checkpoint's generation_config.json, ``{}`` if it has none.
        choice: ``auto`` (the checkpoint's), ``vllm`` (none), or the contents of another generation_config.json.
        overrides: merged on top.

    >>> sampling_defaults({"temperature": 0.6, "top_k": 20}, overrides={"temperature": 0}).temperature
    0.0

    Raises ``ValueError`` naming a value that is of the wrong type.
    """
    if isinstance(choice, str):
        base = own if choice == "auto" else {}
    else:
        base = choice
    overrides = overrides or {}
    config = {**base, **overrides}
    given: dict[str, Any] = {name: _number(config, name, float) for name in _FLOATS}
    given |= {name: _number(config, name, int) for name in _INTS}
    limit = given.pop("max_new_tokens")
    given["max_tokens"] = limit
    given["max_tokens_cap"] = _number(overrides, "max_new_tokens", int) if isinstance(choice, str) else limit
    skip = config.get("skip_special_tokens")
    if skip is not None:
        if not isinstance(skip, bool):
            raise ValueError(f"skip_special_tokens must be true or false, got {skip!r}")
        given["skip_special_tokens"] = skip
    return SamplingDefaults(**{name: value for name, value in given.items() if value is not None})


def _number(config: Mapping[str, Any], name: str, kind: type[int] | type[float]) -> Any:
    value = config.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or kind(value) != value:
        raise ValueError(f"{name} must be {'an integer' if kind is int else 'a number'}, got {value!r}")
    return kind(value)
