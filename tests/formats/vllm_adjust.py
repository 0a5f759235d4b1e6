"""Ask vLLM what its parsers make of requests. Run with a Python that has vLLM 0.33, and ``src`` on the path:

    PYTHONPATH=src:. VLLM_TARGET_DEVICE=cpu python tests/formats/vllm_adjust.py

Writes ``tests/render/cases_adjustment.jsonl`` (a request, and its constraint after ``adjust_request``),
``tests/parsing/cases_prompt_state.jsonl`` (the tokens of a prompt, and whether reasoning has ended) and
``cases_start.jsonl`` here (formats and a vocabulary, and vLLM's refusal). Nothing is started: parsers get a vocabulary
of markers for a tokenizer.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "CRITICAL")

from tests.formats.vocabulary import VOCABULARY
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # type: ignore[import-not-found]
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest  # type: ignore[import-not-found]
from vllm.parser import ParserManager  # type: ignore[import-not-found]

from typecase.formats.registry import CALL_FORMATS, REASONING_FORMATS

HERE = Path(__file__).parent
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "é": {"enum": ["a", 1, None]}}}
DEFINING = {"$defs": {"P": {"type": "integer"}}, "type": "object", "properties": {"p": {"$ref": "#/$defs/P"}}}
AUTO, REQUIRED = {"tool_choice": "auto"}, {"tool_choice": "required"}
NAMED = {"tool_choice": {"type": "function", "function": {"name": "f"}}}
JSON = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}}
TAG = {"type": "structural_tag", "format": {"type": "star", "content": {"type": "regex", "pattern": "[é]"}}}


class Tokenizer:
    """As much of a tokenizer as parsers look at when they are made."""

    chat_template = None

    def __init__(self, vocabulary: dict[str, int]):
        self.vocabulary = vocabulary
        self.init_kwargs: dict[str, Any] = {}

    def get_vocab(self) -> dict[str, int]:
        return self.vocabulary

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocabulary[text]] if text in self.vocabulary else [ord(c) for c in text]

    def decode(self, ids: list[int], **_: Any) -> str:
        return ""


def tool(name: str, parameters: Any = SCHEMA, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


def chats() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Flags beside the parser, and fields of a chat."""
    plain, strict = [tool("f"), tool("g é", DEFINING)], [tool("f", strict=True), tool("g")]
    for choice in (AUTO, REQUIRED, NAMED):
        yield {}, {"tools": plain, **choice}
        yield {}, {"tools": strict, **choice}
        yield {}, {"tools": plain[:1], **choice, "parallel_tool_calls": False}
    yield {"level": "parameter"}, {"tools": [tool("f"), tool("g", None)], **AUTO}
    yield {}, {"tools": strict[:1], **AUTO, **JSON}
    yield {}, {"tools": plain[:1], **REQUIRED, **JSON}
    yield {}, {"tools": plain[:1], "tool_choice": "none", **JSON}
    yield {"level": "function"}, {"tools": plain[:1], **AUTO, "response_format": TAG}


def odd_chats() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What one format of each kind is enough for."""
    strict = {"tools": [tool("f", strict=True)], **AUTO}
    for outputs in (
        {"json": '{"type": "object"}', "disable_any_whitespace": True},
        {"json": {"type": "integer", "multipleOf": 2}},
        {"json": {"type": "object", "properties": {"a": [{"allOf": [{}, {}]}]}}},
        {"json": {"type": "string", "format": "email"}},
        {"json": {"type": "string", "format": "x"}},
        {"json": {"type": ["array", "null"], "uniqueItems": True}},
        {"json": {"type": "object", "patternProperties": {"a": {}}, "properties": {}}},
        {"json": {"type": "object", "propertyNames": {"pattern": "a", "minLength": 1}}},
        {"json": "true"},
        {"json": "{"},
        {"regex": "[é\\d]+"},
        {"choice": ["a", 'b"\n']},
        {"choice": []},
        {"grammar": 'root ::= "a"'},
        {"json_object": True},
        {"json_object": False},
        {
            "structural_tag": json.dumps(
                {"structures": [{"begin": "<a>", "schema": {}, "end": "</a>"}], "triggers": ["<a>"]}
            )
        },
        {"structural_tag": json.dumps(TAG)},
    ):
        yield {}, {**strict, "structured_outputs": outputs}
    twice = [tool("f"), tool("f", DEFINING)]
    yield {}, {"tools": twice, **NAMED}
    yield {}, {"tools": twice, **REQUIRED}
    yield {}, {"tools": [tool("f", {**DEFINING, "$defs": {"P": {}}}), tool("g", DEFINING)], **REQUIRED}
    yield {}, {"tools": [tool("f", {"$defs": []})], **REQUIRED}
    yield {}, {"tools": [tool("f", {})], **REQUIRED, "parallel_tool_calls": False}
    kinds = {
        "a": {"type": ["string", "integer"]},
        "b": {},
        "c": {"type": "array"},
        "d": {"enum": [2]},
        "e": {"type": ["number"]},
    }
    yield {}, {"tools": [tool("f", {"properties": kinds}), tool("g", None, strict=True)], **REQUIRED}
    yield {}, {"tools": [tool("f", {"properties": {"a": True}})], **REQUIRED}
    yield {}, {"tools": [tool("f", {"a": [float("inf"), 1e-7, 10**30, {"b": float("nan")}]}, strict=True)], **REQUIRED}
    yield {}, {"tools": [tool("f", {"properties": {"a": {}}, "additionalProperties": True})], **AUTO}


def responses() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    function = {"type": "function", "name": "f", "parameters": SCHEMA, "strict": False}
    custom, hosted = {"type": "custom", "name": "c"}, {"type": "web_search_preview"}
    space = {
        "type": "namespace",
        "name": "n",
        "description": "",
        "tools": [{"type": "function", "name": "g", "strict": True}],
    }
    text = {"text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}}
    for tools in ([function], [function, custom, hosted], [space], [hosted]):
        for choice in (AUTO, REQUIRED):
            yield {}, {"tools": tools, **choice}
    yield {}, {"tools": [function, custom], "tool_choice": {"type": "custom", "name": "c"}, **text}
    yield {}, {"tools": [{**function, "strict": True}], **AUTO, **text}
    yield {}, {"tools": [function], **REQUIRED, "structured_outputs": {"regex": "a"}}
    yield {}, {"tools": [function], **AUTO, **text, "structured_outputs": {"regex": "a"}}
    yield (
        {},
        {
            "tools": [function],
            "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
        },
    )


def parser(vocabulary: dict[str, int], **flags: Any) -> Any:
    return ParserManager.get_parser(
        tool_parser_name=flags.get("call"),
        reasoning_parser_name=flags.get("reasoning"),
        enable_auto_tools="call" in flags,
        model_name="m",
        is_harmony=flags.get("call") == "openai" or flags.get("reasoning") == "openai_gptoss",
        tool_strict_level=flags.get("level"),
        tokenizer=Tokenizer(vocabulary),
    )


def adjustment(flags: dict[str, Any], fields: dict[str, Any], *, is_chat: bool) -> dict[str, Any]:
    if is_chat:
        request = ChatCompletionRequest.model_validate({"messages": [{"role": "user", "content": "x"}], **fields})
    else:
        request = ResponsesRequest.model_validate({"input": "x", **fields})
    made = parser(VOCABULARY, **flags)(Tokenizer(VOCABULARY), request.tools, chat_template_kwargs={})
    try:
        # The renderer asks a parser only then.
        if "reasoning" in flags or flags.get("call") == "openai" or request.tool_choice != "none":
            request = made.adjust_request(request)
        found = request.extract_structured_outputs()
    except Exception as error:
        wanted: dict[str, Any] = {
            "error": str(error).split("\n", maxsplit=1)[0],
            "param": getattr(error, "parameter", None),
        }
    else:
        values = {} if found is None else dataclasses.asdict(found)
        wanted = {name: value for name, value in values.items() if value not in (None, False) or name == "json_object"}
        if wanted.get("json_object", 0) is None:
            del wanted["json_object"]
        wanted = {"constraint": wanted or None, "keeps_special": request.skip_special_tokens is False}
    return {"api": "chat" if is_chat else "responses", "flags": flags, "fields": fields, **wanted}


def adjustments() -> Iterator[dict[str, Any]]:
    calls = {f.names[0]: f for f in CALL_FORMATS.values()}
    seen = set()
    for name, record in calls.items():
        if repr(dataclasses.replace(record, names=())) in seen:
            continue
        seen.add(repr(dataclasses.replace(record, names=())))
        # Formats without a tag differ little, and harmony's tags are long.
        few = 4 if name == "openai" else 1
        for more, fields in itertools.islice(chats(), 0, None, few if record.tag is not None else 4):
            yield adjustment({"call": name, **more}, fields, is_chat=True)
    for name in ("hermes", "pythonic", "glm45"):
        for more, fields in odd_chats():
            if name == "hermes" or "structured_outputs" not in fields:
                yield adjustment({"call": name, **more}, fields, is_chat=True)
    for more, fields in odd_chats():
        if "structured_outputs" in fields:
            yield adjustment(
                {"reasoning": "openai_gptoss", **more},
                {"structured_outputs": fields["structured_outputs"]},
                is_chat=True,
            )
    for name in ("hermes", "pythonic"):
        for more, fields in responses():
            yield adjustment({"call": name, **more}, fields, is_chat=False)
    for more, fields in itertools.islice(responses(), 2, None, 3):
        yield adjustment({"call": "openai", **more}, fields, is_chat=False)
    for name in ("qwen3", "mistral", "deepseek_r1", "openai_gptoss"):
        yield adjustment({"reasoning": name}, {"tools": [tool("f")], "tool_choice": "none", **JSON}, is_chat=True)


def prompt_states() -> Iterator[dict[str, Any]]:
    switches: list[dict[str, Any]] = [
        {}, {"enable_thinking": False}, {"enable_thinking": True}, {"thinking": True}, {"thinking": False},
        {"thinking": None, "enable_thinking": None}, {"enable_thinking": 0, "thinking": "no"},
        {"reasoning_effort": "none"},
    ]  # fmt: skip
    for record in {f.names[0]: f for f in REASONING_FORMATS.values()}.values():
        name = record.names[0]
        own = [t for t in (record.start, record.end, *record.also_ends[:1], *record.turns[:1]) if t is not None]
        prompts = [[], ["x"], *([t, "x"] for t in own), *([a, b] for a in own for b in own if a != b)]
        made = parser(VOCABULARY, reasoning=name)
        for kwargs in switches:
            parsed = made(Tokenizer(VOCABULARY), None, chat_template_kwargs=dict(kwargs))
            case: dict[str, Any] = {"reasoning": name, "kwargs": kwargs}
            for tokens in prompts:
                ended = parsed.is_reasoning_end([VOCABULARY[t] for t in tokens])
                case.setdefault({True: "ended", False: "open", None: "unknown"}[ended], []).append(tokens)
            yield case


def starts() -> Iterator[dict[str, Any]]:
    for kind, formats in (("call", CALL_FORMATS), ("reasoning", REASONING_FORMATS)):
        for name in formats:
            try:
                parser({}, **{kind: name})
            except Exception as error:
                yield {kind: name, "refused": str(error).split("tokenizer of 'm': ")[-1]}
            else:
                yield {kind: name, "refused": None}


def write(path: Path, cases: Iterator[dict[str, Any]]) -> None:
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    print(f"{path}: {len(lines)} cases")


if __name__ == "__main__":
    write(HERE.parent / "render" / "cases_adjustment.jsonl", adjustments())
    write(HERE.parent / "parsing" / "cases_prompt_state.jsonl", prompt_states())
    write(HERE / "cases_start.jsonl", starts())
