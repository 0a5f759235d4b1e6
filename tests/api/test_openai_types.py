"""The readers of the SDK's types against pydantic with the very types.

The shapes are those of one release of the ``openai`` package, the one that vLLM 0.33 was built with; with another one
installed there is nothing to compare.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest
from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model
from tests.support.openai_values import ShapeMaker, roots

from typecase.api.openai_shapes import SDK_VERSION, SHAPES
from typecase.api.openai_types import Model, Unread, root_reader, shape_reader, shapes_by_type
from typecase.api.reading import REFUSED, Reading

same_release = pytest.mark.skipif(
    importlib.metadata.version("openai") != SDK_VERSION, reason=f"the shapes are those of openai {SDK_VERSION}"
)


def adapter(field: str) -> TypeAdapter[Any]:
    responses = importlib.import_module("openai.types.responses")
    annotation: Any = {
        "input": lambda: list[responses.ResponseInputItemParam | responses.ResponseOutputItem],
        "tools": lambda: list[importlib.import_module("openai.types.responses.tool").Tool],
        "tool_choice": lambda: importlib.import_module("openai.types.responses.response").ToolChoice,
    }[field]()
    config = ConfigDict(extra="allow")  # what vLLM's request class has, and hands down to the SDK's dicts
    return TypeAdapter(create_model("Request", __config__=config, value=(annotation, ...)))


def same(ours: Any, theirs: Any) -> bool:
    """Whether a value was read alike: coerced values, unknown keys, and which of the shapes it has."""
    if isinstance(ours, Unread):
        return type(theirs).__name__ == "ValidatorIterator"
    if isinstance(ours, Model):
        if not hasattr(theirs, "model_fields_set"):
            return False
        aliases = {f.alias: name for name, f in type(theirs).model_fields.items() if f.alias}
        return all(same(value, getattr(theirs, aliases.get(key, key))) for key, value in ours.items())
    if isinstance(ours, dict):
        return isinstance(theirs, dict) and list(ours) == list(theirs) and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list):
        return isinstance(theirs, list) and len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


@same_release
@pytest.mark.parametrize("field", ["input", "tools", "tool_choice"])
def test_pydantic_reads_the_same(field: str) -> None:
    make, theirs, read = ShapeMaker(7), adapter(field), root_reader(field)
    names, accepted, refused = roots(field), 0, 0
    for i in range(2500):
        wrong = (0.0, 0.02, 0.1)[i % 3]
        value: Any = make.root(names, wrong)
        if field != "tool_choice":
            value = [value]
        ours = read(value, (), Reading())
        try:
            meant = theirs.validate_python({"value": value}).value
        except ValidationError:
            assert ours is REFUSED, value
            refused += 1
        else:
            assert ours is not REFUSED, value
            assert same(ours, meant), value
            accepted += 1
    assert accepted > 300
    assert refused > 200


@same_release
def test_the_shapes_are_what_the_tool_writes() -> None:
    written = importlib.import_module("tools.openai_shapes").written_module()
    assert written == Path(importlib.import_module("typecase.api.openai_shapes").__file__).read_text(encoding="utf-8")


def test_every_shape_can_be_read() -> None:
    for line in SHAPES.replace("\n  ", " ").strip().splitlines():
        name = line.split(":")[0].split()[1]
        assert shape_reader(name)(5, (), Reading()) is REFUSED
        assert shape_reader(name)({}, (), Reading()) is REFUSED or "type" not in line or "type?" in line


def test_types_name_their_shapes() -> None:
    assert shapes_by_type()["message"] == ("EasyInputMessage", "Message", "OutputMessage")
    assert shapes_by_type()["function_call_output"] == ("FunctionCallOutput",)
