"""Which writer a checkpoint's chats need, by vLLM 0.33's rule; most need none."""

from __future__ import annotations

__all__ = ["choose_writer"]

from typecase.checkpoint.checkpoint import Checkpoint
from typecase.prompt.writers.deepseek_v4 import DeepseekV4Writer
from typecase.prompt.writers.deepseek_v32 import DeepseekV32Writer
from typecase.prompt.writers.deepseek_v41 import DeepseekV41Writer
from typecase.prompt.writers.inkling import InklingWriter
from typecase.prompt.writers.mistral import MistralWriter
from typecase.prompt.writers.writer import Writer
from typecase.text.tokenizer import Tokenizer

# The mode that vLLM takes for an architecture when it is left to choose.
_MODES = {
    "DeepseekV32ForCausalLM": "deepseek_v32",
    "DeepseekV4ForCausalLM": "deepseek_v4",
    "DeepseekV4ForConditionalGeneration": "deepseek_v4",
    "DeepseekV41ForCausalLM": "deepseek_v41",
    "InklingForCausalLM": "inkling",
    "InklingForConditionalGeneration": "inkling",
}


def choose_writer(checkpoint: Checkpoint, tokenizer: Tokenizer, *, mode: str) -> Writer | None:
    """The writer of a checkpoint's family; None when its chat template writes the prompts.

    Args:
        checkpoint: whose chats.
        tokenizer: its tokenizer, for writers that give ids.
        mode: ``--tokenizer-mode``; ``auto`` leaves the choice to the checkpoint's model type.
    """
    if tokenizer.mistral is not None:
        return MistralWriter(tokenizer.mistral)
    if mode == "auto" and checkpoint.architectures:
        mode = _MODES.get(checkpoint.architectures[0], mode)
    match mode:
        case "deepseek_v32":
            return DeepseekV32Writer(tokenizer)
        case "deepseek_v4":
            return DeepseekV4Writer(tokenizer)
        case "deepseek_v41":
            return DeepseekV41Writer(tokenizer)
        case "inkling":
            return InklingWriter(tokenizer)
    return None
