"""Random conversations: our ids against HF ``tokenizers`` on the text that transformers writes.

The expected side owes nothing to ours: transformers renders the template over messages prepared here, ``tokenizers``
encodes with the checkpoint's tokenizer.json. Each conversation is rendered with and without a cache, twice, by the
library that is chosen at start and by the fallback. What a template refuses is tried on both sides and doesn't count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from tests.conftest import models_folder

from typecase.api.errors import RequestError
from typecase.front import Front, FrontOptions
from typecase.loading.sources import Source, load_checkpoint
from typecase.model import Model
from typecase.text.tokenizer import Choice, load_tokenizer

Message = dict[str, Any]

NOW = datetime(2026, 1, 15, 10, 30)
CACHE_BYTES = 1 << 20  # small enough that entries are also thrown out
OPTIONS = FrontOptions(
    served_model_names=("m",), max_model_len=1 << 20, enable_auto_tool_choice=True, tool_call_parser="hermes"
)

SPICES = (
    " ", "  ", "\n", "\n\n", " \n ", "\t", "\r\n", "\u00a0", "\u2028", "'s", "'LL", "1", "12", "123", "1234", "½", "٣",
    "e\u0301", "\u0301", "한국어", "漢字かな", "สวัสดี", "नमस्ते", "שלום", "👩‍👩‍👧", "❤️", "🏽", "▁", "Ġ",
    "<0x0A>", "\x00", "<", "|>", "</", "The quick", " brown fox", "def f(x):\n\treturn x", '{"a": 1}', "system\nEvil",
)  # fmt: skip


def fragments(markers: list[str]) -> st.SearchStrategy[str]:
    """Text, and the tokenizer's own added tokens: whole, cut, doubled, in other case, with a letter too many."""
    marker = st.sampled_from(markers)

    def altered(text: str, kind: int, at: int) -> str:
        at %= len(text) + 1
        return (text[:at], text[at:], text * 2, text.swapcase(), text.upper(), text[:at] + "x" + text[at:])[kind]

    return st.one_of(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
        st.sampled_from(SPICES),
        marker,
        st.builds(altered, marker, st.integers(0, 5), st.integers(0, 40)),
    )


def texts(markers: list[str]) -> st.SearchStrategy[str]:
    return st.lists(fragments(markers), max_size=6).map("".join)


@st.composite
def conversations(draw: st.DrawFn, markers: list[str]) -> dict[str, Any]:
    """A chat request: mostly turns as templates want them, now and then any roles; tools and calls in some."""
    text = texts(markers)
    request: dict[str, Any] = {"messages": []}
    if draw(st.integers(0, 3)) == 0:
        request["tools"] = draw(st.lists(_tools(text), min_size=1, max_size=2))
    if draw(st.booleans()):
        request["chat_template_kwargs"] = {"enable_thinking": draw(st.booleans())}
    messages = request["messages"]
    if draw(st.integers(0, 4)) == 0:
        roles = draw(st.lists(st.sampled_from(["system", "user", "assistant", "narrator"]), min_size=1, max_size=4))
        messages += [{"role": role, "content": draw(text)} for role in roles]
        return request
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(text)})
    for _ in range(draw(st.integers(0, 2))):
        messages.append({"role": "user", "content": draw(text)})
        messages += draw(_assistant_turns(text)) if "tools" in request else []
        answer = {"role": "assistant", "content": draw(text)}
        if draw(st.booleans()):
            answer["reasoning"] = draw(text)
        messages.append(answer)
    messages.append({"role": "user", "content": draw(text)})
    return request


@st.composite
def _tools(draw: st.DrawFn, text: st.SearchStrategy[str]) -> Message:
    # In the form and order that templates get to see, so that both sides start from the same.
    properties = {draw(text): {"type": "string", "description": draw(text)}}
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": "f", "description": draw(text), "parameters": parameters}}


@st.composite
def _assistant_turns(draw: st.DrawFn, text: st.SearchStrategy[str]) -> list[Message]:
    """A call and its result, or nothing."""
    if draw(st.booleans()):
        return []
    leaf = st.one_of(text, st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none())
    arguments = draw(st.dictionaries(text, leaf | st.lists(leaf, max_size=2), max_size=2))
    function = {"arguments": json.dumps(arguments, ensure_ascii=draw(st.booleans())), "name": "f"}
    call = {"id": "abcdEFGH1", "function": function, "type": "function"}
    return [
        {"role": "assistant", "content": draw(text), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdEFGH1", "content": draw(text)},
    ]


def as_templates_see(messages: Iterable[Message], *, parts: bool) -> list[Message]:
    """What vLLM makes of these messages: contents as parts if the template wants that, arguments as mappings, reasoning
    under both names."""
    seen = []
    for message in messages:
        message = dict(message)
        if parts and message["role"] != "tool":
            message["content"] = [{"type": "text", "text": message["content"]}]
        if "reasoning" in message:
            message["reasoning_content"] = message["reasoning"]
        if "tool_calls" in message:
            message["tool_calls"] = [
                {**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}}
                for c in message["tool_calls"]
            ]
        seen.append(message)
    return seen


class Comparison:
    """One checkpoint: ours in several set-ups, and theirs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch):
        from transformers import AutoTokenizer

        self.compared = 0
        self._stop_clock(monkeypatch)
        checkpoint = load_checkpoint(Source(model=str(folder)))
        self._encoder = tokenizers.Tokenizer.from_str(checkpoint.tokenizer_json.decode())
        self._encoder.no_truncation()
        self._encoder.no_padding()
        self._writer = AutoTokenizer.from_pretrained(str(folder), mistral_format=False)

        def ours(choice: Choice, cache_bytes: int) -> Model:
            tokenizer = load_tokenizer(checkpoint.tokenizer_json, cache_bytes=cache_bytes, choice=choice)
            options = replace(OPTIONS, tool_call_parser="openai") if checkpoint.model_type == "gpt_oss" else OPTIONS
            return Model(Front(checkpoint, tokenizer, options), root="m")

        self._ours = {"chosen, with cache": ours("auto", CACHE_BYTES)}
        front = self._ours["chosen, with cache"].front
        if front.tokenizer.backend == "fastokens":
            self._ours["fastokens"] = ours("fastokens", 0)
        self._ours["fallback"] = ours("tokenizers", 0)
        self._ours["fallback, with cache"] = ours("tokenizers", CACHE_BYTES)
        self.markers = [token.content for token in front.tokenizer.pipeline.added_tokens]
        template = front.template(None, has_tools=False)
        self.has_template = template is not None
        self._parts = template is not None and template.content_format == "openai"

    def chat(self, request: dict[str, Any]) -> None:
        """Ids of a conversation. One that is refused here must be refused there."""

        def render(model: Model, given: Any) -> list[int]:
            return model.render_chat(given, now=NOW).token_ids.tolist()

        try:
            expected = self._encode(self._write(request))
        except Exception:  # templates can raise anything
            expected = []
        if not expected:
            for model in self._ours.values():
                with pytest.raises(RequestError):
                    render(model, request)
            reject()
        self._compare(expected, request, render)

    def text(self, text: str) -> None:
        """Ids of plain text, as ``/tokenize`` gives them."""

        def tokenize(model: Model, given: Any) -> list[int]:
            return model.tokenize(given).tokens

        self._compare(self._encode(text), {"prompt": text, "add_special_tokens": False}, tokenize)

    def _compare(self, expected: list[int], request: dict[str, Any], ids: Callable[[Model, Any], list[int]]) -> None:
        body = json.dumps(request).encode()
        for name, model in self._ours.items():
            assert ids(model, request) == expected, name
            assert ids(model, body) == expected, f"{name}, asked again"
        self.compared += 1

    def _write(self, request: dict[str, Any]) -> str:
        kwargs = {"add_generation_prompt": True, "cohere_format": "cmd4", **request.get("chat_template_kwargs", {})}
        messages = as_templates_see(request["messages"], parts=self._parts)
        text = self._writer.apply_chat_template(messages, tools=request.get("tools"), tokenize=False, **kwargs)
        assert isinstance(text, str)
        return text

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._encoder.encode(text, add_special_tokens=False).ids
        return ids

    @staticmethod
    def _stop_clock(monkeypatch: pytest.MonkeyPatch) -> None:
        from transformers.utils import chat_template_utils

        class Stopped(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> Stopped:
                return cls(NOW.year, NOW.month, NOW.day, NOW.hour, NOW.minute)

        monkeypatch.setattr(chat_template_utils, "datetime", Stopped)


def compare(folder: Path, monkeypatch: pytest.MonkeyPatch, *, examples: int, derandomize: bool = True) -> None:
    comparison = Comparison(folder, monkeypatch)
    how = settings(
        max_examples=examples,
        derandomize=derandomize,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    if comparison.has_template:
        how(given(conversations(comparison.markers))(comparison.chat))()
    else:
        how(given(texts(comparison.markers))(comparison.text))()
    assert comparison.compared >= examples // 2, "the template refuses nearly everything"


# No template says what these should read; tests/prompt/writers holds them to their families' own encoders.
WRITTEN_IN_CODE = {"gptoss", "deepseek_v32", "deepseek_v4"}
NAMES = sorted(
    {p.parent.name for p in (models_folder() or Path("/nonexistent")).glob("*/tokenizer.json")} - WRITTEN_IN_CODE
)


def test_small_checkpoint(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compare(tiny, monkeypatch, examples=500)


@pytest.mark.network
@pytest.mark.parametrize("name", NAMES)
def test_real_checkpoints(models: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    compare(models / name, monkeypatch, examples=20)


@pytest.mark.network
@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_real_checkpoints_for_long(models: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    compare(models / name, monkeypatch, examples=800, derandomize=False)
