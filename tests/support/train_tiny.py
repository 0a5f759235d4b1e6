"""Makes tests/data/tiny and tests/data/tiny.gguf, the small checkpoint that the whole test-suite uses.

    python -m tests.support.train_tiny [DIRECTORY]

The tokenizer is a byte-level BPE trained on tiny_text.txt with a pre-tokenizer like Qwen's; tokens, template and
configurations are written here, so the same script gives the same bytes. Needs the tokenizers library alone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.support.gguf_writer import gguf_of_directory
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"

VOCABULARY = 2000
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PLAIN = ("<think>", "</think>", "<tool_call>", "</tool_call>")
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

TEMPLATE = """\
{%- macro text_of(content) -%}
    {%- if content is string -%}
        {{- content -}}
    {%- elif content is not none and content is defined -%}
        {%- for part in content -%}
            {%- if part.type == 'text' -%}{{- part.text -}}{%- endif -%}
        {%- endfor -%}
    {%- endif -%}
{%- endmacro -%}
{%- set first_is_system = messages and messages[0].role == 'system' -%}
{%- if tools or first_is_system -%}
    {{- '<|im_start|>system\\n' -}}
    {%- if first_is_system -%}
        {{- text_of(messages[0].content) -}}
    {%- endif -%}
    {%- if tools -%}
        {{- ('\\n\\n' if first_is_system else '') + 'You may call these functions:\\n<tools>' -}}
        {%- for tool in tools -%}
            {{- '\\n' + (tool | tojson) -}}
        {%- endfor -%}
        {{- '\\n</tools>\\nCall one as <tool_call>{"name": ..., "arguments": ...}</tool_call>.' -}}
    {%- endif -%}
    {{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
    {%- if message.role == 'system' -%}
        {%- if not loop.first -%}
            {{- raise_exception('A system message must come first.') -}}
        {%- endif -%}
    {%- elif message.role == 'user' -%}
        {{- '<|im_start|>user\\n' + text_of(message.content) + '<|im_end|>\\n' -}}
    {%- elif message.role == 'assistant' -%}
        {{- '<|im_start|>assistant\\n' -}}
        {%- if message.reasoning -%}
            {{- '<think>\\n' + message.reasoning + '\\n</think>\\n\\n' -}}
        {%- endif -%}
        {{- text_of(message.content) -}}
        {%- for call in message.tool_calls or [] -%}
            {{- '\\n<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' -}}
            {{- call.function.arguments | tojson -}}
            {{- '}\\n</tool_call>' -}}
        {%- endfor -%}
        {{- '<|im_end|>\\n' -}}
    {%- elif message.role == 'tool' -%}
        {{- '<|im_start|>tool\\n' + text_of(message.content) + '<|im_end|>\\n' -}}
    {%- else -%}
        {{- raise_exception('Unknown role: ' + message.role) -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\\n' -}}
    {%- if enable_thinking is defined and enable_thinking is false -%}
        {{- '<think>\\n\\n</think>\\n\\n' -}}
    {%- endif -%}
{%- endif -%}
"""


def train() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        min_frequency=2,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    text = (HERE / "tiny_text.txt").read_text(encoding="utf-8")
    tokenizer.train_from_iterator(text.splitlines(keepends=True), trainer)
    tokenizer.add_tokens([AddedToken(token, normalized=False, special=True) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in PLAIN])
    return tokenizer


def configurations(tokenizer: Tokenizer) -> dict[str, Any]:
    ids = {token: tokenizer.token_to_id(token) for token in (*SPECIAL, *PLAIN)}
    added = {
        str(token_id): {
            "content": token,
            "lstrip": False,
            "normalized": False,
            "rstrip": False,
            "single_word": False,
            "special": token in SPECIAL,
        }
        for token, token_id in ids.items()
    }
    return {
        "config.json": {
            "architectures": ["Qwen3ForCausalLM"],
            "model_type": "qwen3",
            "max_position_embeddings": 4096,
            "hidden_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "intermediate_size": 128,
            "vocab_size": tokenizer.get_vocab_size(),
            "bos_token_id": ids["<|endoftext|>"],
            "eos_token_id": ids["<|im_end|>"],
            "torch_dtype": "bfloat16",
            "transformers_version": "5.16.1",
        },
        "generation_config.json": {
            "bos_token_id": ids["<|endoftext|>"],
            "do_sample": True,
            "eos_token_id": [ids["<|im_end|>"], ids["<|endoftext|>"]],
            "pad_token_id": ids["<|endoftext|>"],
            "temperature": 0.6,
            "top_k": 20,
            "top_p": 0.95,
        },
        "tokenizer_config.json": {
            "added_tokens_decoder": added,
            "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
            "bos_token": None,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "unk_token": None,
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "model_max_length": 4096,
            "split_special_tokens": False,
            "tokenizer_class": "Qwen2Tokenizer",
        },
    }


def main(directory: Path) -> None:
    tiny = directory / "tiny"
    tiny.mkdir(parents=True, exist_ok=True)
    tokenizer = train()
    (tiny / "tokenizer.json").write_text(tokenizer.to_str(), encoding="utf-8")
    (tiny / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    for name, value in configurations(tokenizer).items():
        (tiny / name).write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    (directory / "tiny.gguf").write_bytes(gguf_of_directory(tiny, pre="qwen2"))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
