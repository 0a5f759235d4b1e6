"""params.json, the configuration of Mistral's own format, in the words of a config.json.

vLLM 0.33 reads it where Mistral's weights lie beside it, and fills in from config.json what it doesn't say. Only what
the front of a service needs is translated: lengths, RoPE settings, the architecture, what media there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatch
from typing import Any

from .errors import CheckpointError
from .json_files import read_object
from .mistral_files import MISTRAL_WEIGHTS

__all__ = ["PARAMS", "config_from_params", "is_mistral_format"]

PARAMS = "params.json"
_DEFAULT_LENGTH = 128_000


def is_mistral_format(names: Collection[str], *, wanted: str = "auto", has_weights: bool | None = None) -> bool:
    """Whether the configuration is read from params.json.

    Args:
        names: the files of the checkpoint.
        wanted: ``--config-format``; unless it says ``hf`` or ``mistral``, it depends on the files.
        has_weights: whether there are weights in Mistral's naming, where ``names`` doesn't have all files.
    """
    if wanted in ("hf", "mistral"):
        return wanted == "mistral"
    if has_weights is None:
        has_weights = any(fnmatch(name, MISTRAL_WEIGHTS) for name in names)
    return has_weights and PARAMS in names


def config_from_params(data: bytes, config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The configuration that params.json stands for.

    Args:
        data: the file.
        config: the checkpoint's config.json, if it has one.

    Raises:
        CheckpointError: it isn't JSON, or has something of another kind than it must be.
    """
    params = read_object(PARAMS, data)
    result = dict(params)
    result["model_type"] = params.get("model_type", "transformer")
    length = params.get("max_position_embeddings")
    if length is None:
        length = (config or {}).get("max_position_embeddings") or _DEFAULT_LENGTH
    result["max_position_embeddings"] = length
    result.setdefault("max_seq_len", length)
    moe = _part(params, "moe")
    result["architectures"] = ["MixtralForCausalLM" if moe else "MistralForCausalLM"]
    if params.get("model_type") == "mamba":
        result["architectures"] = ["Mamba2ForCausalLM"]
    elif moe.get("num_shared_experts"):
        result["architectures"] = ["MistralLarge3ForCausalLM"]
        result["model_type"] = "deepseek_v3"
    if _part(params, "yarn"):
        result["rope_parameters"] = {"rope_type": "yarn"}
    return {**(config or {}), **_with_media(result, params)}


def _with_media(result: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """The text model's configuration, or one around it for a model that takes pictures or audio."""
    multimodal = _part(params, "multimodal")
    whisper = _part(multimodal, "whisper_model_args")
    if multimodal.get("vision_encoder_args") or params.get("vision_encoder"):
        result.pop("vision_encoder", None)
        vision = multimodal or _part(params, "vision_encoder")
        return {
            "model_type": "pixtral",
            "architectures": ["PixtralForConditionalGeneration"],
            "text_config": result,
            "vision_config": vision,
        }
    encoder = _part(whisper, "encoder_args")
    if encoder:
        realtime = bool(encoder.get("causal"))
        return {
            "model_type": "voxtral",
            "architectures": ["VoxtralRealtimeGeneration" if realtime else "VoxtralForConditionalGeneration"],
            "text_config": result,
            "audio_config": encoder,
        }
    return result


def _part(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = settings.get(name)
    if part is None:
        return {}
    if not isinstance(part, Mapping):
        raise CheckpointError(f'{PARAMS}: "{name}" must be an object')
    return part
