"""The names of output formats: vLLM 0.33's, with the record of each that is supported here.

A name without a record is one that vLLM knows and typecase doesn't yet: choosing it stops the start with a line that
says so.
"""

from __future__ import annotations

from typing import TypeVar

from typecase.checkpoint.errors import CheckpointError
from typecase.formats import (
    deepseek,
    deepseek_dsml,
    ernie,
    gemma,
    glm,
    granite,
    harmony,
    hermes,
    json_calls,
    kimi_k2,
    llama,
    minimax,
    mistral,
    plamo3,
    poolside,
    pythonic,
    qwen3,
    qwen3_kin,
    seed_oss,
    step,
)
from typecase.formats.call_format import CallFormat
from typecase.formats.reasoning_format import ReasoningFormat

__all__ = ["CALL_FORMATS", "CALL_NAMES", "REASONING_FORMATS", "REASONING_NAMES", "call_format", "reasoning_format"]

_FAMILIES = (
    deepseek, deepseek_dsml, ernie, gemma, glm, granite, harmony, hermes, json_calls, kimi_k2, llama, minimax, mistral,
    plamo3, poolside, pythonic, qwen3, qwen3_kin, seed_oss, step,
)  # fmt: skip

CALL_FORMATS: dict[str, CallFormat] = {name: f for family in _FAMILIES for f in family.CALLS for name in f.names}
REASONING_FORMATS: dict[str, ReasoningFormat] = {
    name: f for family in _FAMILIES for f in family.REASONING for name in f.names
}

# All names of vLLM 0.33, in its order.
CALL_NAMES = (
    "apertus", "beam", "cohere_command3", "cohere_command4", "deepseek_v3", "deepseek_v31", "deepseek_v32",
    "deepseek_v4", "deepseek_v41", "dots", "ernie45", "functiongemma", "gemma4", "gigachat3", "glm45", "glm47",
    "granite", "granite-20b-fc", "granite4", "hermes", "hf", "hunyuan_a13b", "hy_v3", "hy_v4", "inkling", "internlm",
    "jamba", "k2_horizon", "kimi_k2", "kimi_k3", "lfm2", "ling3", "llama3_json", "llama4_json", "llama4_pythonic",
    "longcat", "mimo", "minicpm5", "minimax_m2", "minimax_m3", "mistral", "muse", "muse_glimmer", "musespark1x",
    "olmo3", "openai", "phi4_mini_json", "plamo3", "poolside_v1", "pythonic", "qwen3_coder", "qwen3_json", "qwen3_xml",
    "seed_oss", "step3", "step3p5", "step5", "xlam",
)  # fmt: skip
REASONING_NAMES = (
    "beam", "cohere_command3", "cohere_command4", "deepseek_r1", "deepseek_v3", "deepseek_v4", "deepseek_v41",
    "ernie45", "gemma4", "glm45", "glm47", "granite", "granite_thinking_parser", "hf", "holo2", "hunyuan_a13b",
    "hy_v3", "hy_v4", "inkling", "k2_horizon", "kimi_k2", "kimi_k3", "ling3", "mimo", "minicpmv", "minimax_m2",
    "minimax_m2_append_think", "minimax_m3", "mistral", "muse", "muse_glimmer", "musespark1x", "nemotron_v3", "olmo3",
    "openai_gptoss", "plamo3", "poolside_v1", "qwen3", "seed_oss", "step3", "step3p5", "step5",
)  # fmt: skip

_Format = TypeVar("_Format")


def call_format(name: str) -> CallFormat:
    """The record behind ``--tool-call-parser NAME``.

    Raises:
        CheckpointError: vLLM knows no such name, in its words; or it does, and it isn't supported here.
    """
    return _find(name, CALL_FORMATS, CALL_NAMES, flag="--tool-call-parser", what="tool call parser")


def reasoning_format(name: str) -> ReasoningFormat:
    """The record behind ``--reasoning-parser NAME``. Raises as ``call_format`` does."""
    return _find(name, REASONING_FORMATS, REASONING_NAMES, flag="--reasoning-parser", what="reasoning parser")


def _find(name: str, formats: dict[str, _Format], known: tuple[str, ...], *, flag: str, what: str) -> _Format:
    found = formats.get(name)
    if found is not None:
        return found
    if name in known:
        raise CheckpointError(
            f"{flag} {name}: typecase doesn't support this {what} yet; supported are {', '.join(sorted(formats))}"
        )
    raise CheckpointError(f"invalid {what}: {name} (chose from {{ {','.join(known)} }})")
