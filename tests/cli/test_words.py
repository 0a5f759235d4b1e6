"""Words rewritten for argparse."""

from __future__ import annotations

import pytest

from typecase.cli.words import WordsError, rewrite


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--max_model_len", "a_b"], ["--max-model-len", "a_b"]),
        (["--api_key=a_b=c"], ["--api-key=a_b=c"]),
        (["-O3"], ["--optimization-level", "3"]),
        (["-O=3"], ["--optimization-level", "3"]),
        (["-O", "3"], ["--optimization-level", "3"]),
        (["-O", "m"], ["-O", "m"]),
        (["--a_b.c_d", "1k"], ["--a-b", '{"c_d": 1000}']),
        (["--a.b=1", "--a.c.d", "x", "m"], ["m", "--a", '{"b": 1, "c": {"d": "x"}}']),
        (["--a.l+", "p,q", "--a.l+=r"], ["--a", '{"l": ["p", "q", "r"]}']),
        (["--a", "{}", "--a.b", "null"], ["--a", "{}", "--a", '{"b": null}']),
        (["-cc.mode", "1.5K"], ["-cc", '{"mode": "1.5K"}']),
        (["--a=b.c", "./m.x"], ["--a=b.c", "./m.x"]),
    ],
)
def test_rewrite(args: list[str], expected: list[str]) -> None:
    assert rewrite(args).args == expected


def test_word_of_help() -> None:
    words = rewrite(["--help=max_model"])
    assert (words.args, words.help) == (["--help"], "max_model")


def test_repeated_flags_are_noted() -> None:
    assert rewrite(["--a", "1", "--a=2", "--a", "3", "--b.c", "1", "--b.c", "2"]).repeated == ["--a", "--b.c"]


def test_key_without_value() -> None:
    with pytest.raises(WordsError, match=r"argument --a\.b: expected one argument"):
        rewrite(["--a.b"])
