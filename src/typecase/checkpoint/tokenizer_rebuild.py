"""Tokenizer classes of transformers that replace parts of tokenizer.json, as data.

Such a class takes vocabulary, merges and the post-processor from the file and sets the rest itself, so a file whose
pre-tokenizer differs gives other ids than it says (SmolLM2 calls itself GPT2Tokenizer and loses its splitting of
digits). vLLM's ids come from these objects, hence ours too. Components are written as tokenizer.json writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["KNOWN_OTHERS", "MISTRAL_PATTERN", "REBUILDS", "Rebuild", "Settings"]

Settings = Mapping[str, Any]
Component = dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Rebuild:
    """How a class makes a tokenizer. The functions are given tokenizer_config.json."""

    special: Mapping[str, str | None]  # named tokens it sets when the configuration doesn't mention them
    pre_tokenizer: Callable[[Settings], Component]
    decoder: Callable[[Settings], Component]
    normalizer: Component = None
    model: Mapping[str, Any] = field(default_factory=dict)  # flags of the BPE model
    unk_in_model: bool = False
    keeps_post_processor: bool = True
    adds_bos: bool = False
    marks: str = ""  # "plain": all specials get plain flags; "special": named and extra ones become special


# What early conversions of Mistral's tokenizers should have had as their first split
MISTRAL_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

_METASPACE = "▁"
_NFC: Component = {"type": "NFC"}
_BYTES: Component = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
_FALLBACK = {"fuse_unk": True, "byte_fallback": True}
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _byte_level(*, prefix: bool, regex: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}


def _prefix(settings: Settings, default: bool) -> bool:
    value = settings.get("add_prefix_space")
    return default if value is None else bool(value)


def _split_and_bytes(pattern: str) -> Callable[[Settings], Component]:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return lambda settings: {
        "type": "Sequence",
        "pretokenizers": [split, _byte_level(prefix=_prefix(settings, False), regex=False)],
    }


def _metaspace(scheme: Callable[[Settings], str]) -> Callable[[Settings], Component]:
    return lambda settings: {
        "type": "Metaspace",
        "replacement": _METASPACE,
        "prepend_scheme": scheme(settings),
        "split": False,
    }


def _spaces_back(strip: Callable[[Settings], bool]) -> Callable[[Settings], Component]:
    steps = [
        {"type": "Replace", "pattern": {"String": _METASPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    last = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return lambda settings: {"type": "Sequence", "decoders": [*steps, last] if strip(settings) else steps}


def _llama_scheme(settings: Settings) -> str:
    if not _prefix(settings, True):
        return "never"
    return "always" if settings.get("legacy", False) else "first"


REBUILDS: dict[str, Rebuild] = {
    "CodeLlamaTokenizer": Rebuild(
        special={
            "unk_token": "<unk>",
            "bos_token": "<s>",
            "eos_token": "</s>",
            "prefix_token": "▁<PRE>",
            "middle_token": "▁<MID>",
            "suffix_token": "▁<SUF>",
            "eot_token": "▁<EOT>",
            "fill_token": "<FILL_ME>",
        },
        pre_tokenizer=_metaspace(lambda settings: "first" if _prefix(settings, True) else "never"),
        decoder=_spaces_back(lambda _: True),
        model=_FALLBACK,
        unk_in_model=True,
        adds_bos=True,
    ),
    "CohereTokenizer": Rebuild(
        special={
            "unk_token": "<UNK>",
            "bos_token": "<BOS_TOKEN>",
            "eos_token": "<|END_OF_TURN_TOKEN|>",
            "pad_token": "<PAD>",
            "cls_token": "<CLS>",
            "sep_token": "<SEP>",
            "mask_token": "<MASK_TOKEN>",
        },
        normalizer=_NFC,
        pre_tokenizer=lambda settings: {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                _byte_level(prefix=bool(settings.get("add_prefix_space", False)), regex=True),
            ],
        },
        decoder=lambda _: _BYTES,
        marks="special",
    ),
    "GPT2Tokenizer": Rebuild(
        special={
            "unk_token": "<|endoftext|>",
            "bos_token": "<|endoftext|>",
            "eos_token": "<|endoftext|>",
            "pad_token": None,
        },
        pre_tokenizer=lambda settings: _byte_level(prefix=bool(settings.get("add_prefix_space", False)), regex=True),
        decoder=lambda _: _BYTES,
    ),
    "GPTNeoXTokenizer": Rebuild(
        special={
            "unk_token": "<|endoftext|>",
            "bos_token": "<|endoftext|>",
            "eos_token": "<|endoftext|>",
            "pad_token": "<|padding|>",
        },
        normalizer=_NFC,
        pre_tokenizer=lambda settings: _byte_level(prefix=bool(settings.get("add_prefix_space", False)), regex=True),
        decoder=lambda _: _BYTES,
        keeps_post_processor=False,
    ),
    "GemmaTokenizer": Rebuild(
        special={
            "unk_token": "<unk>",
            "bos_token": "<bos>",
            "eos_token": "<eos>",
            "pad_token": "<pad>",
            "mask_token": "<mask>",
        },
        normalizer={"type": "Replace", "pattern": {"String": " "}, "content": _METASPACE},
        pre_tokenizer=lambda _: {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        decoder=_spaces_back(lambda _: False),
        model=_FALLBACK,
        unk_in_model=True,
    ),
    "LlamaTokenizer": Rebuild(
        special={"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
        pre_tokenizer=_metaspace(_llama_scheme),
        decoder=_spaces_back(lambda settings: _prefix(settings, True)),
        model=_FALLBACK,
    ),
    "Qwen2Tokenizer": Rebuild(
        special={"unk_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
        normalizer=_NFC,
        pre_tokenizer=_split_and_bytes(_QWEN2),
        decoder=lambda _: _BYTES,
        marks="plain",
    ),
    "Qwen3_5Tokenizer": Rebuild(
        special={"unk_token": "<|endoftext|>", "eos_token": "<|endoftext|>", "pad_token": "<|endoftext|>"},
        normalizer=_NFC,
        pre_tokenizer=_split_and_bytes(_QWEN35),
        decoder=lambda _: _BYTES,
    ),
}

# Classes that rebuild their tokenizer too, of models that hardly chat: their file is used as it is, with a warning
_OTHERS = (
    "AlbertTokenizer BarthezTokenizer BertTokenizer BigBirdTokenizer BlenderbotTokenizer CLIPTokenizer "
    "CamembertTokenizer CodeGenTokenizer DebertaTokenizer DebertaV2Tokenizer FunnelTokenizer HerbertTokenizer "
    "MBart50Tokenizer MBartTokenizer MPNetTokenizer NllbTokenizer OpenAIGPTTokenizer PegasusTokenizer "
    "ReformerTokenizer RemBertTokenizer RobertaTokenizer SeamlessM4TTokenizer Siglip2Tokenizer T5Tokenizer "
    "UdopTokenizer WhisperTokenizer XGLMTokenizer XLMRobertaTokenizer XLNetTokenizer"
)
KNOWN_OTHERS = frozenset(_OTHERS.split())
