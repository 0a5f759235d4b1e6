"""Random requests to a running vLLM 0.33 and to ours; every answer must be the same. Not part of the normal run.

    python tests/parity/live.py --peer http://127.0.0.1:9100 --ours http://127.0.0.1:8000 --shared SHARED [--count 2000] [--seed 1]

Start both with the same flags on the same model directory. Comparison and masking are those of the shared ``replay.py``; what is in
``differences.json`` counts as wanted. Each difference is printed with its request, ready to become a case.
"""

# ruff: noqa: E501

from __future__ import annotations

import argparse
import importlib
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

from live_messages import MessageMaker  # beside this file: it is run as a program
from live_responses import ResponsesMaker

TEXTS = [
    "", "x", "Hello there", " lead and trail ", "a\n\nb", "漢字 and 🙂", "<|im_end|>", "<think>no</think>", "é", "e\u0301", "\u200b",
    "{{ jinja }}", "{% raw %}", "x-anthropic-billing-header: a\nrest", "x-anthropic-billing-header: a", "123 456", "\t", "\r\n",
    "<tool_call>\n{}\n</tool_call>", "</think>\n\nanswer", "it's <é> & 日", "\ufeff", "word " * 40,
]  # fmt: skip
ODD = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    0.5,
    1e400,
    "x",
    "1",
    "0.5",
    "yes",
    "none",
    "auto",
    [],
    {},
    [1],
    ["x"],
    {"a": 1},
    10**20,
    -5,
    5.0,
]
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City <b>&"}},
    "required": ["city"],
}
SCHEMA = {"type": "object", "properties": {"z": {"type": "integer"}, "a": {"enum": [1, "é"]}}}


class Maker:
    """Draws requests. Most are well-formed with one or two things that are not."""

    def __init__(self, chance: random.Random, model: str):
        self.chance = chance
        self.model = model

    def text(self) -> str:
        return self.chance.choice(TEXTS)

    def content(self, role: str) -> Any:
        roll = self.chance.random()
        if roll < 0.6:
            return self.text()
        if roll < 0.9:
            return [self.part() for _ in range(self.chance.randint(0, 3))]
        return self.chance.choice([None, 5, {}, [], ["a"], [None], [[]], True])

    def part(self) -> Any:
        roll = self.chance.random()
        if roll < 0.65:
            return {"type": "text", "text": self.text()}
        return self.chance.choice([
            {"type": "refusal", "refusal": self.text()}, {"type": "thinking", "thinking": self.text()}, {"type": "text"},
            {"type": "text", "text": None}, {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, "plain", {"text": "a"},
            {"type": "input_text", "text": "a"}, {"type": "output_text", "text": "b"}, {"type": "bogus"}, {"type": 5}, {"uuid": "u"},
            {"type": "tool_reference", "name": "f"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            {"type": "text", "text": "a", "uuid": "u"}, {}, None, {"type": "file", "file": {}}, {"type": "text", "text": 5},
            {"name": "x"}, {"type": "video_url", "video_url": {"url": "x"}}, {"type": "thinking", "thinking": "t", "closed": True},
        ])  # fmt: skip

    def call(self) -> Any:
        arguments = self.chance.choice(
            ['{"city": "Oslo"}', "{}", "", "{bad", "null", "[1]", '{"b":1,"a":{"c":"é"}}', {"city": "x"}, None, 5]
        )
        call: Any = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}}
        if self.chance.random() < 0.15:
            call = self.chance.choice([
                {"function": {"name": "f", "arguments": "{}"}}, {"type": "function", "function": {"name": "f"}}, {"type": "function"}, 5,
                {"id": "1", "type": "custom", "custom": {"name": "f", "input": "x"}}, {"id": 1, "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}", "extra": 1}, "index": 0}, {"id": "1", "type": "function", "function": "f"},
            ])  # fmt: skip
        return call

    def message(self) -> Any:
        role = self.chance.choice(["user", "user", "assistant", "system", "tool", "developer", "narrator", "function"])
        message: dict[str, Any] = {"role": role, "content": self.content(role)}
        chance = self.chance.random
        if role == "assistant":
            if chance() < 0.4:
                message["tool_calls"] = [self.call() for _ in range(self.chance.randint(0, 2))]
            if chance() < 0.3:
                message[self.chance.choice(["reasoning", "reasoning_content"])] = self.chance.choice(
                    [self.text(), None, "r"]
                )
            if chance() < 0.2:
                del message["content"]
            if chance() < 0.05:
                message["tool_calls"] = self.chance.choice([None, {}, "x", 5, [None]])
        if role == "tool" and chance() < 0.8:
            message["tool_call_id"] = self.chance.choice(["call_1", "call_1", "", None, 5])
        if role == "function" and chance() < 0.8:
            message["name"] = "f"
        if chance() < 0.1:
            message[self.chance.choice(["name", "task", "extra", "tools", "refusal"])] = self.chance.choice(
                ["n", None, 5, [], ""]
            )
        if chance() < 0.04:
            message.pop("role" if chance() < 0.5 else "content", None)
        return message

    def messages(self) -> Any:
        if self.chance.random() < 0.03:
            return self.chance.choice([None, [], {}, "x", [5], ["x"], [[]]])
        if self.chance.random() < 0.4:
            return [{"role": "user", "content": self.text()}]
        return [self.message() for _ in range(self.chance.randint(1, 4))]

    def tool(self) -> Any:
        function: dict[str, Any] = {"name": self.chance.choice(["f", "get_weather", "a b!"])}
        if self.chance.random() < 0.7:
            function["description"] = self.chance.choice(["Weather <of> & 'é'", None, ""])
        if self.chance.random() < 0.7:
            function["parameters"] = self.chance.choice([PARAMETERS, {}, None, {"zeta": 1, "alpha": {"é": True}}])
        if self.chance.random() < 0.2:
            function[self.chance.choice(["strict", "defer_loading", "extra"])] = self.chance.choice([True, False, None])
        tool: Any = {"type": "function", "function": function}
        if self.chance.random() < 0.12:
            tool = self.chance.choice([{"function": function}, {"type": "function"}, {**tool, "defer_loading": True}, 5, {"type": "custom", "custom": {}}, {**tool, "extra": 1}, {"type": "function", "function": {}}])  # fmt: skip
        return tool

    def field(self, *, completion: bool = False) -> tuple[str, Any]:
        chance = self.chance
        good: dict[str, list[Any]] = {
            "temperature": [0, 0.5, 1, 2, 0.001, 1e-6, 3, -1], "top_p": [0.5, 1, 0, 1.5], "top_k": [0, -1, 5, -2], "min_p": [0, 0.1, 2],
            "n": [1, 2, 0, 20000], "max_tokens": [1, 16, 100, 0, -3, 10**6], "max_completion_tokens": [1, 16, 0, 10**6], "seed": [0, -1, 7, 2**63],
            "stop": ["x", ["a", "bc"], [], [""], ["a"] * 5, None], "stop_token_ids": [[1, 1, 2], [], [-1]], "presence_penalty": [0, 1, 3], "frequency_penalty": [1.5, -3],
            "repetition_penalty": [1, 1.2, 0, -1], "logprobs": [True, False, None], "top_logprobs": [0, 3, -1, -2, None], "prompt_logprobs": [0, 5, -1, -2],
            "logit_bias": [{"5": 1}, {"x": 1}, {"7": 500, "3": -500}, {}], "stream": [True, False, None], "stream_options": [{}, {"include_usage": True}, None],
            "response_format": [{"type": "text"}, {"type": "json_object"}, {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}}, {"type": "json_schema"}, {"type": "x"}],
            "structured_outputs": [{"json": SCHEMA}, {"regex": "a"}, {"choice": ["a"]}, {"json": {}, "regex": "a"}, {}, {"grammar": "g"}, {"json_object": True}],
            "add_generation_prompt": [True, False], "continue_final_message": [True, False], "add_special_tokens": [True, False], "echo": [True, False],
            "truncate_prompt_tokens": [-1, 0, 3, 10**7, -2], "truncation_side": ["left", "right", "x", None], "min_tokens": [0, 5, -1], "ignore_eos": [True],
            "skip_special_tokens": [True, False, None], "spaces_between_special_tokens": [True, False], "include_stop_str_in_output": [True], "bad_words": [["a", "a"], [""], []],
            "allowed_token_ids": [[1, 2], [], [-1]], "chat_template_kwargs": [{"enable_thinking": False}, {"x": 1}, {"enable_thinking": None}, {"add_generation_prompt": False}, {"tools": []}, {"bos_token": "B"}, {}, {"tokenize": True}, {"cohere_format": "z"}],
            "reasoning_effort": ["none", "low", "high", "max", "odd", None], "include_reasoning": [True, False], "documents": [[{"title": "t", "text": "x"}], [], [{"a": 1}]],
            "cache_salt": ["s", "", "a/b", "x" * 200], "priority": [1, -1, 2**63], "request_id": ["abc", ""], "return_token_ids": [True, None], "return_token_offsets": [True, False],
            "kv_transfer_params": [{"a": 1}, {}, {"prompt_token_ids": [1, 2, 3]}, {"prompt_token_ids": []}, {"prompt_token_ids": [-1]}, {"prompt_token_ids": [10**7]}], "ec_transfer_params": [{"a": 1}, {}],
            "vllm_xargs": [{"a": 1}, {"a": [1, "b"]}, {}, {"a": None}, {"a": {"b": 1}}], "thinking_token_budget": [0, 5, -1, -2], "parallel_tool_calls": [True, False, None],
            "logprob_token_ids": [[1], []], "repetition_detection": [{"max_pattern_size": 5, "min_count": 2}, {"max_pattern_size": 5}, {}], "stream_interval": [1, 0], "user": ["u"],
            "use_beam_search": [True, False], "watermarking": [True, False], "mm_payload": ["none", "tensors", "x"], "return_mm_kwargs": [False, True], "media_io_kwargs": [{}, {"image": {}}], "mm_processor_kwargs": [{}, {"a": 1}],
            "chat_template": ["{{ messages[0]['content'] }}", None], "length_penalty": [1.0, "x"], "routed_experts_prompt_start": [0, 3, -1], "model": [None, "", "nope", self.model], "unknown": [1], "guided_json": [{}],
        }  # fmt: skip
        if completion:
            good |= {
                "logprobs": [0, 1, 5, -1, -2, None], "echo": [True, True, False, None], "max_tokens": [0, 0, 1, 16, 17, None, -3, 10**6], "suffix": ["", "x", None], "prompt_logprobs": [0, 5, -1, -2],
                "prompt_embeds": [[], "", "AAAA", ["AAAA"], None, [""]], "add_special_tokens": [True, False], "truncate_prompt_tokens": [-1, 0, 1, 2, 3, 5, 10**7, -2], "use_beam_search": [True],
                "logprob_token_ids": [[1], [1, 1], []], "return_tokens_as_token_ids": [True], "return_weight_versions": [True],
            }  # fmt: skip
        name = chance.choice(list(good))
        return name, chance.choice(ODD if chance.random() < 0.25 else good[name])

    def prompt(self) -> Any:
        """Of one of the four shapes, or of none of them."""
        chance = self.chance
        roll = chance.random()
        ids = [0, 1, 5, 100, 1000, 151643, 151644, 200000, 2**31, 2**32 - 1, 2**32, 2**40]
        if roll < 0.4:
            return self.text() or "x"
        if roll < 0.6:
            return [self.text() for _ in range(chance.randint(0, 4))]
        if roll < 0.72:
            return [chance.choice(ids) for _ in range(chance.randint(0, 6))]
        if roll < 0.84:
            return [[chance.choice(ids[:8]) for _ in range(chance.randint(0, 3))] for _ in range(chance.randint(0, 3))]
        if roll < 0.92:
            odd = [None, True, False, 1, -1, 1.0, 0.5, "1", "2", "a", "", [], [1], ["1"], ["a"], [[1]], {}, [True], [-1], [1.0], 2**63]  # fmt: skip
            return [chance.choice(odd) for _ in range(chance.randint(1, 3))]
        return chance.choice([None, "", [], {}, 5, True, {"prompt": "x"}, [[]], [""], "x\ud83d y", ["ok", "\ud800"], ["a"] * 1025, [1] * 1025, [[1]] * 1025])  # fmt: skip

    def completion(self) -> dict[str, Any]:
        body: dict[str, Any] = {"prompt": self.prompt()}
        if self.chance.random() < 0.03:
            del body["prompt"]
        if self.chance.random() < 0.3:
            body["model"] = self.model
        for _ in range(self.chance.choice([0, 1, 1, 2, 2, 3, 4])):
            name, value = self.field(completion=True)
            body[name] = value
        return body

    def chat(self) -> dict[str, Any]:
        body: dict[str, Any] = {"messages": self.messages()}
        if self.chance.random() < 0.7:
            body["model"] = self.model
        if self.chance.random() < 0.35:
            body["tools"] = [self.tool() for _ in range(self.chance.randint(1, 3))]
            if self.chance.random() < 0.05:
                body["tools"] = self.chance.choice([[], None, {}, "x"])
        if self.chance.random() < 0.25:
            body["tool_choice"] = self.chance.choice(["auto", "none", "required", "none", "x", None, {}, {"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "zz"}}, {"type": "function"}])  # fmt: skip
        for _ in range(self.chance.choice([0, 0, 1, 1, 1, 2, 2, 3])):
            name, value = self.field()
            body[name] = value
        return body

    def anthropic(self) -> dict[str, Any]:
        return MessageMaker(self.chance, self.model, TEXTS, ODD).body()

    def responses(self) -> dict[str, Any]:
        return ResponsesMaker(self.chance, self.model, TEXTS, ODD).body()

    def tokenize(self) -> dict[str, Any]:
        body: dict[str, Any] = {"prompt": self.text()} if self.chance.random() < 0.4 else {"messages": self.messages()}
        if self.chance.random() < 0.3:
            body["tools"] = [self.tool() for _ in range(self.chance.randint(0, 2))]
        for _ in range(self.chance.choice([0, 1, 2])):
            name = self.chance.choice(["add_special_tokens", "return_token_strs", "add_generation_prompt", "continue_final_message", "model", "chat_template_kwargs", "chat_template", "prompt", "messages"])  # fmt: skip
            body[name] = self.chance.choice([True, False, None, "x", {"enable_thinking": False}, self.model, ["a"], 5])
        return body

    def detokenize(self) -> dict[str, Any]:
        ids = [
            self.chance.choice([0, 5, 100, 1000, 151643, 151644, 200000, 2**40, -1, 2**63, "5", 1.0, None])
            for _ in range(3)
        ]
        return {"tokens": self.chance.choice([ids, [1, 2, 3], [], None, "x", {}])}


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare a running vLLM and ours on random requests.")
    parser.add_argument("--peer", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--shared", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="qwen3")
    parser.add_argument("--routes", default="chat,completion,tokenize,detokenize")
    parser.add_argument("--ignore", action="append", default=[], help="a field that doesn't count (regex)")
    parser.add_argument("--differences", type=Path, default=Path(__file__).with_name("differences.json"))
    parser.add_argument("--show", type=int, default=20, help="differences to print")
    args = parser.parse_args()
    sys.path.insert(0, str(args.shared / "peers"))
    peerlib, replay = importlib.import_module("peerlib"), importlib.import_module("replay")
    wanted = replay.Wanted(json.loads(args.differences.read_text(encoding="utf-8")))
    options = argparse.Namespace(
        content_type=True, status_only=False, state=False, wording=False, ignore=[re.compile(f) for f in args.ignore]
    )
    # What Python words in more places than the recorded answers know.
    replay.LIBRARY_WORDS = re.compile(replay.LIBRARY_WORDS.pattern + r"|sequence item|indices must be|too large to fit")
    clients = [peerlib.Client(args.peer), peerlib.Client(args.ours)]
    make = Maker(random.Random(args.seed), args.model)
    paths = {
        "chat": "/v1/chat/completions/render",
        "completion": "/v1/completions/render",
        "anthropic": "/v1/messages/render",
        "responses": "/v1/responses/render",
        "tokenize": "/tokenize",
        "detokenize": "/detokenize",
    }
    routes = args.routes.split(",")
    differing = 0
    accepted = 0
    for i in range(args.count):
        route = make.chance.choice(routes if make.chance.random() < 0.2 else routes[:1])
        body = getattr(make, route)()
        sample = {"name": f"live.{route}.{i}", "path": paths[route]}
        raw = json.dumps(body).encode()
        peer, ours = (peerlib.call(client, sample, raw) for client in clients)
        accepted += peer["status"] == 200
        found = replay.compare(sample, json.loads(json.dumps(peer)), json.loads(json.dumps(ours)), options)
        if peer["status"] >= 500:
            found = [] if ours["status"] == 400 else [("$(status)", "400 for a crash of the peer", ours["status"])]
        left = [d for d in found if not wanted.covers(sample["name"], *d)]
        if left:
            differing += 1
            if differing <= args.show:
                print(f"DIFFER {paths[route]} {json.dumps(body)}")
                for path, theirs, mine in left[:4]:
                    print(f"    {path}\n      peer {peerlib.short(theirs)}\n      ours {peerlib.short(mine)}")
                if peer["status"] != ours["status"]:
                    print(
                        f"      peer said {peerlib.short(peer.get('response'))}\n      ours said {peerlib.short(ours.get('response'))}"
                    )
    print(f"{args.count} requests, {accepted} accepted by the peer, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
