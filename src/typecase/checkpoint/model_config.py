"""What config.json says about the model as a whole: overrides, context length, text-only or not.

The rules are vLLM 0.33's, which reads the file through the configuration classes of transformers; what those classes
fill in stands in model_facts.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import CheckpointError
from .model_facts import LENGTH_ALIASES, LENGTH_DEFAULTS, MULTIMODAL_ARCHITECTURES, TEXT_CONFIG_PATHS

__all__ = [
    "ASSUMED_LENGTH",
    "apply_overrides",
    "architectures",
    "is_multimodal",
    "max_model_len",
    "model_type",
    "text_config",
]

ASSUMED_LENGTH = 2048  # vLLM's assumption for a config that says nothing about lengths

# All keys that vLLM takes for a context length, in its order
_LENGTH_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "model_max_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
_TEXT_NAMES = ("text_encoder", "decoder", "generator", "text_config", "llm_config")
# RoPE types whose config already states the scaled length
_SCALED_ALREADY = frozenset(("longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling", "telechat3-yarn"))
_PLAIN_OBJECTS = frozenset(("quantization_config", "compression_config", "rope_scaling", "rope_parameters"))
_MEDIA_PARTS = ("vision_config", "audio_config", "vision_tower", "visual", "audio_tower", "thinker_config")


def apply_overrides(config: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with ``--hf-overrides``: plain values replace, objects are merged into the part of that name."""
    result = dict(config)
    if "rope_parameters" in overrides:
        result.pop("rope_scaling", None)  # two names of one setting; the overriding one must win
    for key, value in overrides.items():
        is_part = key not in _PLAIN_OBJECTS and (key.endswith("_config") or key in _TEXT_NAMES)
        result[key] = _merged(result.get(key), value) if is_part else value
    return result


def _merged(old: Any, new: Any) -> Any:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        return new
    return {**old, **{key: _merged(old.get(key), value) for key, value in new.items()}}


def model_type(config: Mapping[str, Any]) -> str | None:
    value = config.get("model_type")
    if value is not None and not isinstance(value, str):
        raise CheckpointError('config.json: "model_type" must be a string')
    return value


def architectures(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The architectures as vLLM resolves them: two text families become multimodal when a vision tower is there."""
    value = config.get("architectures")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise CheckpointError('config.json: "architectures" must be a list of strings')
    if value == ["DeepseekV4ForCausalLM"] and (_number(config, "vision_n_layers") or 0) > 0:
        return ("DeepseekV4ForConditionalGeneration",)
    if config.get("model_type") in ("mimo_v2", "mimo_v2_flash") and config.get("vision_config"):
        return ("MiMoV2OmniForCausalLM",)
    return tuple(value)


def is_multimodal(config: Mapping[str, Any]) -> bool:
    """Does vLLM serve the model with media inputs? Unknown architectures are judged by the parts of the config."""
    names = architectures(config)
    if any(name in MULTIMODAL_ARCHITECTURES for name in names):
        return True
    if any(name.endswith("ForCausalLM") for name in names):
        return False
    return any(isinstance(config.get(part), Mapping) for part in _MEDIA_PARTS)


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a composite config that describes the language model; the config itself when there is none."""
    kind = config.get("model_type")
    path = TEXT_CONFIG_PATHS.get(kind) if isinstance(kind, str) else None
    if path is not None:
        part: Any = config
        for name in path:
            part = part.get(name) if isinstance(part, Mapping) else None
        return part if isinstance(part, Mapping) else config
    for name in _TEXT_NAMES:
        part = config.get(name)
        if isinstance(part, Mapping):
            return part
    return config


def max_model_len(config: Mapping[str, Any]) -> int | None:
    """The context length in tokens; None when nothing tells it (vLLM then assumes ``ASSUMED_LENGTH``)."""
    text = text_config(config)
    kinds = [kind for kind in (text.get("model_type"), config.get("model_type")) if isinstance(kind, str)]
    lengths = _lengths(text, kinds)
    if not lengths:
        return None
    length = lengths.get("model_max_length") or min(lengths.values())
    ropes = _ropes(text)
    if not any("gemma3" in kind for kind in kinds[:1]):
        length *= _scale(ropes)
    if any(_rope_type(rope) == "longrope" for rope in ropes):
        original = _number(text, "original_max_position_embeddings")
        if original is None and any(kind in ("phi3", "phi4_multimodal") for kind in kinds):
            original = 4096
        length = length if original is None else original
    if not 0 < length < 2**53:
        raise CheckpointError(f"config.json: gives a context length of {length}, which is no length")
    return int(length)


def _lengths(text: Mapping[str, Any], kinds: list[str]) -> dict[str, float]:
    """Every length that the config or the defaults of its class state, by key."""
    known = next((kind for kind in kinds if kind in LENGTH_DEFAULTS or kind in LENGTH_ALIASES), "")
    aliases = LENGTH_ALIASES.get(known, {})
    found: dict[str, float] = dict(LENGTH_DEFAULTS.get(known, {}))
    keys = (*_LENGTH_KEYS, *aliases.values())
    for key in keys:
        if key in text:
            found.pop(aliases.get(key, key), None)  # even a null hides the default
    for key in keys:
        value = _number(text, key)
        if value is not None:
            found[aliases.get(key, key)] = value
    return found


def _ropes(text: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The RoPE settings: one, or one for each kind of layer."""
    settings = text.get("rope_scaling") or text.get("rope_parameters")
    if not isinstance(settings, Mapping):
        return []
    if all(value is None or isinstance(value, Mapping) for value in settings.values()):
        return [value for value in settings.values() if value]
    return [settings]


def _rope_type(rope: Mapping[str, Any]) -> str:
    kind = rope.get("rope_type", rope.get("type", "default"))
    return {"su": "longrope", "mrope": "default"}.get(kind, kind) if isinstance(kind, str) else "default"


def _scale(ropes: list[Mapping[str, Any]]) -> float:
    factor = 1.0
    for rope in ropes:
        if _rope_type(rope) not in _SCALED_ALREADY and "factor" in rope:
            given = _number(rope, "factor")
            factor = 1.0 if given is None else given
    return factor


def _number(config: Mapping[str, Any], key: str) -> float | None:
    value = config.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CheckpointError(f'config.json: "{key}" must be a number')
    if not abs(value) <= 2**63:  # NaN is out of every range
        raise CheckpointError(f'config.json: "{key}" is out of range')
    return value
