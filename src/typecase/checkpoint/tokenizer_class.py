"""Which tokenizer class transformers takes for a checkpoint.

It matters because some classes don't use tokenizer.json as it is: they take its vocabulary and merges and bring their
own normaliser, pre-tokenizer and special tokens (tokenizer_rebuild.py). The tables and the order of the questions are
those of transformers 5.20, the newest that vLLM 0.33 allows, with vLLM's own list of exceptions; one rule is of
later versions: a byte-level tokenizer.json that calls itself LlamaTokenizer is used as it is, since the class would
make nonsense of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["PLAIN", "resolve_class"]

PLAIN = "TokenizersBackend"  # the class that uses tokenizer.json as it is

# Class -> model types that it is registered for. Encoders and speech models are left out.
_TYPES_BY_CLASS: dict[str, str] = {
    "CohereTokenizer": "aya_vision cohere cohere2",
    "GPT2Tokenizer": (
        "blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 instructblip instructblipvideo jais2 "
        "opt phi starcoder2"
    ),
    "GPTNeoXTokenizer": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "GemmaTokenizer": (
        "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma zaya"
    ),
    "LlamaTokenizer": "idefics idefics2",
    "MistralCommonBackend": "ministral ministral3 mistral mistral3 mixtral pixtral voxtral voxtral_realtime",
    "Qwen2Tokenizer": (
        "audioflamingo3 colqwen2 cosmos3_omni fun_asr_nano hunyuan_vl internvl lighton_ocr "
        "moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl "
        "qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe vibevoice"
    ),
    "Qwen3_5Tokenizer": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
    PLAIN: (
        "EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chameleon chatlm cohere_asr "
        "deepseek_ocr deepseek_ocr2 deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 deepseek_vl "
        "deepseek_vl_hybrid deepseek_vl_v2 ernie4_5 ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite "
        "glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode granite granitemoe granitemoehybrid "
        "granitemoeshared h2ovl_chat hyperclovax hyperclovax_vlm internlm2 jamba janus kimi_k25 kimi_linear "
        "kosmos-2 llava llava_next mimo_v2_flash minicpm3 minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 modernbert "
        "modernbert-decoder molmo molmo2 nemotron nvfp4 nystromformer olmo2 olmo3 olmo_hybrid opencua openvla "
        "paddleocr_vl pegasus_x persimmon phi3 phi3_v phimoe pix2struct smolvlm stablelm step3_vl step3p5 umt5 "
        "unlimited_ocr vipllava xlm-roberta-xl"
    ),
}
_CLASS_BY_TYPE = {name: cls for cls, names in _TYPES_BY_CLASS.items() for name in names.split()}

# Model types whose published tokenizer_class is known to be wrong: the registered class is taken instead
_WRONG_ON_THE_HUB = (
    "arctic camembertv2-base chameleon chatlm cohere_asr deepseek_ocr deepseek_ocr2 deepseek_v2 deepseek_v3 "
    "deepseek_v32 deepseek_v4 deepseek_vl deepseek_vl_hybrid deepseek_vl_v2 ernie4_5 ernie4_5_moe fuyu "
    "h2ovl_chat hyperclovax hyperclovax_vision_v2 hyperclovax_vlm internlm2 jamba janus llava llava_next "
    "minicpm3 minicpmv minimax_m2 modernbert modernbert-decoder molmo molmo2 nemotron nvfp4 opencua openvla "
    "paddleocr_vl phi3 phi3_v phimoe qwen2 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen4_exp siglip2 smolvlm "
    "step3_vl step3p5 unlimited_ocr vipllava"
)
_WRONG = frozenset(_WRONG_ON_THE_HUB.split())
# Model types for which vLLM itself takes the plain class
_PLAIN_IN_VLLM = frozenset(("internlm2", "step3_vl", "step3p7", "step5", "step5_vl", "unlimited-ocr", "unlimited_ocr"))
_PLAIN_NAMES = frozenset((PLAIN, "PreTrainedTokenizer", "PythonBackend", "BloomTokenizer", "MistralCommonBackend"))


def resolve_class(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any], *, byte_level: bool) -> str:
    """The class name without the old ``Fast``. ``byte_level``: does tokenizer.json mention ByteLevel?"""
    kind = config.get("model_type")
    kind = kind if isinstance(kind, str) else ""
    if kind in _PLAIN_IN_VLLM:
        return PLAIN
    registered = _CLASS_BY_TYPE.get(kind)
    declared = _declared(tokenizer_config) or _declared(config)
    if declared is None:
        return _plain(registered or PLAIN)
    if declared == "LlamaTokenizer" and byte_level and registered != "MistralCommonBackend" and kind not in _WRONG:
        return PLAIN
    if registered is None or registered == declared or "auto_map" in tokenizer_config:
        return _plain(declared)
    if registered in _PLAIN_NAMES:
        return PLAIN
    return _plain(registered if kind in _WRONG else declared)


def _declared(config: Mapping[str, Any]) -> str | None:
    name = config.get("tokenizer_class")
    return name.removesuffix("Fast") if isinstance(name, str) and name else None


def _plain(name: str) -> str:
    return PLAIN if name in _PLAIN_NAMES else name
