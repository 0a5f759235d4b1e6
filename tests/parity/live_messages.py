"""Random requests of Anthropic's Messages API, for ``live.py``: every kind of block, most things right, some wrong."""

# ruff: noqa: E501

from __future__ import annotations

import random
from typing import Any

__all__ = ["MessageMaker"]

SCHEMAS: list[dict[str, Any]] = [
    {}, {"type": "object"}, {"properties": {"a": {"enum": [1, "é"]}}}, {"type": None}, {"type": "array"}, {"a": 1.0},
    {"type": "object", "properties": {"city": {"type": "string", "description": "City <b>&"}}, "required": ["city"]},
]  # fmt: skip
SOURCES: list[Any] = [
    {"type": "base64", "media_type": "image/png", "data": "AA=="}, {"data": "QQ"}, {"type": "url", "url": "https://x.invalid/a.png"},
    {"type": "url"}, {}, {"type": "url", "url": None}, {"media_type": None, "data": [1]}, {"type": "file", "file_id": "z"},
]  # fmt: skip
INPUTS: list[Any] = [
    {}, None, {"city": "Oslo"}, {"b": 1, "a": {"c": "é🙂"}}, {"n": 1.0, "m": 1e22, "k": [1, None, True]}, {"x": "</tool_call>"},
    {"z": '"q\\'}, {"": ""}, {"i": 1e400}, {"s": "\ud800"},
]  # fmt: skip
FIELDS: dict[str, list[Any]] = {
    "temperature": [0, 0.5, 1, -1, "0.5", 0.001], "top_p": [0.4, 1, 0, None], "top_k": [3, 0, -1, -2, "4", 5.0, 10**20],
    "stop_sequences": [["A"], [], None, ["a"] * 5, [""]], "stream": [True, False, "yes", None], "metadata": [{"user_id": "x"}, None],
    "mm_payload": ["none", "tensors", "x"], "return_mm_kwargs": [True, False], "cache_salt": ["abc", "a@b", "", "a" * 129, "a" * 1025, None],
    "watermarking": [True, None], "ec_transfer_params": [{}, {"a": 1}], "vllm_xargs": [{"a": [1, "b"]}, {}, {"a": None}], "seed": [1],
    "kv_transfer_params": [{"do_remote_decode": True}, {}, {"prompt_token_ids": [1, 2]}, {"prompt_token_ids": []}, {"x": 1}, {"prompt_token_ids": [-1]}],
    "chat_template_kwargs": [{"enable_thinking": False}, {}, None, {"chat_template": "x"}, {"reasoning_effort": "low"}, {"tools": None}, {"continue_final_message": True}, {"foo": 1}],
    "thinking": [{"type": "enabled", "budget_tokens": 1024}, {"type": "enabled", "budget_tokens": 5}, {"type": "disabled"}, {"type": "adaptive"}, {"type": "adaptive", "display": "x"}, {"type": "x"}, None],
    "output_config": [{"effort": "low"}, {"effort": "max"}, {"effort": "none"}, {}, {"format": {"schema": SCHEMAS[-1]}}, {"format": {"type": "json_schema"}}, {"format": None, "effort": "high"}],
    "tool_choice": [{"type": "auto"}, {"type": "any"}, {"type": "none"}, {"type": "tool", "name": "f"}, {"type": "tool", "name": "zz"}, {"type": "tool"}, {"type": "auto", "disable_parallel_tool_use": True}, None],
    "max_tokens": [1, 16, 2000, 0, "7", None, 10**7], "model": [None, "", "nope"], "messages": [[], None, {}, "x", [None]],
}  # fmt: skip


class MessageMaker:
    """Draws requests with the texts and odd values it is given."""

    def __init__(self, chance: random.Random, model: str, texts: list[str], odd: list[Any]):
        self.chance = chance
        self.model = model
        self.texts = texts
        self.odd = odd

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.model, "max_tokens": self.one([10, 64, 2000]), "messages": self.turns()}
        if self.now_and_then(0.3):
            body["system"] = self.one([self.text(), None, self.texts_as_blocks(), [self.block("system")]])
        if self.now_and_then(0.5):
            body["tools"] = [self.tool() for _ in range(self.chance.randint(0, 3))]
        for _ in range(self.one([0, 1, 1, 2, 3])):
            name = self.one(list(FIELDS))
            body[name] = self.one(self.odd if self.now_and_then(0.1) else FIELDS[name])
        return body

    def one(self, choices: list[Any]) -> Any:
        return self.chance.choice(choices)

    def now_and_then(self, share: float) -> bool:
        return self.chance.random() < share

    def text(self) -> str:
        text: str = self.one([*self.texts, "Hello there"])
        return text

    def texts_as_blocks(self) -> list[Any]:
        return [{"type": "text", "text": self.text()} for _ in range(self.chance.randint(0, 3))]

    def turns(self) -> list[Any]:
        turns, role = [], "user"
        for _ in range(self.chance.randint(1, 5)):
            if self.now_and_then(0.08):
                content = self.one([self.text(), self.texts_as_blocks(), [self.change(), self.block("system")]])
                turns.append({"role": "system", "content": content})
            turns.append(self.turn(role if self.now_and_then(0.95) else self.one(["user", "assistant", "tool"])))
            role = "assistant" if role == "user" else "user"
        return turns

    def turn(self, role: str) -> dict[str, Any]:
        if self.now_and_then(0.35):
            return {"role": role, "content": self.text()}
        return {"role": role, "content": [self.block(role) for _ in range(self.chance.randint(0, 4))]}

    def block(self, role: str) -> dict[str, Any]:
        make = self.one([self.words] * 5 + [self.thought, self.call, self.call, self.result, self.result, self.rare])
        block: dict[str, Any] = make(role)
        if self.now_and_then(0.01):
            block[self.one([*block, "input", "source", "is_error", "tool"])] = self.one(self.odd)
        return block

    def words(self, _: str) -> dict[str, Any]:
        return {"type": "text", "text": self.text()}

    def thought(self, _: str) -> dict[str, Any]:
        return {"type": "thinking", "thinking": self.text(), "signature": "s"}

    def call(self, _: str) -> dict[str, Any]:
        return {
            "type": "tool_use",
            "id": self.one(["t1", "t2"]),
            "name": self.one(["f", "g"]),
            "input": self.one(INPUTS),
        }

    def result(self, _: str) -> dict[str, Any]:
        items = [self.item() for _ in range(self.chance.randint(0, 3))]
        return {
            "type": "tool_result",
            "tool_use_id": self.one(["t1", "t2"]),
            "content": self.one([self.text(), None, items]),
        }

    def item(self) -> dict[str, Any]:
        if self.now_and_then(0.7):
            return {"type": "text", "text": self.text()}
        return self.one([  # type: ignore[no-any-return]
            {"type": "text"}, {"type": "tool_reference", "tool_name": self.one(["f", "", None])}, {"type": "tool_reference", "name": "zz"},
            {"type": "image", "source": self.one(SOURCES)}, {"type": "document"}, {"type": 5}, {}, {"text": "q"}, {"type": "text", "text": 5},
        ])  # fmt: skip

    def rare(self, role: str) -> dict[str, Any]:
        if role == "system" or self.now_and_then(0.05):
            return self.change()
        return self.one([  # type: ignore[no-any-return]
            {"type": "redacted_thinking", "data": "xx"}, {"type": "image", "source": self.one(SOURCES)}, {"type": "tool_reference", "tool_name": "f"},
            {"type": "text"}, {"type": "thinking"}, {"type": "image"}, {"type": "tool_result"}, {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}},
            {"type": "document", "source": {}}, {"type": "server_tool_use", "id": "x"},
        ])  # fmt: skip

    def change(self) -> dict[str, Any]:
        named, defined = (
            {"type": "tool_reference", "name": self.one(["f", "g"])},
            {"type": "tool_definition", "definition": self.tool()},
        )
        return {"type": self.one(["tool_addition", "tool_removal"]), "tool": self.one([named, named, defined, None])}

    def tool(self) -> dict[str, Any]:
        tool = {"name": self.one(["f", "g", "get_weather"]), "input_schema": self.one(SCHEMAS)}
        for name, choices in (
            ("description", ["d", self.text(), None]),
            ("strict", [True, False]),
            ("defer_loading", [True, None]),
        ):
            if self.now_and_then(0.3):
                tool[name] = self.one(choices)
        if self.now_and_then(0.02):
            tool[self.one([*tool])] = self.one(self.odd)
        return tool
