"""Inkling's prompts against vLLM's encoder. The cases hold them as text, special tokens written out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.written_cases import check_case, refusal, text_of, written_cases

import typecase

MARKERS = (
    "<|message_user|>", "<|message_model|>", "<|message_system|>", "<|message_tool|>", "<|content_text|>",
    "<|content_image|>", "<|content_model_end_sampling|>", "<|content_thinking|>", "<|content_audio_input|>",
    "<|content_xml|>", "<|content_invoke_tool_json|>", "<|end_message|>", "<|audio_end|>",
)  # fmt: skip
HELLO: list[dict[str, Any]] = [{"role": "user", "content": "Hello there"}]


def checkpoint(tiny: Path, folder: Path, markers: tuple[str, ...]) -> Path:
    """The small checkpoint with more special tokens."""
    shutil.copytree(tiny, folder, dirs_exist_ok=True)
    whole = json.loads((tiny / "tokenizer.json").read_bytes())
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    first = 1 + max(*whole["model"]["vocab"].values(), *(token["id"] for token in whole["added_tokens"]))
    whole["added_tokens"] += [{"id": first + i, "content": marker, **flags} for i, marker in enumerate(markers)]
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"tokenizer_class": "PreTrainedTokenizerFast"}))
    return folder


@pytest.fixture(scope="module")
def model(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> typecase.Model:
    folder = checkpoint(tiny, tmp_path_factory.mktemp("inkling"), MARKERS)
    return typecase.load(folder, tokenizer_mode="inkling")


@pytest.mark.parametrize("case", written_cases("inkling"))
def test_recorded_prompts(model: typecase.Model, case: dict[str, Any]) -> None:
    check_case(model, case)


def test_pieces_are_encoded_by_themselves(model: typecase.Model) -> None:
    """A role's name and the text behind the marker never share a token, and nothing is added around the prompt."""
    front = model.front
    start, kind, end = (
        front.tokenizer.token_id(m) for m in ("<|message_user|>", "<|content_text|>", "<|end_message|>")
    )
    plain = model.tokenize({"messages": HELLO, "add_special_tokens": True}).tokens
    assert plain[-len(front.tokenizer.encode("Hello there")) - 4 : -1] == [
        start, kind, *front.tokenizer.encode("Hello there"), end,
    ]  # fmt: skip
    cut = model.render_chat({"messages": HELLO, "truncate_prompt_tokens": 3}).token_ids
    assert cut.tolist() == plain[-3:]


def test_an_empty_list_of_parts_is_no_text(model: typecase.Model) -> None:
    """vLLM refuses it: pydantic's list was read once already."""
    empty, text = ({"messages": [{"role": "user", "content": content}]} for content in ([], ""))
    assert text_of(model, empty) == text_of(model, text)


def test_a_number_too_large_for_a_float(model: typecase.Model) -> None:
    request = {"messages": HELLO, "chat_template_kwargs": {"reasoning_effort": 10**400}}
    assert refusal(model, request).message.endswith(f"got {10**400}")


def test_another_spelling_of_a_marker(tiny: Path, tmp_path: Path) -> None:
    spelled = tuple("<|unused_200024|>" if marker == "<|content_xml|>" else marker for marker in MARKERS)
    model = typecase.load(checkpoint(tiny, tmp_path, spelled), tokenizer_mode="inkling")
    tools = [{"type": "function", "function": {"name": "f"}}]
    assert "tool_declare<|unused_200024|>[" in text_of(model, {"messages": HELLO, "tools": tools})


def test_a_tokenizer_that_is_not_inklings(tiny: Path) -> None:
    with pytest.raises(typecase.CheckpointError, match=r"special token <\|message_model\|> is missing"):
        typecase.load(tiny, hf_overrides={"architectures": ["InklingForCausalLM"]})
