"""The special and added tokens that a checkpoint's configuration names, as transformers 5 collects them.

Two layouts exist. Files written today list every added token in ``added_tokens_decoder`` of tokenizer_config.json, and
then special_tokens_map.json and added_tokens.json aren't looked at. Without that key both are read, the map's values
replacing the configuration's, and the tokens of tokenizer.json complete the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from .errors import CheckpointError

__all__ = ["ATTRIBUTES", "AddedToken", "SpecialTokens", "merge", "read_special_tokens"]

ATTRIBUTES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class AddedToken(msgspec.Struct, frozen=True):
    """One entry of ``added_tokens`` in tokenizer.json. ``id`` is None until one is given to a new token."""

    content: str
    id: int | None = None
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool = True
    special: bool = False


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """What the configuration says. ``named`` goes to templates by name; ``extra`` are specials without a name."""

    named: Mapping[str, AddedToken]
    extra: tuple[AddedToken, ...]
    listed: tuple[AddedToken, ...]  # every added token the configuration lists, by id

    def strings(self) -> dict[str, str]:
        """Name -> text, what templates see."""
        return {name: token.content for name, token in self.named.items()}

    def all(self) -> tuple[str, ...]:
        """Texts of all special tokens, each once: the named ones, then the others."""
        return tuple(dict.fromkeys(token.content for token in (*self.named.values(), *self.extra)))

    def additions(self, present: Iterable[str]) -> list[AddedToken]:
        """What the configuration adds to a tokenizer whose added tokens are ``present``, in this order."""
        named = {token.content for token in self.named.values()}
        added = [
            msgspec.structs.replace(token, special=True) if token.content in named else token for token in self.listed
        ]
        known = {*present, *(token.content for token in added)}
        for token in (*self.named.values(), *self.extra):
            # The same text with other flags is added again, and the later flags count.
            if token.content not in known and token not in added:
                added.append(token)
        return added


def merge(tokens: Iterable[AddedToken], new: Iterable[AddedToken]) -> list[AddedToken]:
    """``tokens`` after ``new`` were added: known ones keep place and id and take the new flags, others come last.

    Once special stays special, as in the tokenizers library (its later flag says otherwise, its decoder doesn't).
    """
    result = {token.content: token for token in tokens}
    for token in new:
        if not token.content:
            continue
        old = result.get(token.content)
        if old is None:
            result[token.content] = msgspec.structs.replace(token, id=None)
        else:
            result[token.content] = msgspec.structs.replace(token, id=old.id, special=token.special or old.special)
    return list(result.values())


def read_special_tokens(
    tokenizer_config: Mapping[str, Any],
    *,
    special_tokens_map: Mapping[str, Any] | None,
    added_tokens: Mapping[str, Any] | None,
    defaults: Mapping[str, str | None],
    file_tokens: Iterable[AddedToken],
) -> SpecialTokens:
    """``defaults``: the named tokens that the tokenizer class sets itself; ``file_tokens``: tokenizer.json's."""
    settings = dict(tokenizer_config)
    source = "tokenizer_config.json"
    if "additional_special_tokens" in settings and not settings.get("extra_special_tokens"):
        settings["extra_special_tokens"] = settings.pop("additional_special_tokens")  # the older name of the list
    strings, objects = _own_names(settings)
    listed: dict[int, AddedToken] = {}
    if "added_tokens_decoder" in settings:
        listed = _decoder(settings["added_tokens_decoder"])
    else:
        if special_tokens_map is not None:
            source = "special_tokens_map.json"
            objects |= _overlay(special_tokens_map, settings)
        if added_tokens is not None:
            special = {_text(settings[name]) for name in ATTRIBUTES if settings.get(name)}
            special.update(_text(token) for token in _list(settings.get("extra_special_tokens"), source))
            listed = _encoder(added_tokens, special)
        for token in file_tokens:
            if token.id is not None:
                listed[token.id] = token
    by_text = {token.content: token for token in listed.values()}

    named: dict[str, AddedToken] = {}
    for name in ATTRIBUTES:
        value = settings.get(name, defaults.get(name))  # a null in the configuration hides the default
        if value is not None:
            token = _token(value, f'{source}: "{name}"')
            named[name] = by_text.get(token.content, token) if name in settings else token
    unusual = {name: text for name, text in defaults.items() if name not in ATTRIBUTES and text is not None}
    for name, value in (unusual | objects | strings).items():
        named[name] = _token(value, f'{source}: "{name}"')
    extra = settings.get("extra_special_tokens" if "extra_special_tokens" in settings else "additional_special_tokens")
    unnamed = tuple(_token(value, f"{source}: the extra special tokens") for value in _list(extra, source))
    return SpecialTokens(named, unnamed, tuple(listed[index] for index in sorted(listed)))


def _own_names(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Named tokens beyond the usual seven, such as ``image_token``: those given as strings and those as objects.

    The extra tokens count when they have names; they are taken out of ``settings`` then.
    """
    names = [name for name in settings if name.endswith("_token") and name not in ATTRIBUTES]
    objects = {name: settings[name] for name in names if isinstance(settings[name], dict)}
    strings = {name: settings[name] for name in names if isinstance(settings[name], str)}
    if isinstance(settings.get("extra_special_tokens"), dict):
        strings |= settings.pop("extra_special_tokens")
    return strings, objects


def _overlay(special_map: Mapping[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Put the values of special_tokens_map.json over ``settings``; returns the unusual names it brings."""
    values = dict(special_map)
    extra = values.get("extra_special_tokens")
    if isinstance(extra, list):
        known = _list(settings.get("extra_special_tokens"), "tokenizer_config.json")
        values["extra_special_tokens"] = known + [token for token in extra if token not in known]
    strings, objects = _own_names(values)
    settings |= values
    return objects | strings


def _list(value: Any, source: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise CheckpointError(f"{source}: the extra (or additional) special tokens must be a list of tokens")
    return value


def _decoder(value: Any) -> dict[int, AddedToken]:
    name = 'tokenizer_config.json: "added_tokens_decoder"'
    if not isinstance(value, dict):
        raise CheckpointError(f"{name} must be an object of tokens by id")
    result = {}
    for index, token in value.items():
        if not (index.isascii() and index.isdecimal() and len(index) <= 10) or not isinstance(token, dict):
            raise CheckpointError(f"{name} must be an object of tokens by id, {index[:40]!r} is none")
        result[int(index)] = _token(token, f"{name}, {index}", special=False)
    return result


def _encoder(value: Mapping[str, Any], special: set[str]) -> dict[int, AddedToken]:
    result = {}
    for content, index in value.items():
        if isinstance(index, bool) or not isinstance(index, int) or index < 0:
            raise CheckpointError(f"added_tokens.json: {content[:40]!r} must have an id, a number from 0")
        result[index] = AddedToken(content, normalized=content not in special, special=content in special)
    return result


def _text(value: Any) -> str:
    return value.get("content", "") if isinstance(value, dict) else str(value)


def _token(value: Any, where: str, *, special: bool = True) -> AddedToken:
    """A token given by its text or as an object. ``special``: what it is when the object doesn't say."""
    if isinstance(value, str):
        return AddedToken(value, normalized=False, special=True)
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        raise CheckpointError(f'{where} must be a token: a string, or an object with "content"')
    flags = {name: value.get(name, False) for name in ("single_word", "lstrip", "rstrip")}
    flags["special"] = value.get("special", special)
    flags["normalized"] = value.get("normalized", not flags["special"])
    if not all(isinstance(flag, bool) for flag in flags.values()):
        raise CheckpointError(f"{where}: the flags of a token must be true or false")
    return AddedToken(value["content"], **flags)
