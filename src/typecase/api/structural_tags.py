"""Is a structural tag (xgrammar's description of tagged output) of a known shape?

vLLM compiles a request's structural tag before anything else and refuses what doesn't compile. Nothing of a client is
compiled here, so this checks what can be seen from outside: known types, the fields each needs, and the few rules that
bind fields together (a tag begins with exactly one trigger). Regexes, grammars and schemas are left to the engine.
"""

from __future__ import annotations

__all__ = ["check_nesting", "check_response_format_tag", "check_structural_tag"]

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Protocol

from typecase.api.errors import InvalidParameter, RequestError

_SCHEMA_NESTING = 64
# A tag wraps schemas in structure of its own.
_TAG_NESTING = _SCHEMA_NESTING + 16
_LONGEST_COUNT = 2**31 - 1

_STYLES = frozenset(
    {
        "json",
        "qwen_xml",
        "minimax_xml",
        "minimax_m3_xml",
        "deepseek_xml",
        "glm_xml",
        "cohere_xml",
        "kimi_k3_xml",
        "deepseek_v4_1_xml",
    }
)


def check_nesting(spec: object, *, structural_tag: bool = False) -> None:
    """Refuse a JSON schema or structural tag (text or value) nested too deeply to convert in reasonable time."""
    if isinstance(spec, str):
        try:
            spec = json.loads(spec)
        except RecursionError:
            raise _too_deep() from None
        except ValueError:
            return  # what is no JSON is refused elsewhere
    level = [spec]
    for _ in range(_TAG_NESTING if structural_tag else _SCHEMA_NESTING):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
        if not level:
            return
    raise _too_deep()


def check_structural_tag(tag: object, parameter: str) -> None:
    """Refuse the ``structural_tag`` of ``structured_outputs``: JSON text."""
    if not isinstance(tag, str) or not tag:
        raise _invalid(parameter)
    check_nesting(tag, structural_tag=True)
    try:
        value = json.loads(tag)
    except ValueError:
        raise _invalid(parameter) from None
    if not _is_tag(value):
        raise _invalid(parameter)


def check_response_format_tag(response_format: Mapping[str, Any]) -> None:
    """Refuse a ``response_format`` of type ``structural_tag``, in its old form (``structures``) or its new."""
    # The old form is looked for first; one whose structures lack a schema is invalid even if a format is there, too.
    legacy = isinstance(response_format.get("structures"), list) and isinstance(response_format.get("triggers"), list)
    if not legacy and "format" not in response_format:
        raise _invalid("response_format")
    check_nesting(dict(response_format), structural_tag=True)
    if not _is_tag(response_format):
        raise _invalid("response_format")


def _invalid(parameter: str) -> InvalidParameter:
    return InvalidParameter(f"Invalid {parameter} structural_tag specification.", parameter)


def _too_deep() -> RequestError:
    return RequestError(
        f"The JSON schema is nested too deeply: objects and arrays may nest at most {_SCHEMA_NESTING} levels"
    )


def _children(node: Any) -> Any:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()


def _is_tag(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "structures" in value:
        return _is_legacy_tag(value)
    return value.get("type", "structural_tag") == "structural_tag" and _is_format(value.get("format"))


def _is_legacy_tag(value: Mapping[str, Any]) -> bool:
    structures = value["structures"]
    if not isinstance(structures, list) or not structures or not all(isinstance(s, Mapping) for s in structures):
        return False
    if not all(isinstance(s.get("schema"), bool | dict) and isinstance(s.get("end"), str) for s in structures):
        return False
    return _fit_triggers(structures, value.get("triggers"))


def _fit_triggers(tags: list[Mapping[str, Any]], triggers: Any) -> bool:
    """Whether each tag begins with exactly one trigger and each trigger begins some tag."""
    if not _is_texts(triggers) or not triggers:
        return False
    begins: list[Any] = [tag.get("begin") for tag in tags]
    if not all(isinstance(begin, str) for begin in begins):
        return False
    # Of two triggers of which one begins the other, some tag would begin with both. Without such pairs, the one that
    # begins a text stands right before it in alphabetical order: there is no need to try every trigger on every tag.
    ordered = sorted(triggers)
    if any(after.startswith(before) for before, after in pairwise(ordered)):
        return False
    used = set()
    for begin in begins:
        place = bisect_right(ordered, begin) - 1
        if place < 0 or not begin.startswith(ordered[place]):
            return False
        used.add(place)
    return len(used) == len(ordered)


def _is_format(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if "type" in value:
        check = _FORMATS.get(value["type"]) if isinstance(value["type"], str) else None
        return check is not None and check(value)
    # Without a type, anything that could be a format is one. What lies inside is looked at once for all of them: once
    # for each would double the work at every level.
    tested: _Tested = {}
    return any(check(value, tested) for kind, check in _FORMATS.items() if kind not in _ONLY_BY_NAME)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_filled, value))


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_int(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: object) -> bool:
    return value is None or (_is_int(value) and 0 <= value <= _LONGEST_COUNT)  # type: ignore[operator]


def _is_token_id(value: object) -> bool:
    # A token's text can't be looked up by the validator, so vLLM refuses it.
    return _is_int(value) and value >= 0  # type: ignore[operator]


def _is_token_ids(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_token_id, value))


def _is_schema(value: object) -> bool:
    return isinstance(value, bool | dict)


def _is_formats(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_format, value))


def _is_style(value: object) -> bool:
    return isinstance(value, str) and value in _STYLES


def _is_whitespace_count(value: object) -> bool:
    return value is None or (_is_int(value) and value > 0)  # type: ignore[operator]


def _is_token_format(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type") == "token" and _is_token_id(value.get("token"))


def _is_begin(value: object) -> bool:
    return isinstance(value, str) or _is_token_format(value)


def _is_end(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_text, value))
    return isinstance(value, str) or _is_token_format(value)


def _is_one_tag(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("type", "tag") == "tag" and _FORMATS["tag"](value)


def _is_tags(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_one_tag, value))


def _is_rules(key: Callable[[object], bool]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        return (
            isinstance(value, list)
            and bool(value)
            and all(isinstance(r, list) and len(r) == 2 and key(r[0]) and _is_format(r[1]) for r in value)
        )

    return check


_Test = Callable[[object], bool]
_Tested = dict[tuple[str, _Test], bool]
"""What the tests of an object's fields gave."""


class _Check(Protocol):
    def __call__(self, value: Mapping[str, Any], tested: _Tested | None = None, /) -> bool:
        """Whether ``value`` is a format of some kind. ``tested`` is kept between the checks of the same object."""


def _fields(
    needed: Mapping[str, _Test],
    optional: Mapping[str, _Test] | None = None,
    together: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> _Check:
    """The check of a format: fields it needs, fields it may have, and a rule over all of them."""

    def check(value: Mapping[str, Any], tested: _Tested | None = None, /) -> bool:
        known = {} if tested is None else tested

        def fits(name: str, test: _Test) -> bool:
            if (name, test) not in known:
                known[name, test] = test(value[name])
            return known[name, test]

        return (
            all(name in value and fits(name, test) for name, test in needed.items())
            and all(fits(name, test) for name, test in (optional or {}).items() if name in value)
            and together(value)
        )

    return check


def _tag_can_end(value: Mapping[str, Any]) -> bool:
    """Free text can only be followed by something that ends it."""
    content, end = value["content"], value["end"]
    if content.get("type") != "any_text" or isinstance(end, Mapping):
        return True
    return any([end] if isinstance(end, str) else end)


def _begins_with_trigger_token(value: Mapping[str, Any]) -> bool:
    triggers = value["trigger_tokens"]
    begins = [tag["begin"] for tag in value["tags"]]
    known = frozenset(triggers)
    return bool(triggers) and all(isinstance(b, Mapping) and b["token"] in known for b in begins)


def _min_up_to_max(value: Mapping[str, Any]) -> bool:
    least, most = value["min"], value["max"]
    return bool(least >= 0 and (most == -1 or most >= least))


_ONE_OR_MORE = {"at_least_one": _is_bool, "stop_after_first": _is_bool}
_CONTENT = {"content": _is_format}

_FORMATS: dict[str, _Check] = {
    "const_string": _fields({"value": _is_text}),
    "json_schema": _fields(
        {"json_schema": _is_schema},
        {
            "style": _is_style,
            "any_order": _is_bool,
            "max_whitespace_cnt": _is_whitespace_count,
            "excludes": _is_texts,
        },
    ),
    "qwen_xml_parameter": _fields({"json_schema": _is_schema}),
    "any_text": _fields({}, {"excludes": _is_texts, "max_tokens": _is_count, "max_chars": _is_count}),
    "token": _fields({"token": _is_token_id}),
    "exclude_token": _fields({}, {"exclude_tokens": _is_token_ids}),
    "any_tokens": _fields({}, {"exclude_tokens": _is_token_ids, "max_tokens": _is_count}),
    "grammar": _fields({"grammar": _is_filled}),
    "regex": _fields({"pattern": _is_filled}, {"excludes": _is_texts}),
    "sequence": _fields({"elements": _is_formats}),
    "or": _fields({"elements": _is_formats}),
    "tag": _fields({"begin": _is_begin, **_CONTENT, "end": _is_end}, together=_tag_can_end),
    "triggered_tags": _fields(
        {"triggers": _is_texts, "tags": _is_tags},
        {**_ONE_OR_MORE, "excludes": _is_texts},
        lambda value: _fit_triggers(value["tags"], value["triggers"]),
    ),
    "token_triggered_tags": _fields(
        {"trigger_tokens": _is_token_ids, "tags": _is_tags},
        {**_ONE_OR_MORE, "exclude_tokens": _is_token_ids},
        _begins_with_trigger_token,
    ),
    "tags_with_separator": _fields({"tags": _is_tags, "separator": _is_text}, _ONE_OR_MORE),
    "optional": _fields(_CONTENT),
    "plus": _fields(_CONTENT),
    "star": _fields(_CONTENT),
    "repeat": _fields({"min": _is_int, "max": _is_int, **_CONTENT}, together=_min_up_to_max),
    "dispatch": _fields({"rules": _is_rules(_is_text)}, {"loop": _is_bool, "excludes": _is_texts}),
    "token_dispatch": _fields({"rules": _is_rules(_is_token_id)}, {"loop": _is_bool, "exclude_tokens": _is_token_ids}),
}
# Formats that an object without a type is not taken for (they need no field, so that anything would be one).
_ONLY_BY_NAME = frozenset({"any_text", "exclude_token", "any_tokens", "optional", "plus", "star"})
