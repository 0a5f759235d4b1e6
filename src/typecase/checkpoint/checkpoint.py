"""A checkpoint's front part, read: tokenizer, templates, special tokens, limits and defaults.

``read_checkpoint`` is given the files by name, as they lie in a model directory, and does no I/O. It answers as vLLM
0.33 on transformers 5 does, by rules and tables instead of those libraries. No file is trusted: every problem is a
``CheckpointError`` of one line that names the file. Pickles aren't read and code isn't run; what a checkpoint asks for
beyond that is told in ``warnings``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import CheckpointError
from .generation import eos_token_ids, read_generation_config
from .json_files import read_object, read_optional_object
from .mistral_files import MistralTokenizerFile
from .mistral_params import PARAMS, config_from_params
from .model_config import (
    ASSUMED_LENGTH,
    apply_overrides,
    architectures,
    is_multimodal,
    max_model_len,
    model_type,
)
from .templates import read_templates
from .tokenizer_class import PLAIN, resolve_class
from .tokenizer_json import EffectiveTokenizer, effective_tokenizer
from .vocab_files import VOCAB_FILES, tokenizer_from_vocab_files

__all__ = ["FRONT_FILES", "Checkpoint", "CheckpointError", "TokenizerFacts", "read_checkpoint"]

# Every file that is looked at; besides these additional_chat_templates/*.jinja
FRONT_FILES = (
    "config.json",
    PARAMS,
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "chat_template.json",
    *VOCAB_FILES,
)

_PAD_LEFT = ("CohereTokenizer", "GemmaTokenizer", "LlamaTokenizer")
_MISTRAL_TYPES = ("mistral", "mistral3", "voxtral", "ministral", "pixtral")


@dataclass(frozen=True, slots=True)
class TokenizerFacts:
    """What transformers' tokenizer object would say of itself."""

    class_name: str  # vLLM shows it with "Cached" in front
    all_special_tokens: tuple[str, ...]
    model_max_length: int | None  # from tokenizer_config.json; a limit of its own only for pooling models
    truncation_side: str  # vLLM loads generation models with "left", whatever the file says
    padding_side: str
    split_special_tokens: bool  # True: special tokens in text are not recognised
    clean_up_tokenization_spaces: bool


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The front part of a checkpoint. All of it is data; nothing refers to the files any more."""

    tokenizer_json: bytes  # gives the ids of transformers' AutoTokenizer when loaded by the tokenizers library
    templates: Mapping[str, str]  # chat templates by name, "default" is the usual one; {} when there are none
    processor_template: str | None  # multimodal: the template that vLLM takes when a request has no tools
    special_tokens: Mapping[str, str | list[str]]  # what templates see: "bos_token" -> "<s>", "image_token"...
    tokenizer: TokenizerFacts
    tokenizer_config: Mapping[str, Any]
    config: Mapping[str, Any]  # config.json after --hf-overrides
    generation_config: Mapping[str, Any]  # without nulls
    eos_token_ids: tuple[int, ...]  # from the generation settings; empty when they give none
    model_type: str | None
    architectures: tuple[str, ...]
    max_model_len: int | None  # as vLLM derives it, which assumes 2048 when the config says nothing
    is_multimodal: bool
    warnings: tuple[str, ...] = ()
    mistral_tokenizer: MistralTokenizerFile | None = None  # in its place, tokenizer_json is empty


def read_checkpoint(
    files: Mapping[str, bytes],
    *,
    tokenizer_files: Mapping[str, bytes] | None = None,
    hf_overrides: Mapping[str, Any] | None = None,
    tokenizer_as_is: bool = False,
    mistral_format: bool = False,
    mistral_tokenizer: MistralTokenizerFile | None = None,
) -> Checkpoint:
    """The meaning of ``files`` (name -> bytes).

    ``tokenizer_files``: where tokenizer and templates are read, when that is another place. ``tokenizer_as_is``: don't
    apply what transformers' tokenizer classes change in a tokenizer.json; for one that we made out of other files.
    ``mistral_format``: the configuration is params.json. ``mistral_tokenizer``: the tokenizer is this file, and there
    are neither settings of it nor templates.
    """
    config = apply_overrides(_read_config(files, mistral_format=mistral_format), hf_overrides or {})
    if tokenizer_files is None:
        tokenizer_files = files
    if mistral_tokenizer is not None:
        return _with_mistral_tokenizer(files, config, mistral_tokenizer)
    tokenizer_config = read_optional_object(tokenizer_files, "tokenizer_config.json") or {}
    # A tokenizer's class depends on the config that lies beside it, overrides not counted.
    beside = read_optional_object(tokenizer_files, "config.json") or {}
    tokenizer = _read_tokenizer(tokenizer_files, beside, tokenizer_config, as_is=tokenizer_as_is)
    templates, processor_template = read_templates(tokenizer_files, tokenizer_config)
    multimodal = is_multimodal(config)
    length = max_model_len(config)
    generation_config = read_generation_config(files, config)
    warnings = [*tokenizer.warnings, *_ignored_code(config, tokenizer_config)]
    if tokenizer_config.get("split_special_tokens") is True:
        warnings.append(
            'tokenizer_config.json: "split_special_tokens" is ignored, special tokens in text are recognised'
        )
    if length is None:
        warnings.append(f"config.json: says nothing about the context length; {ASSUMED_LENGTH} tokens are assumed")
    return Checkpoint(
        tokenizer_json=tokenizer.data,
        templates=templates,
        processor_template=processor_template if multimodal else None,
        special_tokens=tokenizer.special.strings(),
        tokenizer=_facts(tokenizer, tokenizer_config),
        tokenizer_config=tokenizer_config,
        config=config,
        generation_config=generation_config,
        eos_token_ids=eos_token_ids(generation_config),
        model_type=model_type(config),
        architectures=architectures(config),
        max_model_len=ASSUMED_LENGTH if length is None else length,
        is_multimodal=multimodal,
        warnings=tuple(warnings),
    )


def _read_config(files: Mapping[str, bytes], *, mistral_format: bool) -> dict[str, Any]:
    if mistral_format:
        if PARAMS not in files:
            raise CheckpointError(f"{PARAMS}: missing; --config-format mistral reads it")
        return config_from_params(files[PARAMS], read_optional_object(files, "config.json"))
    if "config.json" not in files:
        raise CheckpointError(
            "config.json: missing; copy it from the model it belongs to, or say where it is with --hf-config-path"
        )
    return read_object("config.json", files["config.json"])


def _with_mistral_tokenizer(
    files: Mapping[str, bytes], config: Mapping[str, Any], tokenizer: MistralTokenizerFile
) -> Checkpoint:
    length = max_model_len(config)
    generation_config = read_generation_config(files, config)
    return Checkpoint(
        tokenizer_json=b"",
        templates={},
        processor_template=None,
        special_tokens={},
        tokenizer=TokenizerFacts(
            class_name="MistralTokenizer",
            all_special_tokens=(),
            model_max_length=None,
            truncation_side="left",
            padding_side="left",
            split_special_tokens=True,
            clean_up_tokenization_spaces=False,
        ),
        tokenizer_config={},
        config=config,
        generation_config=generation_config,
        eos_token_ids=eos_token_ids(generation_config),
        model_type=model_type(config),
        architectures=architectures(config),
        max_model_len=ASSUMED_LENGTH if length is None else length,
        is_multimodal=is_multimodal(config),
        mistral_tokenizer=tokenizer,
    )


def _read_tokenizer(
    files: Mapping[str, bytes], config: Mapping[str, Any], tokenizer_config: Mapping[str, Any], *, as_is: bool
) -> EffectiveTokenizer:
    class_name = PLAIN
    if not as_is:
        byte_level = b'"ByteLevel"' in files.get("tokenizer.json", b"")
        class_name = resolve_class(config, tokenizer_config, byte_level=byte_level)
    has_file = "tokenizer.json" in files
    data = files["tokenizer.json"] if has_file else tokenizer_from_vocab_files(files, class_name)
    return effective_tokenizer(
        data,
        class_name=class_name,
        tokenizer_config=tokenizer_config,
        special_tokens_map=read_optional_object(files, "special_tokens_map.json"),
        added_tokens=read_optional_object(files, "added_tokens.json"),
        fixes_mistral_split=tokenizer_config.get("fix_mistral_regex") is True and _may_need_fix(config),
        # A tokenizer.json says itself what is added to a text; the configuration isn't asked then.
        adds_bos=not has_file and tokenizer_config.get("add_bos_token") is True,
        adds_eos=not has_file and tokenizer_config.get("add_eos_token") is True,
    )


def _may_need_fix(config: Mapping[str, Any]) -> bool:
    """transformers heeds ``fix_mistral_regex`` for files saved by versions before 5 and for Mistral's model types."""
    version = config.get("transformers_version")
    if not isinstance(version, str) or not version:
        return True
    major = version.split(".")[0]
    return major.isdecimal() and int(major[:6]) < 5 and config.get("model_type", "mistral") in _MISTRAL_TYPES


def _facts(tokenizer: EffectiveTokenizer, tokenizer_config: Mapping[str, Any]) -> TokenizerFacts:
    longest = tokenizer_config.get("model_max_length", tokenizer_config.get("max_len"))
    padding_side = tokenizer_config.get("padding_side")
    left_by_class = tokenizer.class_name in (
        "CodeLlamaTokenizer",
        "CohereTokenizer",
        "GemmaTokenizer",
        "LlamaTokenizer",
    )
    return TokenizerFacts(
        class_name=tokenizer.class_name,
        all_special_tokens=tokenizer.special.all(),
        model_max_length=longest if isinstance(longest, int) and not isinstance(longest, bool) else None,
        truncation_side="left",
        padding_side=padding_side if padding_side in ("left", "right") else "left" if left_by_class else "right",
        split_special_tokens=tokenizer_config.get("split_special_tokens") is True,
        clean_up_tokenization_spaces=tokenizer_config.get("clean_up_tokenization_spaces") is True,
    )


def _ignored_code(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> list[str]:
    """Code that the checkpoint would like to run."""
    return [
        f'{name}: "auto_map" names code of the checkpoint, which is not run'
        for name, settings in (("config.json", config), ("tokenizer_config.json", tokenizer_config))
        if settings.get("auto_map")
    ]
