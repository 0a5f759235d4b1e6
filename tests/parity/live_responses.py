"""Random Responses requests for ``live.py``: histories as clients write them, tools of all kinds, fields good and bad."""

# ruff: noqa: E501

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))
from tests.support.openai_values import ShapeMaker, roots

__all__ = ["ResponsesMaker"]

SCHEMA = {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"enum": [1, "é"]}}}
PARAMETERS: list[Any] = [
    {"type": "object", "properties": {"city": {"type": "string", "description": "City <b>&"}}, "required": ["city"]},
    {"type": "object", "properties": {}},
    None,
    {},
    {"zeta": 1, "alpha": {"é": True}},
]
ARGUMENTS = [
    '{"city": "Oslo"}',
    "{}",
    "",
    "{bad",
    "null",
    "[1]",
    '{"b":1,"a":{"c":"é"}}',
    '{"n":1.0,"big":12345678901234567890}',
]
HOSTED: list[Any] = [
    {"type": "web_search"}, {"type": "web_search_preview"}, {"type": "mcp", "server_label": "m", "server_url": "http://m/"},
    {"type": "code_interpreter", "container": {"type": "auto"}}, {"type": "image_generation"}, {"type": "local_shell"},
    {"type": "file_search", "vector_store_ids": ["v"]}, {"type": "shell"}, {"type": "apply_patch"}, {"type": "tool_search"},
]  # fmt: skip
CHOICES: list[Any] = [
    "auto", "none", "required", "required", "x", None, {"type": "custom", "name": "c"}, {"type": "web_search_preview"},
    *({"type": "function", "name": name} for name in ("f", "get_weather", "ns__f", "g", "zz", "c")),
    *({"type": "allowed_tools", "mode": mode, "tools": [{"type": "function", "name": "f"}]} for mode in ("auto", "required")),
    {"type": "mcp", "server_label": "m"}, {"type": "shell"},
]  # fmt: skip
PARTS: list[Any] = [
    {"type": "input_image", "image_url": "data:image/png;base64,AA=="}, {"type": "input_file", "file_id": "f"},
    {"type": "input_text", "text": "a", "prompt_cache_breakpoint": {"mode": "explicit"}}, {"type": "input_text", "text": "a", "extra": 1},
    {"type": "input_image", "file_id": "x"}, {"type": "refusal", "refusal": "no"}, {"type": "output_text", "text": "o"},
]  # fmt: skip
FIELDS: dict[str, list[Any]] = {
    "temperature": [0, 0.5, 1, 2, 0.001, 3, -1],
    "top_p": [0.5, 1, 0, 1.5],
    "top_k": [0, -1, 5, -2],
    "min_p": [0, 0.1, 2],
    "max_output_tokens": [1, 16, 100, 0, -3, 10**6, "5", None],
    "max_tool_calls": [1, None],
    "seed": [0, -1, 7, 2**63],
    "stop": ["x", ["a", "bc"], [], [""], ["a"] * 5, None],
    "stop_token_ids": [[1, 1, 2], [], [-1], None],
    "presence_penalty": [0, 1, 3],
    "frequency_penalty": [1.5, -3, 2],
    "repetition_penalty": [1, 1.2, 0, -1],
    "top_logprobs": [0, 3, -1, -2, None, 100],
    "include": [["message.output_text.logprobs"], [], None, ["reasoning.encrypted_content", "message.output_text.logprobs"], ["x"]],
    "logit_bias": [{"5": 1}, {"x": 1}, {"7": 500, "3": -500}, {}],
    "stream": [True, False, None],
    "text": [{"format": {"type": "text"}}, {"format": {"type": "json_object"}}, {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}}, {"format": {"type": "json_schema", "name": "n", "schema": {}, "strict": True}}, {"verbosity": "low"}, {}, {"format": None}, {"format": {"type": "x"}}, {"verbosity": "x"}],
    "structured_outputs": [{"json": SCHEMA}, {"regex": "a"}, {"choice": ["a"]}, {"json": {}, "regex": "a"}, {}, {"grammar": "g"}, {"json_object": True}, {"structural_tag": "{}"}, None],
    "ignore_eos": [True],
    "skip_special_tokens": [True, False, None],
    "spaces_between_special_tokens": [True, False],
    "include_stop_str_in_output": [True],
    "chat_template_kwargs": [{"enable_thinking": False}, {"x": 1}, {"enable_thinking": None}, {"add_generation_prompt": False}, {"continue_final_message": True}, {"tools": []}, {"bos_token": "B"}, {}, {"tokenize": True}, {"cohere_format": "z"}, {"reasoning_effort": "z"}, {"chat_template": "x"}, {"documents": [{"a": "b"}]}, {"thinking": True}],
    "reasoning": [{"effort": "none"}, {"effort": "low"}, {"effort": "max", "summary": "auto"}, {"effort": None}, {}, None, {"effort": "odd"}],
    "include_reasoning": [True, False],
    "cache_salt": ["s", "", "a/b", "x" * 200],
    "priority": [1, -1, 2**63],
    "request_id": ["abc", "", None, 5],
    "kv_transfer_params": [{"a": 1}, {}, {"prompt_token_ids": [1, 2, 3]}, {"prompt_token_ids": [], "b": 1}, {"prompt_token_ids": [-1]}, {"prompt_token_ids": [10**7]}, {"prompt_token_ids": None, "x": 2}],
    "ec_transfer_params": [{"a": 1}, {}],
    "vllm_xargs": [{"a": 1}, {"a": [1, "b"]}, {}, {"a": None}, {"a": {"b": 1}}, None],
    "parallel_tool_calls": [True, False, None],
    "user": ["u"],
    "watermarking": [True, False],
    "mm_payload": ["none", "tensors", "x"],
    "return_mm_kwargs": [False, True],
    "media_io_kwargs": [{}, {"image": {}}],
    "mm_processor_kwargs": [{}, {"a": 1}],
    "model": [None, "", "nope"],
    "unknown": [1],
    "guided_json": [{}],
    "background": [True, False, None],
    "store": [True, False, None],
    "prompt": [None, {"id": "p"}, {}],
    "previous_response_id": [None, "r", ""],
    "truncation": ["auto", "disabled", None, "x"],
    "service_tier": ["auto", "flex", "x", None],
    "metadata": [{"a": "b"}, {"a": 1}, None],
    "previous_input_messages": [None, [], [{"role": "user", "content": "x"}], [{"a": 1}], 5],
    "enable_response_messages": [True],
    "prompt_cache_key": ["k"],
    "prompt_cache_retention": ["in-memory", "24h", "x"],
    "prompt_cache_options": [{"mode": "explicit"}, {"mode": "x"}, {}],
    "safety_identifier": ["s"],
    "session_id": ["s"],
    "conversation": ["c", {"id": "c"}],
    "stream_options": [{"include_usage": True}, 5],
    "n": [2],
    "min_tokens": [5],
    "return_token_ids": [True],
    "return_token_offsets": [True],
    "response_format": [{"type": "json_object"}],
    "messages": [[{"role": "user", "content": "x"}]],
    "chat_template": ["x"],
    "add_generation_prompt": [False],
    "tools": [[], None, {}, "x", 5],
}  # fmt: skip


class ResponsesMaker:
    """Draws requests. Most are well-formed with one or two things that are not."""

    def __init__(self, chance: random.Random, model: str, texts: list[str], odd: list[Any]):
        self.chance, self.model, self.texts, self.odd = chance, model, texts, odd
        self.shapes = ShapeMaker(chance.randint(0, 1 << 30))

    def body(self) -> dict[str, Any]:
        chance = self.chance.random
        body: dict[str, Any] = {"model": self.model} if chance() < 0.8 else {}
        roll = chance()
        if roll < 0.25:
            body["input"] = self.text()
        elif roll < 0.97:
            body["input"] = [self.item() for _ in range(self.chance.randint(0 if chance() < 0.1 else 1, 6))]
        else:
            body["input"] = self.chance.choice(self.odd)
        if chance() < 0.2:
            body["instructions"] = self.text()
        if chance() < 0.5:
            body["tools"] = [self.tool() for _ in range(self.chance.randint(1, 3))]
        if chance() < 0.4:
            body["tool_choice"] = self.chance.choice(CHOICES)
        for _ in range(self.chance.choice([0, 0, 1, 1, 1, 2, 2, 3])):
            name = self.chance.choice(list(FIELDS))
            body[name] = self.chance.choice(self.odd if chance() < 0.15 else FIELDS[name])
        return body

    def text(self) -> str:
        return self.chance.choice(self.texts)

    def parts(self, kind: str, least: int) -> list[Any]:
        count = self.chance.randint(least, 2)
        return [
            {"type": kind, "text": self.text()} if self.chance.random() < 0.9 else self.chance.choice(PARTS)
            for _ in range(count)
        ]

    def item(self) -> Any:
        match self.chance.choices(
            ["asked", "answer", "call", "result", "custom", "reasoning", "any"], [6, 4, 3, 3, 1, 2, 1]
        )[0]:
            case "asked":
                role = self.chance.choice(["user", "user", "system", "developer"])
                content = self.text() if self.chance.random() < 0.6 else self.parts("input_text", 0)
                return self.spiced(
                    {"role": role, "content": content}, {"type": "message"}, {"status": "incomplete"}, {"name": "n"}
                )
            case "answer":
                kind = self.chance.choice(["output_text", "output_text", "output_text", "input_text"])
                content = self.text() if self.chance.random() < 0.4 else self.parts(kind, 1)
                message = {"role": "assistant", "content": content}
                if self.chance.random() < 0.8:
                    message["type"] = "message"
                status = self.chance.choice(["completed", "in_progress", "incomplete"])
                return self.spiced(message, {"status": status}, {"id": "m"}, {"tool_calls": []}, {"reasoning": "x"})
            case "call":
                call_id, name = (
                    self.chance.choice(["c1", "c2", "call_123456789"]),
                    self.chance.choice(["f", "get_weather"]),
                )
                call = {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": name,
                    "arguments": self.chance.choice(ARGUMENTS),
                }
                return self.spiced(call, {"namespace": "ns"}, {"namespace": ""}, {"status": "completed", "id": "fc"})
            case "result":
                kind = self.chance.choice(["function_call_output", "function_call_output", "custom_tool_call_output"])
                output = self.text() if self.chance.random() < 0.7 else self.parts("input_text", 0)
                return self.spiced(
                    {"type": kind, "call_id": "c1", "output": output}, {"status": "completed", "id": "x"}
                )
            case "custom":
                return {"type": "custom_tool_call", "call_id": "c1", "name": "c", "input": self.text()}
            case "reasoning":
                summary = [{"type": "summary_text", "text": self.text()} for _ in range(self.chance.randint(0, 2))]
                content = [{"type": "reasoning_text", "text": self.text()} for _ in range(self.chance.randint(0, 2))]
                return self.spiced(
                    {"type": "reasoning", "summary": summary}, {"content": content}, {"content": content}, {"encrypted_content": "z"},
                    {"status": self.chance.choice([None, "incomplete"])}, {"id": "rs"},
                )  # fmt: skip
        return self.shapes.root(roots("input"), 0.03)

    def spiced(self, item: dict[str, Any], *more: dict[str, Any]) -> dict[str, Any]:
        """The item, in a third of all cases with something more."""
        return item | (self.chance.choice(more) if self.chance.random() < 0.3 else {})

    def tool(self) -> Any:
        roll = self.chance.random()
        tool: dict[str, Any] = {"type": "function", "name": self.chance.choice(["f", "get_weather", "g", "a b!"])}
        for name, values in (
            ("description", ["Weather <of> & 'é'", None, ""]),
            ("parameters", PARAMETERS),
            ("strict", [True, False, None]),
            ("defer_loading", [True, False, None]),
        ):
            if self.chance.random() < (0.7 if name in ("description", "parameters") else 0.2):
                tool[name] = self.chance.choice(values)
        if roll < 0.6:
            return tool
        if roll < 0.75:
            members = self.chance.choice([[], [tool], [tool, {"type": "custom", "name": "c"}]])
            return {"type": "namespace", "name": self.chance.choice(["ns", "n2"]), "description": "d", "tools": members}
        if roll < 0.85:
            return {
                "type": "custom",
                "name": self.chance.choice(["c", "f"]),
                **self.chance.choice([{}, {"description": "cd"}]),
            }
        return self.chance.choice(HOSTED) if roll < 0.97 else self.shapes.root(roots("tools"), 0.03)
