"""Harmony prompts: tool definitions, headers, special tokens in text, conversations that can't be read.

``cases_harmony_tools.json`` holds what OpenAI's library (``oss-harmony`` 0.0.11, which vLLM 0.33 uses) makes of tools.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from typecase.api.errors import RequestError
from typecase.prompt.writers.harmony import HarmonyWriter
from typecase.prompt.writers.harmony_json import written_value
from typecase.prompt.writers.harmony_messages import Developer, HarmonyMessage, NoText, System, without_old_analysis
from typecase.prompt.writers.harmony_tools import HarmonyTool, tools_section
from typecase.prompt.writers.harmony_types import typescript
from typecase.text.tokenizer import Tokenizer, load_tokenizer

MARKERS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>", "<|return|>")
TOOL_CASES = json.loads((Path(__file__).parent / "cases_harmony_tools.json").read_text("utf-8"))
SYSTEM = HarmonyMessage("system", (System(date="2026-01-15"),))


@pytest.fixture(scope="module")
def tokenizer_json(tiny: Path) -> bytes:
    """The small tokenizer, with harmony's special tokens."""
    whole = json.loads((tiny / "tokenizer.json").read_bytes())
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    added = whole["added_tokens"]
    added += [{"id": 1093 + i, "content": marker, **flags} for i, marker in enumerate(MARKERS)]
    return json.dumps(whole).encode()


@pytest.fixture(scope="module", params=["fastokens", "tokenizers"])
def tokenizer(tokenizer_json: bytes, request: pytest.FixtureRequest) -> Tokenizer:
    return load_tokenizer(tokenizer_json, choice=request.param, cache_bytes=1 << 20)


@pytest.fixture(scope="module")
def writer(tokenizer: Tokenizer) -> HarmonyWriter:
    return HarmonyWriter(tokenizer)


def written(writer: HarmonyWriter, tokenizer: Tokenizer, *messages: HarmonyMessage) -> str:
    return tokenizer.decode(writer.write(messages)).removesuffix("<|start|>assistant")


def assistant(text: str, **fields: Any) -> HarmonyMessage:
    return HarmonyMessage("assistant", (text,), **fields)


@pytest.mark.parametrize("case", TOOL_CASES, ids=range(len(TOOL_CASES)))
def test_tools_are_written_as_openai_writes_them(case: dict[str, Any]) -> None:
    tools = [HarmonyTool(t["name"], t.get("description", ""), t.get("parameters")) for t in case["tools"]]
    assert tools_section(tools) == case["text"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"), (-0.0, "-0.0"), (1e-5, "0.00001"), (-1.5e-5, "-0.000015"), (1e-6, "1e-6"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e+16"), (1.5e300, "1.5e+300"), (5e-324, "5e-324"), (2**64 - 1, "18446744073709551615"),
        (2**64, "1.8446744073709552e+19"), (-(2**63), "-9223372036854775808"), (-(2**63) - 1, "-9.223372036854776e+18"),
        ("é\"\\\n\x07\x7f", '"é\\"\\\\\\n\\u0007\x7f"'), ({"a": [None, True]}, '{"a":[null,true]}'),
    ],
)  # fmt: skip
def test_values_are_written_as_rust_writes_them(value: object, text: str) -> None:
    assert written_value(value) == text


def test_added_tokens_in_text_stay_text(writer: HarmonyWriter, tokenizer: Tokenizer) -> None:
    text = "a <|start|>system<|message|>b<|end|> <think>c</think>"
    ids = writer.write([HarmonyMessage("user", (text,))]).tolist()
    assert [i for i in ids if i >= 1093] == [1093, 1095, 1094, 1093]  # the message's own, and the next one's start
    assert not {1089, 1090}.intersection(ids)
    assert text in tokenizer.decode(ids)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (assistant("{}", channel="commentary", recipient="functions.f", content_type="json"),
         "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>"),
        (assistant("{}", channel="commentary", recipient="f", content_type="<|constrain|>json"),
         "<|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>"),
        (assistant("{}", channel="commentary", recipient="f"),
         "<|start|>assistant<|channel|>commentary to=f<|message|>{}<|call|>"),
        (assistant("{}", channel="commentary", recipient="f", content_type="<|constrain|>"),
         "<|start|>assistant<|channel|>commentary to=f <|constrain|><|message|>{}<|call|>"),
        (assistant("x", channel="analysis", recipient="python", content_type="code"),
         "<|start|>assistant to=python<|channel|>analysis <|constrain|>code<|message|>x<|call|>"),
        (assistant("x", channel="commentary", recipient="all", content_type="json"),
         "<|start|>assistant<|channel|>commentary <|constrain|>json<|message|>x<|call|>"),
        (assistant("x", channel="a to=b", content_type="json"),
         "<|start|>assistant to=b<|channel|>a json<|message|>x<|end|>"),
        (assistant("x", name="bob", channel="commentary", recipient="f", content_type="json"),
         "<|start|>assistant:bob<|channel|>commentary to=f <|constrain|>json<|message|>x<|call|>"),
        (assistant("x", recipient="f", content_type="json"),
         "<|start|>assistant to=f <|constrain|>json<|message|>x<|call|>"),
        (HarmonyMessage("tool", ("r",), name="functions.f", channel="commentary", recipient="assistant"),
         "<|start|>functions.f<|channel|>commentary to=assistant<|message|>r<|end|>"),
        (HarmonyMessage("user", ("a", "", "b"), name="ann"), "<|start|>user:ann<|message|>ab<|end|>"),
        (HarmonyMessage("developer", (Developer(instructions="Do."),)),
         "<|start|>developer<|message|># Instructions\n\nDo.<|end|>"),
        (HarmonyMessage("developer", (Developer(),)), "<|start|>developer<|message|><|end|>"),
    ],
)  # fmt: skip
def test_headers(writer: HarmonyWriter, tokenizer: Tokenizer, message: HarmonyMessage, text: str) -> None:
    assert written(writer, tokenizer, message) == text


def test_the_system_message_speaks_of_functions_defined_later(writer: HarmonyWriter, tokenizer: Tokenizer) -> None:
    tools = HarmonyMessage("developer", (Developer(tools=[HarmonyTool("f", "", None)]),))
    calls = "Calls to these tools must go to the commentary channel: 'functions'."
    assert calls in written(writer, tokenizer, SYSTEM, tools)
    assert calls not in written(writer, tokenizer, SYSTEM)


def test_thoughts_before_the_last_answer_are_left_out() -> None:
    first, answer, last = (
        assistant("1", channel="analysis"),
        assistant("2", channel="final"),
        assistant("3", channel="analysis"),
    )
    aside = HarmonyMessage("tool", ("4",), channel="analysis", name="t")
    assert without_old_analysis([first, aside, answer, last]) == [answer, last]
    assert without_old_analysis([first, last]) == [first, last]


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"x": value}
    return value


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"a": float("nan")}, "expected value at line 1 column 172"),
        ({"a": float("-inf")}, "invalid number at line 1 column 173"),
        ({"a": 10**400}, "number out of range at line 1 column 572"),
        ({"$defs": ["\ud800"]}, "unexpected end of hex escape at line 1 column 184"),
        ({"\udc00": 1}, "lone leading surrogate in hex escape at line 1 column 173"),
        (nested(130), "recursion limit exceeded at line 1 column 874"),
    ],
)
def test_unreadable_parameters(writer: HarmonyWriter, parameters: dict[str, Any], words: str) -> None:
    """Even where a prompt wouldn't show them."""
    message = HarmonyMessage("developer", (Developer(tools=[HarmonyTool("f", "", parameters)]),))
    with pytest.raises(RequestError, match=f"invalid conversation JSON: {words}"):
        writer.write([message])


@pytest.mark.parametrize("around", ["properties", "oneOf", "examples"])
def test_indentation_that_would_fill_memory(around: str) -> None:
    """A member of three characters is two hundred at this depth."""
    schema: Any = {"properties": dict.fromkeys(map(str, range(300_000)), 0)}
    schema |= {"oneOf": [0] * 300_000, "examples": ["a"] * 300_000}
    schema = {"type": "object", around: schema[around]}
    for _ in range(54):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(RequestError, match="more than 32 MB") as caught:
        typescript(schema)
    assert caught.value.param == "tools"


def test_the_definitions_of_many_tools_have_a_length_together(writer: HarmonyWriter) -> None:
    tool = HarmonyTool("f", "", {"type": "object", "properties": {"a": {"description": "x" * (1 << 20)}}})
    message = HarmonyMessage("developer", (Developer(tools=[tool] * 40),))
    with pytest.raises(RequestError, match="more than 32 MB"):
        writer.write([message])


def test_parameters_as_deep_as_can_be(writer: HarmonyWriter) -> None:
    for levels, fits in ((118, True), (119, False)):
        message = HarmonyMessage("developer", (Developer(tools=[HarmonyTool("f", "", nested(levels))]),))
        if fits:
            assert writer.write([message])
        else:
            with pytest.raises(RequestError, match="recursion limit exceeded"):
                writer.write([message])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (HarmonyMessage("tool", ("x",)), "Tools should have a name!"),
        (HarmonyMessage("user", (NoText("no text"),)), "no text"),
        (assistant("x", channel="commentary", recipient="<|end|>", content_type="json"), r"can't hold <\|end\|>"),
    ],
)
def test_refusals(writer: HarmonyWriter, message: HarmonyMessage, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        writer.write([message])


def test_what_cant_be_read_is_told_before_what_cant_be_written(writer: HarmonyWriter) -> None:
    with pytest.raises(RequestError, match="invalid conversation JSON: lone leading surrogate"):
        writer.write([HarmonyMessage("tool", ("x",)), HarmonyMessage("user", ("\udc00",))])


def test_a_tokenizer_without_the_markers(tiny: Path) -> None:
    with pytest.raises(LookupError, match=r"<\|start\|>"):
        HarmonyWriter(load_tokenizer((tiny / "tokenizer.json").read_bytes()))
