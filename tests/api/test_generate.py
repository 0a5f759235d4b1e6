"""How a GenerateRequest is written."""

from __future__ import annotations

import json
from array import array
from typing import Any

import pytest
from msgspec import UNSET

from typecase.api.errors import RequestError
from typecase.api.generate import (
    GenerateRequest,
    ParseContext,
    SamplingParams,
    encode_generate_request,
    encode_generate_requests,
)
from typecase.api.ids import ids_from_list, ids_to_list
from typecase.api.structured import StructuredOutputs


def sampling(**given: Any) -> SamplingParams:
    return SamplingParams(
        **{
            "presence_penalty": 0.0,
            "frequency_penalty": 0.0,
            "repetition_penalty": 1.0,
            "temperature": 1.0,
            "top_p": 1.0,
            "min_p": 0.0,
            "stop": [],
            "stop_token_ids": [],
            "max_tokens": 16,
            "output_kind": 2,
            "skip_clone": True,
            "bad_words": [],
            "skip_reading_prefix_cache": False,
            **given,
        }
    )


def request(**given: Any) -> GenerateRequest:
    usual: dict[str, Any] = {
        "request_id": "r",
        "token_ids": array("I", [5, 2**32 - 1]),
        "sampling_params": sampling(),
    }
    return GenerateRequest(**(usual | given))


def test_every_key_in_order_and_the_smallest_sampling_params() -> None:
    assert encode_generate_request(request()) == (
        b'{"request_id":"r","token_ids":[5,4294967295],"token_offsets":null,"features":null,"content_parts":null,'
        b'"sampling_params":{"presence_penalty":0.0,"frequency_penalty":0.0,"repetition_penalty":1.0,"temperature":1.0,'
        b'"top_p":1.0,"min_p":0.0,"stop":[],"stop_token_ids":[],"max_tokens":16,"output_kind":2,"skip_clone":true,'
        b'"bad_words":[],"skip_reading_prefix_cache":false},"model":null,"reasoning_ended":null,'
        b'"reasoning_parser_kwargs":null,"return_token_ids":null,"output_mode":"tokens","parse_context":null,'
        b'"stream":false,"stream_options":null,"cache_salt":null,"priority":0,"kv_transfer_params":null,'
        b'"ec_transfer_params":null}'
    )


def test_the_ids_stay_an_array() -> None:
    rendered = request()
    encode_generate_request(rendered)
    assert rendered.token_ids == array("I", [5, 2**32 - 1])


def test_greedy_leaves_two_keys_out() -> None:
    written = json.loads(encode_generate_request(request(sampling_params=sampling(top_p=UNSET, min_p=UNSET))))
    assert not {"top_p", "min_p"} & written["sampling_params"].keys()


def test_constraints_show_all_their_keys() -> None:
    params = sampling(structured_outputs=StructuredOutputs(choice=["é"]), logit_bias={5: 1.0})
    written = json.loads(encode_generate_request(request(sampling_params=params)))["sampling_params"]
    assert json.dumps(written["structured_outputs"], ensure_ascii=False) == (
        '{"json": null, "regex": null, "choice": ["é"], "grammar": null, "json_object": null, '
        '"disable_any_whitespace": false, "disable_additional_properties": false, "whitespace_pattern": null, '
        '"structural_tag": null, "_backend": null, "_backend_was_auto": false}'
    )
    assert written["logit_bias"] == {"5": 1.0}


def test_text_is_utf8_and_integers_may_be_long() -> None:
    written = encode_generate_request(request(kv_transfer_params={"é": [2**70, -(2**70), 2**64 - 1]}))
    assert "é".encode() in written
    assert json.loads(written)["kv_transfer_params"] == {"é": [2**70, -(2**70), 2**64 - 1]}


def test_several_are_an_array() -> None:
    written = json.loads(encode_generate_requests([request(), request(request_id="s")]))
    assert [one["request_id"] for one in written] == ["r", "s"]


def test_several_have_a_length_together() -> None:
    """Each repeats what the request said once."""
    large = request(cache_salt="x" * (64 << 20))
    with pytest.raises(RequestError, match="512 MB") as caught:
        encode_generate_requests([large] * 1024)
    assert caught.value.param == "prompt"


CONTEXT: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "f", "description": "\ud800", "parameters": None}}],
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "include_reasoning": True,
    "chat_template_kwargs": {},
    "history_tool_call_cnt": 0,
}


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ({"request_id": "\udc00"}, "body.request_id"),
        ({"kv_transfer_params": {"a": ["x", "\ud800"]}}, "body.kv_transfer_params.a.1"),
        ({"kv_transfer_params": {"\ud800": 1}}, "body.kv_transfer_params"),
        ({"sampling_params": sampling(stop=["\ud800"])}, "body.stop.0"),
        ({"sampling_params": sampling(extra_args={"k": "\ud800"})}, "body.vllm_xargs.k"),
        ({"parse_context": ParseContext(**CONTEXT)}, "body.tools.0.function.description"),
    ],
)
def test_a_lone_surrogate_is_a_fault_of_its_field(given: dict[str, Any], param: str) -> None:
    with pytest.raises(RequestError, match="lone surrogate") as caught:
        encode_generate_request(request(**given))
    assert (caught.value.status, caught.value.param) == (400, param)


def test_what_is_nested_too_deeply_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(20_000):
        value = {"a": value}
    with pytest.raises(RequestError, match="nested too deeply"):
        encode_generate_request(request(kv_transfer_params=value))
    while value:
        value = value["a"]  # taken apart bit by bit: the interpreter would recurse


def test_ids() -> None:
    assert ids_to_list(ids_from_list([1, 2])) == [1, 2]
    with pytest.raises(OverflowError):
        ids_from_list([2**32])
    with pytest.raises(OverflowError):
        ids_from_list([-1])
