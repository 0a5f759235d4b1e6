"""Sampling parameters against vLLM: a table of bodies, every recorded render answer, and the rules of ``max_tokens``.

``cases_sampling.json``: chat bodies given to vLLM 0.33 with 100 tokens left, each with the parameters or error it gave.
"""

from __future__ import annotations

import json
import re
from array import array
from pathlib import Path
from typing import Any

import msgspec
import pytest

from typecase.api.chat import ChatRequest
from typecase.api.decode import decode_request
from typecase.api.errors import InvalidParameter, RequestError
from typecase.api.generate import GenerateRequest, SamplingParams, encode_generate_request
from typecase.api.limits import Limits
from typecase.api.responses import ResponsesRequest
from typecase.checkpoint.model_config import max_model_len
from typecase.checkpoint.sampling_defaults import SamplingDefaults, sampling_defaults
from typecase.render.sampling import check_requested_tokens, resolve_sampling

CASES = json.loads((Path(__file__).parent / "cases_sampling.json").read_text(encoding="utf-8"))
USER = [{"role": "user", "content": "x"}]
PLAIN = SamplingDefaults()


def chat(**fields: Any) -> ChatRequest:
    return decode_request(ChatRequest, {"messages": USER, **fields})


def responses(**fields: Any) -> ResponsesRequest:
    return decode_request(ResponsesRequest, {"input": "x", **fields})


def resolve(
    request: ChatRequest | ResponsesRequest, *, context: int = 100, prompt: int = 10, defaults: SamplingDefaults = PLAIN
) -> SamplingParams:
    return resolve_sampling(request, defaults=defaults, max_model_len=context, prompt_len=prompt)


def written(params: SamplingParams) -> Any:
    request = GenerateRequest(request_id="r", token_ids=array("I", [1]), sampling_params=params)
    return json.loads(encode_generate_request(request))["sampling_params"]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_cases(case: dict[str, Any]) -> None:
    request = decode_request(ChatRequest, case["body"].encode())
    defaults = sampling_defaults(case["defaults"])
    if "message" in case:
        with pytest.raises(RequestError) as caught:
            resolve(request, prompt=0, defaults=defaults)
        assert (caught.value.message, caught.value.param) == (case["message"], case["param"])
        return
    params = written(resolve(request, prompt=0, defaults=defaults))
    assert json.dumps(params) == json.dumps(case["sampling_params"])
    if "tools" in case:
        assert json.dumps([request.tools, request.tool_choice]) == json.dumps([case["tools"], case["tool_choice"]])
    if "stream_options" in case:
        assert json.dumps(request.stream_options) == json.dumps(case["stream_options"])


@pytest.mark.shared
def test_every_recorded_chat(shared: Path) -> None:
    count = 0
    for file in sorted((shared / "golden").glob("samples-*.jsonl")):
        header, *samples = map(json.loads, file.read_text(encoding="utf-8").splitlines())
        model = shared / "models" / "overlays" / header["header"]["model_dir"]
        flag = re.search(r"--max-model-len (\d+)", header["header"]["start"])
        context = int(flag[1]) if flag else max_model_len(json.loads((model / "config.json").read_text()))
        assert context is not None
        own = model / "generation_config.json"
        defaults = sampling_defaults(json.loads(own.read_text()) if own.exists() else {})
        for sample in samples:
            if sample.get("status") != 200 or not sample.get("path", "").startswith("/v1/chat/completions/render"):
                continue
            body = json.dumps(sample["body"]) if "body" in sample else sample["body_text"]
            request = decode_request(ChatRequest, body.encode("utf-8", "surrogatepass"))
            answer = sample["response"]
            params = written(resolve(request, context=context, prompt=len(answer["token_ids"]), defaults=defaults))
            wanted = answer["sampling_params"]
            # Always written here; the peer leaves 16 out.
            wanted.setdefault("max_tokens", 16)
            for later in ("skip_special_tokens", "structured_outputs"):  # parsers change these
                params.pop(later, None)
                wanted.pop(later, None)
            assert params == wanted, (file.name, sample["name"])
            assert list(params) == [k for k in params if k in wanted]
            assert request.tools == answer["parse_context"]["tools"]
            assert request.tool_choice == answer["parse_context"]["tool_choice"]
            assert (request.stream_options if request.stream else None) == answer["stream_options"]
            count += 1
    assert count > 900


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"max_tokens": 101},
            "max_tokens=101 cannot be greater than max_model_len=100. Please request fewer output tokens.",
        ),
        ({"max_tokens": 5, "max_completion_tokens": 200}, "max_completion_tokens=200 cannot be greater than"),
    ],
)
def test_more_than_the_context_is_refused_beforehand(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_requested_tokens(chat(**fields), 100)
    assert caught.value.message.startswith(message)
    check_requested_tokens(chat(max_tokens=100), 100)
    check_requested_tokens(chat(max_tokens=101, max_completion_tokens=1), 100)


def test_a_responses_request_names_its_own_field() -> None:
    with pytest.raises(InvalidParameter) as caught:
        check_requested_tokens(responses(max_output_tokens=101), 100)
    assert caught.value.param == "max_output_tokens"
    check_requested_tokens(responses(), 100)


CAPPED = sampling_defaults({}, choice={"max_new_tokens": 30})
DEFAULTED = sampling_defaults({"max_new_tokens": 30})
OVERRIDDEN = sampling_defaults({"max_new_tokens": 60}, overrides={"max_new_tokens": 30})


@pytest.mark.parametrize(
    ("fields", "defaults", "resolved"),
    [
        ({}, PLAIN, 90),
        ({"max_tokens": 16}, PLAIN, 16),
        ({"max_tokens": 99}, PLAIN, 90),
        ({"max_tokens": 5, "max_completion_tokens": 7}, PLAIN, 7),
        ({}, DEFAULTED, 30),
        ({"max_tokens": 50}, DEFAULTED, 50),
        ({}, CAPPED, 30),
        ({"max_tokens": 50}, CAPPED, 30),
        ({"max_tokens": 20}, CAPPED, 20),
        ({"max_tokens": 50}, OVERRIDDEN, 30),
        ({"truncate_prompt_tokens": 4}, PLAIN, 96),
        ({"truncate_prompt_tokens": -1}, PLAIN, 90),
    ],
)
def test_max_tokens(fields: dict[str, Any], defaults: SamplingDefaults, resolved: int) -> None:
    assert resolve(chat(**fields), defaults=defaults).max_tokens == resolved


def test_a_full_context_leaves_nothing() -> None:
    with pytest.raises(InvalidParameter, match="max_tokens must be at least 1, got 0"):
        resolve(chat(), prompt=100)
    with pytest.raises(RequestError, match="exceeds model's maximum context length"):
        resolve(chat(), prompt=101)


def test_max_tokens_is_written_even_if_16() -> None:
    assert written(resolve(chat(max_tokens=16)))["max_tokens"] == 16


def test_limits_can_be_moved() -> None:
    with pytest.raises(RequestError, match="n must be at most 3, got 4"):
        resolve_sampling(
            chat(n=4, temperature=1), defaults=PLAIN, max_model_len=100, prompt_len=1, limits=Limits(max_n=3)
        )


def test_responses_have_extra_args_unless_transfer_parameters_were_among_them() -> None:
    assert written(resolve(responses()))["extra_args"] == {}
    assert written(resolve(responses(vllm_xargs={"a": 1})))["extra_args"] == {"a": 1}
    assert "extra_args" not in written(resolve(responses(kv_transfer_params={"b": 1})))
    assert written(resolve(responses(kv_transfer_params={})))["extra_args"] == {}
    assert "extra_args" not in written(resolve(chat()))


def test_responses_logprobs_need_include() -> None:
    wanted = ["message.output_text.logprobs"]
    assert resolve(responses(top_logprobs=3)).logprobs is None
    assert resolve(responses(top_logprobs=3, include=wanted)).logprobs == 3


@pytest.mark.shared
def test_every_recorded_responses_answer(shared: Path) -> None:
    count = 0
    defaults = sampling_defaults(json.loads((shared / "models/overlays/qwen3/generation_config.json").read_text()))
    for line in (shared / "golden" / "samples-qwen3.jsonl").read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        if sample.get("status") != 200 or not sample.get("path", "").startswith("/v1/responses/render"):
            continue
        request = decode_request(ResponsesRequest, sample["body"])
        wanted = sample["response"]["sampling_params"]
        wanted.setdefault("max_tokens", 16)
        params = written(
            resolve(request, context=40960, prompt=len(sample["response"]["token_ids"]), defaults=defaults)
        )
        for later in ("skip_special_tokens", "structured_outputs"):
            params.pop(later, None)
            wanted.pop(later, None)
        assert params == wanted, sample["name"]
        count += 1
    assert count > 30


def test_the_request_is_left_as_it_is() -> None:
    request = chat(stop="a", bad_words=["b", "b"], logit_bias={"1": 500}, thinking_token_budget=5)
    before = msgspec.json.encode(request)
    resolve(request)
    assert msgspec.json.encode(request) == before
