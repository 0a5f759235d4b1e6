"""The slow reader: scalars, unions, bounds, and how it speaks of faults."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from typecase.api.faults import body_error, param_of, quoted, shown
from typecase.api.lax import REFUSED, lax_bool, lax_float, lax_int
from typecase.api.reading import OpenRecord, Reading, reader_for


def read(annotation: Any, value: object) -> Any:
    return reader_for(annotation)(value, ("f",), Reading())


def faults(annotation: Any, value: object) -> list[str]:
    reading = Reading()
    assert reader_for(annotation)(value, ("f",), reading) is REFUSED
    return [f"{'.'.join(map(str, p.at))}: {p.text}" for p in reading.problems]


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        *(("5", 5), ("+5", 5), (" 5 ", 5), ("5.0", 5), ("5_0", 50), ("00012", 12), ("\u00a05", 5), ("5_0.0", 50)),
        *((5.0, 5), (1e18, 10**18), (True, 1), (10**30, 10**30), (-0.0, 0)),
    ],
)
def test_ints(value: object, meant: int) -> None:
    got, _ = lax_int(value)
    assert got == meant
    assert type(got) is int


@pytest.mark.parametrize(
    "value",
    ["", "5.", "5.1", "5__0", "_5", "0x5", "٥", "1e3", "+-5", "1" * 4301, 5.5, 1e19, float("nan"), None, [], {}],
)
def test_not_ints(value: object) -> None:
    assert lax_int(value)[0] is REFUSED


@pytest.mark.parametrize(
    ("value", "meant"), [("0.5", 0.5), (" .5", 0.5), ("1e5", 1e5), ("1_0", 10.0), ("-inf", float("-inf")), (True, 1.0)]
)
def test_floats(value: object, meant: float) -> None:
    got, _ = lax_float(value)
    assert got == meant
    assert type(got) is float


@pytest.mark.parametrize("value", ["", "0x1p3", "1__0", "٥", "1 2", None, 10**309, []])
def test_not_floats(value: object) -> None:
    assert lax_float(value)[0] is REFUSED


@pytest.mark.parametrize("value", ["yes", "Y", "TRUE", "t", "on", "1", 1, 1.0, True])
def test_true(value: object) -> None:
    assert lax_bool(value)[0] is True
    assert lax_bool({"yes": "no"}.get(str(value), "off"))[0] is False


@pytest.mark.parametrize("value", ["", " on", "2", "yes\n", 2, 0.5, None, [], 10**30])
def test_not_bools(value: object) -> None:
    assert lax_bool(value)[0] is REFUSED


Number = str | int | float | list[str | int | float]


@pytest.mark.parametrize(
    ("value", "meant"), [("5", "5"), (5, 5), (2.0, 2.0), (2.5, 2.5), (True, 1), ([1, True, 2.0, "x"], [1, 1, 2.0, "x"])]
)
def test_a_union_takes_the_branch_that_fits_best(value: object, meant: object) -> None:
    assert repr(read(Number, value)) == repr(meant)


class Small(OpenRecord):
    a: int


class Large(OpenRecord):
    a: int
    b: int = 0


def test_of_two_objects_the_one_with_more_known_fields_wins() -> None:
    class Outer(OpenRecord):
        inner: Small

    class Loose(OpenRecord):
        inner: Any

    assert read(Loose | Outer, {"inner": {"a": "1"}}) == {"inner": {"a": 1}}


def test_open_records_keep_order_and_strangers() -> None:
    assert list(read(Large, {"x": 1, "b": 2, "a": 1}).items()) == [("a", 1), ("b", 2), ("x", 1)]
    assert read(Large, {"a": 1}) == {"a": 1, "b": 0}


def test_structs_are_built() -> None:
    class Point(msgspec.Struct):
        x: int
        y: int = 7

    assert read(Point, {"x": "3", "z": 1}) == Point(3)
    assert faults(Point, {"y": "q"}) == ["f.x: is missing", "f.y: expected an integer, got 'q'"]


def test_alike_faults_of_a_union_become_one() -> None:
    assert faults(str | list[str] | None, 5) == ["f: expected a string or a list, got 5"]
    assert faults(Literal["a", "b"] | None, 5) == ["f: expected 'a' or 'b', got 5"]


def test_else_the_closest_branch_speaks_and_the_first_gives_the_place() -> None:
    reading = Reading()
    reader_for(Small | Large | list[int])([1, "x"], ("f",), reading)
    error = body_error(reading.problems)
    assert error.param == "body.f"
    assert "f.1: expected an integer, got 'x'" in error.message


def test_bounds() -> None:
    assert faults(Annotated[int, Meta(ge=-1)], "-2") == ["f: must be at least -1, got -2"]
    assert faults(Annotated[float, Meta(le=2)], float("nan")) == ["f: must be at most 2, got nan"]
    assert faults(Annotated[str, Meta(max_length=9)], "\ud800") == [
        "f: holds a lone surrogate, which is no character: '\\ud800'"
    ]


def test_lists_and_dicts_say_where() -> None:
    assert faults(list[dict[str, int]], [{"a": 1}, {"b": "x"}]) == ["f.1.b: expected an integer, got 'x'"]
    assert read(list[int], (1, "2")) == [1, 2]
    assert faults(list[int], "ab") == ["f: expected a list, got 'ab'"]


@pytest.mark.parametrize(
    ("loc", "param"),
    [
        ((), "body"),
        (("stop", 0), "body.stop.0"),
        ((0, "function", "arguments"), "body.0.function"),
        (("vllm_xargs", "a[b]"), "body.vllm_xargs"),
        (("vllm_xargs", "List"), "body.vllm_xargs"),
    ],
)
def test_param(loc: tuple[str | int, ...], param: str) -> None:
    assert param_of(loc) == param


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "null"),
        ({}, "an object with 0 keys"),
        ([1], "a list of 1 item"),
        ("a\n", "'a\\n'"),
    ],
)
def test_values_are_shown_briefly(value: object, text: str) -> None:
    assert shown(value) == text


def test_large_values_are_not_shown() -> None:
    assert shown(10**5000) == "a very large number"
    assert len(shown("x" * 10**6)) < 100
    assert len(quoted("x" * 10**6)) < 1100
    assert quoted(10**5000) == "a very large number"


def test_an_annotation_without_reader_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match="no reader"):
        reader_for(complex)
