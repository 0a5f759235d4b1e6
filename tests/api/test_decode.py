"""Bodies against vLLM's verdicts, and the fast way against the slow one.

``cases_*.json``: bodies given to the request classes of vLLM 0.33, one a line, each with what became of it: ``accepts``
(the fields as they were read), ``param`` alone (pydantic refused it there), ``message`` and ``param`` (vLLM's own
words), ``type_error`` (a 400 without param) or ``crash`` (a 500 there, a 400 here).
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from typecase.api.chat import ChatRequest
from typecase.api.completions import decode_completion
from typecase.api.decode import decode_request, parse_json, read_fast, read_slowly
from typecase.api.errors import BodyError, JsonError, RequestError, UnreadableBody
from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.api.messages import CountTokensRequest, MessagesRequest
from typecase.api.responses import ResponsesRequest
from typecase.api.tokenize import DetokenizeRequest, TokenizeChat, decode_tokenize

HERE = Path(__file__).parent
USER = [{"role": "user", "content": "x"}]


def cases(name: str) -> list[Any]:
    found: list[Any] = json.loads((HERE / f"cases_{name}.json").read_text(encoding="utf-8"))
    assert found
    return [pytest.param(case, id=f"{i}") for i, case in enumerate(found)]


def utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def equal(a: Any, b: Any) -> bool:
    """Equality that tells 1, 1.0 and True apart."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(equal, a, b))
    return bool(a == b)


def check(case: dict[str, Any], decode: Any) -> Any:
    if "accepts" not in case:
        with pytest.raises(RequestError) as caught:
            decode(utf8(case["body"]))
        error = caught.value
        assert error.status == 400
        assert len(error.message) >= 10
        if "message" in case:
            assert (error.type, error.message) == ("BadRequestError", case["message"])
            assert error.param == case["param"]
        elif "param" in case:
            assert (error.type, error.param) == ("Bad Request", case["param"])
        elif "type_error" in case:
            assert (error.type, error.param) == ("BadRequestError", None)
        return None
    request = decode(utf8(case["body"]))
    for name, value in case["accepts"].items():
        if name != "messages":
            assert equal(msgspec.to_builtins(getattr(request, name)), value), name
    if "messages" in case["accepts"]:
        check_messages(request.messages, case["accepts"]["messages"])
    return request


def check_messages(ours: list[Any], theirs: list[Any]) -> None:
    """The same messages, and of tool calls, which templates may print, the same order of keys."""
    assert len(ours) == len(theirs)
    for mine, wanted in zip(ours, theirs, strict=True):
        assert mine.keys() == wanted.keys()
        for key, value in wanted.items():
            if key == "tool_calls" and wanted.get("role") == "assistant":
                assert json.dumps(mine[key]) == json.dumps(value)
            elif not isinstance(value, dict | list) or key != "content":
                assert equal(mine[key], value)


@pytest.mark.parametrize("case", cases("chat"))
def test_chat_bodies(case: dict[str, Any]) -> None:
    check(case, lambda body: decode_request(ChatRequest, body))


@pytest.mark.parametrize("case", cases("responses"))
def test_responses_bodies(case: dict[str, Any]) -> None:
    check(case, lambda body: decode_request(ResponsesRequest, body))


@pytest.mark.parametrize("case", cases("tokenize"))
def test_tokenize_bodies(case: dict[str, Any]) -> None:
    request = check(case, decode_tokenize)
    if "form" in case:
        assert isinstance(request, TokenizeChat) == (case["form"] == "chat")


@pytest.mark.parametrize("case", cases("detokenize"))
def test_detokenize_bodies(case: dict[str, Any]) -> None:
    check(case, lambda body: decode_request(DetokenizeRequest, body))


VALUES = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 5, 3.0, 2.5, float("inf"), 2**63, 10**30, "", "x", "5", "yes", "none", "auto"),
        *([], {}, [1], ["a"], ["a"] * 5, {"a": 1}, {"1": 2}, {"a": "b"}, [{"a": "b"}], "low", "left", "\ud800"),
        *({"json": {}}, {"type": "text"}, {"include_usage": True}, {"max_pattern_size": 2}, {"name": "f"}),
    ]
)
MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "assistant", "tool", "narrator", None]),
        "content": st.sampled_from(["c", "", None, 5, [], [{"type": "text", "text": "t"}], [1], {"a": 1}]),
        "name": st.sampled_from(["n", None]),
        "tool_call_id": st.sampled_from(["i", None, 5]),
        "reasoning_content": st.sampled_from(["r", None, 5]),
        "refusal": st.sampled_from([None, "r", 5]),
        "tool_calls": st.sampled_from(
            [
                *(None, [], "x", 5, [{}]),
                [{"type": "function", "id": "i", "function": {"name": "f", "arguments": "{}"}}],
                [{"type": "function", "id": "i", "function": {"name": "f", "arguments": {}}}],
            ]
        ),
    },
)
FIELDS = st.sampled_from([f.encode_name for f in msgspec.structs.fields(ChatRequest)])
TOOL = {"function": {"name": "f", "parameters": {}, "strict": True}}
BODY = st.builds(
    lambda messages, fields, tools: {**fields, **({"tools": tools} if tools else {}), "messages": messages},
    st.lists(MESSAGE, max_size=3) | st.just(USER),
    st.dictionaries(FIELDS, VALUES, max_size=3),
    st.sampled_from([None, None, [TOOL], [{**TOOL, "type": "function", "x": 1}], [{}]]),
)


@settings(max_examples=300, deadline=None)
@given(BODY)
def test_the_fast_way_agrees_with_the_slow_one(body: dict[str, Any]) -> None:
    """Whatever msgspec reads, the slow reader reads the same."""
    try:
        checked = ChatRequest.check_body(dict(body))
        fast = read_fast(ChatRequest, checked, DEFAULT_LIMITS)
    except RequestError:
        return
    if fast is not None:
        assert read_slowly(ChatRequest, checked, DEFAULT_LIMITS) == fast


@settings(max_examples=200, deadline=None)
@given(BODY)
def test_a_body_is_read_or_refused_and_left_alone(body: dict[str, Any]) -> None:
    """Nothing but a RequestError comes out, and a mapping given by a caller isn't changed."""
    before = json.dumps(body)
    with contextlib.suppress(RequestError):
        decode_request(ChatRequest, body)
    assert json.dumps(body) == before


def test_bytes_and_mapping_give_the_same() -> None:
    body = {"messages": USER, "temperature": 1, "unknown": {"kept": "out"}}
    assert decode_request(ChatRequest, json.dumps(body).encode()) == decode_request(ChatRequest, body)


def test_all_faults_are_told_with_value_and_way_out() -> None:
    with pytest.raises(BodyError) as caught:
        decode_request(ChatRequest, {"messages": USER, "temperature": "hot", "stop": 5, "n": {"a": 1}})
    assert caught.value.param == "body.n"
    assert caught.value.message == (
        "3 validation errors:\n"
        "  n: expected an integer, got an object with 1 key\n"
        "  stop: expected a string or a list, got 5\n"
        "  temperature: expected a number, got 'hot'"
    )


def test_many_faults_are_told_briefly() -> None:
    with pytest.raises(BodyError) as caught:
        decode_request(ChatRequest, {"messages": USER, "stop_token_ids": ["x" * 1000] * 100_000})
    assert caught.value.param == "body.stop_token_ids.0"
    assert len(caught.value.message) < 2000
    assert caught.value.message.endswith("more errors")


def test_the_stop_limit_can_be_moved() -> None:
    body = {"messages": USER, "stop": ["a"] * 6}
    with pytest.raises(BodyError, match="at most 4 items, got a list of 6 items"):
        decode_request(ChatRequest, body)
    assert len(decode_request(ChatRequest, body, limits=Limits(max_stop_strings=6)).stop or ()) == 6


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", "body"),
        (b"null", "body"),
        (b"[]", "body"),
        (b'"x"', "body"),
        (b"5", "body"),
        (b"{oops", "body.1"),
        (b'{"messages":[{"role":"user","content":"x"}]} extra', "body.45"),
        (b'{"a": "\x01"}', "body.7"),
        (b" ", "body.1"),
    ],
)
def test_what_is_no_object(body: bytes, param: str) -> None:
    with pytest.raises(BodyError) as caught:
        decode_request(ChatRequest, body)
    assert (caught.value.type, caught.value.param) == ("Bad Request", param)


@pytest.mark.parametrize("body", [b'{"a": "\xff"}', b'{"a": ' + b"9" * 5000 + b"}"])
def test_unreadable_bodies(body: bytes) -> None:
    with pytest.raises(UnreadableBody):
        decode_request(ChatRequest, body)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(JsonError, match="nested too deeply"):
        decode_request(ChatRequest, b'{"messages": ' + b"[" * 100_000)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_other_encodings_and_marks(encoding: str) -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "é"}]}, ensure_ascii=False).encode(encoding)
    assert decode_request(ChatRequest, body).messages[0]["content"] == "é"


def test_the_last_of_duplicate_keys_wins() -> None:
    body = b'{"messages":[{"role":"user","content":"x"}],"temperature":1,"temperature":0.5}'
    assert decode_request(ChatRequest, body).temperature == 0.5


def test_lone_surrogates_come_through() -> None:
    body = b'{"messages":[{"role":"user","content":"a\\ud800b"}],"request_id":"\\udc00"}'
    request = decode_request(ChatRequest, body)
    assert request.messages[0]["content"] == "a\ud800b"
    assert request.request_id == "\udc00"


def written_object(values: list[str]) -> str:
    return "{" + ",".join(f'"{"ab"[i % 2]}":{value}' for i, value in enumerate(values)) + "}"


ATOMS = (
    *("0", "-0", "1", "-1.5e3", "1e400", "-1e400", "12345678901234567890", "18446744073709551616", "5e-324", "NaN"),
    *("-Infinity", "01", "1.", "true", "nul", '"é\\u0041"', '"\\ud83d\\ude00"', '"\\ud800"', '"\\x"', '"\t"', '"'),
)
JSON_TEXT = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda values: f"[{', '.join(values)}]")
        | st.lists(inner, max_size=3).map(written_object)
    ),
    max_leaves=6,
)


@settings(max_examples=500, deadline=None)
@given(JSON_TEXT, st.sampled_from(["", " ", "\ufeff", "x"]), st.sampled_from(["", " ", ",", "x"]))
def test_json_is_read_as_the_standard_library_reads_it(text: str, before: str, after: str) -> None:
    body = (before + text + after).encode()
    outcomes: list[Any] = []
    for read in (json.loads, parse_json):
        try:
            outcomes.append(repr(read(body)))
        except json.JSONDecodeError as error:
            outcomes.append(f"body.{error.pos}")
        except JsonError as error:
            outcomes.append(error.param)
    assert outcomes[0] == outcomes[1]


DECODERS: dict[str, Any] = {
    "/v1/chat/completions/render": lambda body: decode_request(ChatRequest, body),
    "/v1/completions/render": decode_completion,
    "/v1/messages/render": lambda body: decode_request(MessagesRequest, body),
    "/v1/messages/count_tokens": lambda body: decode_request(CountTokensRequest, body),
    "/v1/responses/render": lambda body: decode_request(ResponsesRequest, body),
    "/tokenize": decode_tokenize,
    "/detokenize": lambda body: decode_request(DetokenizeRequest, body),
}
# What pydantic or Python worded, which only has to agree in kind and place.
LIBRARY_WORDS = re.compile(r"\d+ validation errors?\b|'\w+' object (is|has) ")


def sent(sample: dict[str, Any]) -> bytes:
    if "body_b64" in sample:
        return base64.b64decode(sample["body_b64"])
    return utf8(sample["body_text"] if "body_text" in sample else json.dumps(sample["body"]))


def param_without_classes(param: str | None) -> str | None:
    return param and ".".join(part for part in param.split(".") if part == part.lower())


@pytest.mark.shared
def test_recorded_answers(shared: Path) -> None:
    """Bodies that the peer rendered are read; those it refused while reading are refused there, at the same place."""
    read = refused = 0
    for file in sorted((shared / "golden").glob("samples-*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            decode = DECODERS.get(sample.get("path", ""))
            if (
                decode is None
                or sample.get("method", "POST") != "POST"
                or sample.get("status") in (None, 401)
                or sample.get("no_content_type")
            ):
                continue
            error: RequestError | None = None
            try:
                decode(sent(sample))
            except RequestError as caught:
                error = caught
            where = (file.name, sample["name"])
            if sample["status"] == 200:
                assert error is None, where
                read += 1
                continue
            told = sample["response"].get("error")
            if told is None or "Unsupported Media Type" in told["message"]:
                continue
            if told["type"] == "Bad Request" or error is not None:
                assert error is not None, where
                assert error.param == param_without_classes(told["param"]) or told["code"] == 500, where
                if not LIBRARY_WORDS.search(told["message"]):
                    assert (error.type, error.message) == (told["type"], told["message"]), where
                refused += 1
    assert read > 1500
    assert refused > 100
