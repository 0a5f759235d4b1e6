from __future__ import annotations

import pytest

from typecase.checkpoint.errors import CheckpointError
from typecase.checkpoint.json_files import MAX_DEPTH, read_object, read_text


def test_what_pythons_json_accepts_is_accepted() -> None:
    assert read_object("a.json", b'{"a": 1, "a": 2}') == {"a": 2}
    assert read_object("a.json", b'\xef\xbb\xbf{"a": NaN}')["a"] != 0
    assert read_object("a.json", b'{"a": 1e999}') == {"a": float("inf")}
    assert read_object("a.json", b'{"a": 1000000000000000019884624838656}') == {"a": 1000000000000000019884624838656}
    assert read_object("a.json", '{"a": "\\ud83d\\ude00é"}'.encode()) == {"a": "😀é"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not valid JSON: Expecting value at line 1 column 1"),
        (b'{\n "a": 1,\n "b": }', "not valid JSON: Expecting value at line 3 column 7"),
        (b'{"a": 1', "not valid JSON: Expecting ',' delimiter at line 1 column 8"),
        (b'{"a": "\xff"}', "not UTF-8 text (byte 7)"),
        (b'{"a": "\\ud800"}', "holds a lone surrogate, which is no text"),
        (b'{"a": ' + b"1" * 5000 + b"}", "holds a number of too many digits"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH} levels"),
        (b"[]", "holds a list where a JSON object is wanted"),
        (b"null", "holds null where a JSON object is wanted"),
        (b'"x"', "holds a string where a JSON object is wanted"),
        (b"1", "holds a number where a JSON object is wanted"),
        (b"true", "holds a boolean where a JSON object is wanted"),
    ],
)
def test_the_message_names_the_file_and_what_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(CheckpointError) as caught:
        read_object("config.json", data)
    assert str(caught.value) == f"config.json: {message}"


def test_nesting_up_to_the_limit() -> None:
    depth = MAX_DEPTH - 1
    read_object("a.json", b'{"a":' * depth + b"1" + b"}" * depth)
    read_object("a.json", b'{"a": [' + b",".join([b"{}"] * 1000) + b"]}")


def test_text_is_read_as_pythons_text_mode_reads_it() -> None:
    assert read_text("t.jinja", b"a\r\nb\rc\nd") == "a\nb\nc\nd"
    with pytest.raises(CheckpointError, match=r"t.jinja: not UTF-8 text \(byte 1\)"):
        read_text("t.jinja", b"a\xff")


def test_messages_are_one_printable_line() -> None:
    message = str(CheckpointError("a\n\tb \x1b[31mred\u202e" + "x" * 10_000))
    assert message.startswith("a b \\x1b[31mred\\u202ex")
    assert message.isprintable()
    assert len(message) <= 600
