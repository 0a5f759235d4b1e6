"""tokenizer.json as the tokenizer object of transformers would write it, without loading it.

transformers may change what the file says: it adds tokens that only the configuration knows, changes their flags,
drops truncation and padding, and some classes replace the components (tokenizer_rebuild.py). Here the small parts of
the file are looked at and the vocabulary stays undecoded bytes; when nothing changes, the file's own bytes are the
result. A file of 11 MB costs some 15 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from .errors import CheckpointError
from .json_files import read_object
from .post_processor import bos_eos
from .special_tokens import AddedToken, SpecialTokens, merge, read_special_tokens
from .tokenizer_class import PLAIN
from .tokenizer_rebuild import KNOWN_OTHERS, MISTRAL_PATTERN, REBUILDS, Rebuild

__all__ = ["EffectiveTokenizer", "effective_tokenizer"]

_NAME = "tokenizer.json"
_NULL = Raw(b"null")
_MAX_ID = 2**31
_T = TypeVar("_T")


class _Parts(msgspec.Struct):
    """The top level of tokenizer.json; big members stay bytes."""

    version: Raw = Raw(b'"1.0"')
    truncation: Raw = _NULL
    padding: Raw = _NULL
    added_tokens: list[AddedToken] = []
    normalizer: Raw = _NULL
    pre_tokenizer: Raw = _NULL
    post_processor: Raw = _NULL
    decoder: Raw = _NULL
    model: Raw = _NULL


class _Model(msgspec.Struct):
    """``model`` of tokenizer.json, of which only the flags matter here."""

    type: str | None = None
    dropout: float | None = None
    unk_token: str | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    fuse_unk: bool = False
    byte_fallback: bool = False
    ignore_merges: bool = False
    vocab: Raw = _NULL
    merges: Raw = _NULL


@dataclass(frozen=True, slots=True)
class EffectiveTokenizer:
    """tokenizer.json as transformers would have it, and what the configuration says of special tokens."""

    data: bytes
    special: SpecialTokens
    class_name: str
    warnings: tuple[str, ...] = ()


def effective_tokenizer(
    data: bytes,
    *,
    class_name: str,
    tokenizer_config: Mapping[str, Any],
    special_tokens_map: Mapping[str, Any] | None = None,
    added_tokens: Mapping[str, Any] | None = None,
    fixes_mistral_split: bool = False,
    adds_bos: bool = False,
    adds_eos: bool = False,
) -> EffectiveTokenizer:
    """``class_name``: from tokenizer_class.py. ``adds_bos``, ``adds_eos``: replace the post-processor by these tokens.

    Raises ``CheckpointError`` when the file can't be a tokenizer.
    """
    parts = _decode(data, _Parts, "")
    model = _decode(parts.model, _Model, '"model": ')
    if _is_null(model.vocab):
        raise CheckpointError(f'{_NAME}: has no "model" with a "vocab", so it is no tokenizer')
    warnings = []
    rebuild = REBUILDS.get(class_name)
    if rebuild is not None and (model.type not in ("BPE", None) or _is_null(model.merges)):
        warnings.append(f"{_NAME}: is no BPE tokenizer as {class_name} wants it; it is used as it is")
        rebuild = None
    elif class_name in KNOWN_OTHERS:
        warnings.append(f"{_NAME}: is used as it is, although transformers' {class_name} changes parts of it")

    special = read_special_tokens(
        tokenizer_config,
        special_tokens_map=special_tokens_map,
        added_tokens=added_tokens,
        defaults=_defaults(rebuild, parts),
        file_tokens=parts.added_tokens,
    )
    changed: dict[str, Raw] = {}
    if rebuild is None:
        present = parts.added_tokens
        tokens = _with_ids(merge(present, special.additions(token.content for token in present)), present, model)
    else:
        tokens = _with_ids(_marked(special.additions(()), special, rebuild), parts.added_tokens, model)
        changed |= _replaced(parts, model, rebuild, tokenizer_config, special)
        adds_bos = adds_bos or rebuild.adds_bos
    if adds_bos or adds_eos:
        changed["post_processor"] = _frame(special, tokens, bos=adds_bos, eos=adds_eos)
    if fixes_mistral_split and len(_vocabulary(model)) > 100_000 and not _is_null(parts.pre_tokenizer):
        changed["pre_tokenizer"] = _mistral_split(_component(parts, "pre_tokenizer") or {})
    if tokens != parts.added_tokens:
        changed["added_tokens"] = Raw(msgspec.json.encode([_entry(token) for token in tokens]))
    for name in ("truncation", "padding"):
        if not _is_null(getattr(parts, name)):
            changed[name] = _NULL
    if changed:
        whole = {name: getattr(parts, name) for name in parts.__struct_fields__} | changed
        data = msgspec.json.encode(whole)
    known = class_name in REBUILDS or class_name in KNOWN_OTHERS
    return EffectiveTokenizer(data, special, class_name if known else PLAIN, tuple(warnings))


def _decode(data: bytes | Raw, kind: type[_T], where: str) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError:
        raise CheckpointError(f"{_NAME}: {where}nested too deeply") from None
    except msgspec.ValidationError as error:
        raise CheckpointError(f"{_NAME}: {where}is no tokenizer: {error}") from None
    except (msgspec.DecodeError, UnicodeError):
        # the general reader says where it stopped; what it alone accepts (NaN, a byte order mark) no tokenizer has
        if not where:
            read_object(_NAME, bytes(data))
        raise CheckpointError(f"{_NAME}: {where}not valid JSON") from None


def _is_null(raw: Raw) -> bool:
    return len(raw) == 4 and bytes(raw) == b"null"


def _component(parts: _Parts, name: str) -> dict[str, Any] | None:
    """A small member of the file, decoded and checked: what was skipped so far was not."""
    raw: Raw = getattr(parts, name)
    return None if _is_null(raw) else read_object(f"{_NAME}: {name}", bytes(raw))


def _defaults(rebuild: Rebuild | None, parts: _Parts) -> dict[str, str | None]:
    """The named tokens that are set without the configuration: the class's, and the one that pads."""
    defaults: dict[str, str | None] = dict(rebuild.special) if rebuild is not None else {}
    padding = _component(parts, "padding")
    if padding is not None and isinstance(padding.get("pad_token"), str):
        defaults.setdefault("pad_token", padding["pad_token"])
    return defaults


def _marked(additions: list[AddedToken], special: SpecialTokens, rebuild: Rebuild) -> list[AddedToken]:
    """The added tokens of a rebuilt tokenizer, which starts without any."""
    tokens = merge([], additions)
    if rebuild.marks == "plain":
        tokens = merge(tokens, [AddedToken(text, normalized=False, special=True) for text in special.all()])
    elif rebuild.marks == "special":
        named = (*special.named.values(), *special.extra)
        tokens = merge(tokens, [msgspec.structs.replace(token, special=True) for token in named])
    return tokens


def _with_ids(tokens: list[AddedToken], present: list[AddedToken], model: _Model) -> list[AddedToken]:
    """``tokens`` with ids: those of tokenizer.json, and for new tokens what the tokenizers library would give."""
    if any(token.id is None or not 0 <= token.id < _MAX_ID for token in present):
        raise CheckpointError(f'{_NAME}: every one of the "added_tokens" must have an "id"')
    texts = [token.content for token in tokens]
    known = [token.content for token in present]
    if texts == known:
        return [msgspec.structs.replace(new, id=old.id) for new, old in zip(tokens, present, strict=True)]
    vocabulary = _vocabulary(model)
    kept = texts[: len(known)] == known
    ids: dict[str, int] = {token.content: token.id for token in present if token.id is not None} if kept else {}
    last = max(ids.values(), default=-1)
    for text in texts[len(ids) :]:
        found = vocabulary.get(text)
        ids[text] = max(last + 1, len(vocabulary)) if found is None else found
        last = max(last, ids[text])
    return sorted(
        (msgspec.structs.replace(token, id=ids[token.content]) for token in tokens), key=lambda it: it.id or 0
    )


def _by_id(token: AddedToken) -> int:
    return token.id if token.id is not None else _MAX_ID


def _vocabulary(model: _Model) -> dict[str, int]:
    try:
        vocabulary = msgspec.json.decode(model.vocab, type=dict[str, int] | list[tuple[str, float]])
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise CheckpointError(f'{_NAME}: "model": "vocab" is no vocabulary: {error}') from None
    return vocabulary if isinstance(vocabulary, dict) else {text: index for index, (text, _) in enumerate(vocabulary)}


def _entry(token: AddedToken) -> dict[str, Any]:
    entry = msgspec.structs.asdict(token)
    return {"id": entry.pop("id"), **entry}


def _replaced(
    parts: _Parts, model: _Model, rebuild: Rebuild, settings: Mapping[str, Any], special: SpecialTokens
) -> dict[str, Raw]:
    """The members that the class sets otherwise than the file, where the difference can show in ids or text."""
    changed: dict[str, Raw] = {}
    wanted = {
        "normalizer": rebuild.normalizer,
        "pre_tokenizer": rebuild.pre_tokenizer(settings),
        "decoder": rebuild.decoder(settings),
    }
    for name, component in wanted.items():
        if _essence(_component(parts, name), name) != _essence(component, name):
            changed[name] = Raw(msgspec.json.encode(component))
    if not rebuild.keeps_post_processor:
        changed["post_processor"] = _NULL
    unknown = special.named.get("unk_token") if rebuild.unk_in_model else None
    flags: dict[str, Any] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": unknown.content if unknown is not None else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        **rebuild.model,
    }
    if any((getattr(model, name) or None) != (value or None) for name, value in flags.items()):
        changed["model"] = Raw(msgspec.json.encode(msgspec.structs.replace(model, **flags)))
    return changed


def _essence(component: Any, role: str) -> Any:
    """``component`` without the settings that change neither ids nor text."""
    if isinstance(component, list):
        return [_essence(part, role) for part in component]
    if not isinstance(component, dict):
        return component
    if component.get("type") == "ByteLevel":
        if role == "decoder":
            return {"type": "ByteLevel"}
        return {
            "type": "ByteLevel",
            "add_prefix_space": component.get("add_prefix_space", True),
            "use_regex": component.get("use_regex", True),
        }
    return {name: _essence(value, role) for name, value in component.items()}


def _frame(special: SpecialTokens, tokens: list[AddedToken], *, bos: bool, eos: bool) -> Raw:
    ids = {token.content: token.id for token in tokens}
    ends: list[tuple[str, int] | None] = []
    for name, wanted in (("bos_token", bos), ("eos_token", eos)):
        token = special.named.get(name)
        token_id = ids.get(token.content) if token is not None else None
        ends.append((token.content, token_id) if wanted and token is not None and token_id is not None else None)
    return Raw(msgspec.json.encode(bos_eos(*ends)))


def _mistral_split(old: dict[str, Any]) -> Raw:
    """``fix_mistral_regex``: the first step of the pre-tokenizer replaced by the pattern that Mistral trained with."""
    split = {"type": "Split", "pattern": {"Regex": MISTRAL_PATTERN}, "behavior": "Isolated", "invert": False}
    if old.get("type") == "Sequence" and isinstance(old.get("pretokenizers"), list):
        steps = [split, *old["pretokenizers"][1:]]
    elif old.get("type") == "Metaspace":
        steps = [split, {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}]
    else:
        steps = [split, old]
    return Raw(msgspec.json.encode({"type": "Sequence", "pretokenizers": steps}))
