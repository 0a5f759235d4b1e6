"""Names of formats: vLLM's, all of them; those without a record are refused with a line that says so."""

from __future__ import annotations

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.formats.call_format import StrictLevel
from typecase.formats.registry import (
    CALL_FORMATS,
    CALL_NAMES,
    REASONING_FORMATS,
    REASONING_NAMES,
    call_format,
    reasoning_format,
)


def test_all_of_vllms_names_are_known() -> None:
    assert len(set(CALL_NAMES)) == 58
    assert len(set(REASONING_NAMES)) == 42
    assert CALL_FORMATS.keys() <= set(CALL_NAMES)
    assert REASONING_FORMATS.keys() <= set(REASONING_NAMES)


def test_each_name_has_one_record() -> None:
    for formats in (CALL_FORMATS, REASONING_FORMATS):
        records = {id(record): record for record in formats.values()}
        assert sum(len(record.names) for record in records.values()) == len(formats)


def test_aliases() -> None:
    for names in (
        ("hermes", "qwen3_json"),
        ("llama3_json", "llama4_json"),
        ("qwen3_coder", "qwen3_xml"),
        ("glm45", "glm47"),
    ):
        assert len({id(call_format(name)) for name in names}) == 1


def test_only_glm_holds_to_the_frame_by_default() -> None:
    levels = {name for name, record in CALL_FORMATS.items() if record.default_level is not StrictLevel.AUTO}
    assert levels == {"glm45", "glm47"}


@pytest.mark.parametrize("name", sorted(set(CALL_NAMES) - CALL_FORMATS.keys()))
def test_calls_that_are_not_supported(name: str) -> None:
    with pytest.raises(CheckpointError, match=f"^--tool-call-parser {name}: typecase doesn't support") as error:
        call_format(name)
    assert "hermes" in str(error.value)


@pytest.mark.parametrize("name", sorted(set(REASONING_NAMES) - REASONING_FORMATS.keys()))
def test_reasoning_that_is_not_supported(name: str) -> None:
    with pytest.raises(CheckpointError, match=f"^--reasoning-parser {name}: typecase doesn't support"):
        reasoning_format(name)


def test_unknown_names_get_the_known_ones_told() -> None:
    with pytest.raises(CheckpointError) as error:
        call_format("nope")
    assert str(error.value) == f"invalid tool call parser: nope (chose from {{ {','.join(CALL_NAMES)} }})"
    with pytest.raises(CheckpointError) as error:
        reasoning_format("Qwen3")
    assert str(error.value) == f"invalid reasoning parser: Qwen3 (chose from {{ {','.join(REASONING_NAMES)} }})"
