"""Completions render on the small checkpoint, and on one whose tokenizer puts tokens around a text.

``cases_completions.json``: requests to vLLM 0.33 with a context of 32, and its answers. Of a ``GenerateRequest`` there
is what isn't ``usual``: of its request id the end, and under ``without`` the sampling parameters that are missing.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import tokenizers
from tokenizers.processors import TemplateProcessing

import typecase
from typecase.api.generate import encode_generate_requests
from typecase.api.limits import Limits

CASES = json.loads(Path(__file__).with_name("cases_completions.json").read_text(encoding="utf-8"))


def load(folder: Path, **settings: Any) -> typecase.Model:
    return typecase.load(folder, **{"served_model_names": ("tiny",), "max_model_len": 32, **settings})


@pytest.fixture(scope="module")
def model(tiny: Path) -> typecase.Model:
    return load(tiny)


@pytest.fixture(scope="module")
def with_bos(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    """The same with ``<|endoftext|>`` before a text and ``<|im_end|>`` after it."""
    folder = tmp_path_factory.mktemp("bos")
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    around = [(token, tokenizer.token_to_id(token)) for token in ("<|endoftext|>", "<|im_end|>")]
    tokenizer.post_processor = TemplateProcessing(
        single=f"{around[0][0]} $A {around[1][0]}", pair=None, special_tokens=around
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"bos_token": around[0][0], "tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return load(folder)


def rendered(model: typecase.Model, /, **fields: Any) -> list[dict[str, Any]]:
    answer: list[dict[str, Any]] = json.loads(model.render_completions_bytes(json.dumps(fields).encode()))
    return answer


def refusal(model: typecase.Model, /, **fields: Any) -> typecase.RequestError:
    with pytest.raises(typecase.RequestError) as refused:
        model.render_completions(fields)
    return refused.value


def wanted(case: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The whole of what a case tells of one prompt."""
    usual = CASES["usual"]
    sampling = {**usual["sampling_params"], "max_tokens": 16, **given.get("sampling_params", {})}
    for name in given.get("without", ()):
        if name != "max_tokens":  # 16, which vLLM alone leaves out
            del sampling[name]
    whole = {**usual, **given, "sampling_params": sampling}
    whole.pop("without", None)
    if "request_id" not in case["request"]:
        whole["request_id"] = "cmpl-0123456789abcdef" + given["request_id"]
    return whole


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{i}") for i, case in enumerate(CASES["cases"])])
def test_cases(model: typecase.Model, with_bos: typecase.Model, case: dict[str, Any]) -> None:
    chosen = model if case["checkpoint"] == "tiny" else with_bos
    request = {"request_id": "0123456789abcdef", **case["request"]}
    if "prompts" in case:
        assert rendered(chosen, **request) == [wanted(case, given) for given in case["prompts"]]
        return
    error = refusal(chosen, **request)
    assert {"message": error.message, "type": error.type, "param": error.param, "code": error.status} == case["error"]


def test_the_callers_id_stands_over_the_requests(model: typecase.Model) -> None:
    body = {"prompt": ["a", "b"], "request_id": "own"}
    assert [r.request_id for r in model.render_completions(body)] == ["cmpl-own-0", "cmpl-own-1"]
    assert [r.request_id for r in model.render_completions(body, request_id="h")] == ["cmpl-h-0", "cmpl-h-1"]
    drawn = {r.request_id[:21] for r in model.render_completions({"prompt": ["a", "b"]})}
    assert len(drawn) == 1
    assert len(drawn.pop()) == len("cmpl-") + 16


def test_a_mapping_bytes_and_the_type_give_the_same(model: typecase.Model) -> None:
    body = {"prompt": "Hello", "max_tokens": 5, "request_id": "r"}
    once = model.render_completions(body)
    assert model.render_completions(json.dumps(body).encode()) == once
    request = typecase.CompletionRequest(prompt="Hello", max_tokens=5, request_id="r")
    assert model.render_completions(request) == once
    assert json.loads(encode_generate_requests(once)) == rendered(model, **body)


def test_a_lone_surrogate_is_named_with_its_prompt(model: typecase.Model) -> None:
    assert refusal(model, prompt="x \ud83d y").param == "body.prompt"
    error = refusal(model, prompt=["fine", "fine", "x \ud83d y"])
    assert error.param == "body.prompt.2"
    assert "body.prompt.2 holds the lone surrogate U+D83D" in error.message


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        # No wire format of an engine carries it.
        ({"prompt": [[1], [2, 2**64]]}, f"body.prompt.1 holds {2**64}"),
        # Echoed ids are decoded, and no tokenizer can decode this one.
        ({"prompt": [[1], [2**32]], "echo": True}, f"body.prompt.1 holds {2**32}"),
        ({"prompt": [2**32], "echo": True}, f"body.prompt holds {2**32}"),
    ],
)
def test_an_id_that_cant_be_carried_is_named(model: typecase.Model, fields: dict[str, Any], told: str) -> None:
    error = refusal(model, **fields)
    assert (error.status, error.type) == (400, "BadRequestError")
    assert error.message.startswith(told)


def test_media_kwargs_of_trusted_clients_change_nothing(tiny: Path) -> None:
    trusting = load(tiny, trust_request_mm_kwargs=True)
    plain = rendered(trusting, prompt="a", request_id="r")
    assert rendered(trusting, prompt="a", request_id="r", mm_processor_kwargs={"a": 1}, media_io_kwargs=5) == plain


def test_parsers_never_touch_completions(tiny: Path) -> None:
    parsing = load(tiny, enable_auto_tool_choice=True, tool_call_parser="hermes", reasoning_parser="qwen3")
    (answer,) = rendered(parsing, prompt="a", request_id="r")
    assert answer == rendered(load(tiny), prompt="a", request_id="r")[0]
    assert answer["reasoning_ended"] is answer["reasoning_parser_kwargs"] is answer["parse_context"] is None


def test_the_generation_config_counts_per_prompt(tiny: Path) -> None:
    """``max_new_tokens`` of an override caps what was asked for, and the room left in the context caps both."""
    capped = load(tiny, generation_config="vllm", override_generation_config={"max_new_tokens": 12, "temperature": 0.5})
    answers = rendered(capped, prompt=[[5], [5] * 25], max_tokens=20)
    assert [a["sampling_params"]["max_tokens"] for a in answers] == [12, 7]
    assert [a["sampling_params"]["temperature"] for a in answers] == [0.5, 0.5]
    assert rendered(capped, prompt="a", temperature=0.7)[0]["sampling_params"]["temperature"] == 0.7


def test_the_operators_limits(tiny: Path) -> None:
    strict = load(tiny, limits=Limits(max_completion_prompts=2, max_n=3, max_stop_strings=1))
    assert refusal(strict, prompt=["a", "b", "c"]).param == "prompt"
    assert refusal(strict, prompt="a", n=4).message.startswith("n must be at most 3, got 4.")
    assert refusal(strict, prompt="a", stop=["x", "y"]).param == "body.stop"
    assert len(rendered(strict, prompt=["a", "b"], n=3, stop=["x"])) == 2


def test_vllm_takes_transfer_parameters_from_xargs(model: typecase.Model) -> None:
    """There they are no object, whatever they hold, and so refused."""
    error = refusal(model, prompt="a", vllm_xargs={"kv_transfer_params": "x"})
    assert (error.status, error.type, error.param) == (400, "BadRequestError", None)


class Middle:
    """A writer of a family that fills in the middle."""

    def write(self, conversation: Any) -> str:
        raise AssertionError("a completion is no conversation")

    def write_middle(self, prompt: str, suffix: str) -> str:
        return f"<|im_start|>{prompt}<|im_end|>{suffix}"


def test_a_suffix_where_the_family_knows_one(tiny: Path) -> None:
    model = load(tiny)
    model.front.writer = Middle()
    texts = [
        model.detokenize({"tokens": r["token_ids"]}).prompt for r in rendered(model, prompt=["a", "b"], suffix="c")
    ]
    assert texts == ["<|im_start|>a<|im_end|>c", "<|im_start|>b<|im_end|>c"]
    assert len(rendered(model, prompt="a", suffix="c")) == 1
    for fields, told in (
        ({"echo": True}, "Echo is unsupported with suffix."),
        ({"prompt_embeds": "A"}, "suffix is not supported with prompt_embeds"),
        ({"truncate_prompt_tokens": 3}, "suffix is not supported with truncate_prompt_tokens"),
        ({"prompt": [1]}, "suffix requires text prompt input for FIM completion rendering"),
    ):
        error = refusal(model, **{"prompt": "a", "suffix": "c", **fields})
        assert (error.message, error.param) == (told, "suffix")
    assert refusal(model, prompt=[], suffix="c").message == "You must pass at least one prompt (parameter=prompt)"
    assert refusal(model, prompt="a", suffix="\ud800").param == "body.suffix"
    # Families written in code have no offsets in vLLM.
    assert rendered(model, prompt="a", return_token_offsets=True)[0]["token_offsets"] is None


def test_many_ids_are_read_in_one_stroke(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader that looks at ids one by one is for prompts that are odd."""
    monkeypatch.setattr("typecase.api.completions._read_any_prompt", None)
    model = load(tiny, max_model_len=200_000)
    ids = [i % 1000 for i in range(100_000)]
    (answer,) = model.render_completions(msgspec.json.encode({"prompt": ids}))
    assert answer.token_ids.tolist() == ids
    assert answer.token_ids.typecode == "I"
    assert len(model.render_completions(msgspec.json.encode({"prompt": [ids[1:], ids]}))) == 2
    assert len(model.render_completions(msgspec.json.encode({"prompt": ["a"] * 1000}))) == 1000
