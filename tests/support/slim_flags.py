"""Write ``src/typecase/cli/flags.json`` from the full description of vLLM's arguments.

    python tests/support/slim_flags.py path/to/vllm-flags.json

The full file holds what a person may want to know; the slim one what parsing and help need, a flag a line. The kinds of
value are narrowed to the names of ``typecase/cli/values.py``. Where the full file says only "optional", the tables
below say of what (read off the parser's own type functions).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[2] / "src/typecase/cli/flags.json"

OPTIONAL_INT = {
    "cpu_distributed_timeout_seconds", "distributed_timeout_seconds", "grpc_port", "mamba_block_size",
    "max_cpu_loras", "max_log_len", "max_lora_cls_labels", "max_num_active_seqs", "max_num_queued_reqs",
    "max_parallel_loading_workers", "num_gpu_blocks_override", "numa_bind_nodes", "prefix_cache_retention_interval",
    "prefix_match_unit",
}  # fmt: skip
OPTIONAL_FLOAT = {"kv_offloading_size", "video_pruning_rate"}
OPTIONAL_JSON = {
    "custom_histogram_buckets", "default_mm_loras", "diffusion_config", "mm_processor_kwargs", "speculative_config",
    "watermark_config",
}  # fmt: skip
KINDS = {
    "bool": None,
    "str": None,
    None: None,
    "json-object": "config",
    "human_readable_int": "size",
    "human_readable_int_or_auto": "size-or-auto",
    "parse_reasoning_parser": "reasoning-parser",
}
# The full file was made on a machine without an accelerator, where vLLM offers this flag no device but the CPU.
DEVICES = ["auto", "cpu", "cuda", "xpu"]


def kind(flag: dict[str, Any]) -> str | None:
    """The name of the value's type in ``values.py``; None is a plain string (or no value at all)."""
    match flag["type"]:
        case "custom" if flag["dest"] == "device_ids":
            return "devices"
        case "custom":
            return "json" if flag["json"] else "backend"
        case "optional":
            return optional_kind(flag)
        case other:
            return KINDS.get(other, other)


def optional_kind(flag: dict[str, Any]) -> str | None:
    if flag["dest"] in OPTIONAL_INT:
        return "int"
    if flag["dest"] in OPTIONAL_FLOAT:
        return "float"
    if flag["dest"] in OPTIONAL_JSON:
        return "json"
    if flag["accepts_suffix_int"]:
        return "size"
    return "config" if flag["json"] else None


def slim(flag: dict[str, Any]) -> dict[str, Any]:
    """The facts of one flag that parsing needs; what is absent has its usual value."""
    entry: dict[str, Any] = {"dest": flag["dest"], "names": [flag["name"], *flag["aliases"]], "group": flag["group"]}
    if flag["negative"]:
        entry["negative"] = flag["negative"]
    action = flag["action"].split(" ")[0]
    if action != "store":
        entry["action"] = action
    if flag["dest"] == "lora_modules":
        entry["type"] = "lora-module"
    elif kind(flag):
        entry["type"] = kind(flag)
    if flag["accepts_none"]:
        entry["none"] = True
    if flag["nargs"] in ("+", "?"):
        entry["nargs"] = flag["nargs"]
    if flag["nargs"] == "?" and flag["const"] is not None:
        entry["const"] = flag["const"]
    if flag["choices"] is not None:
        entry["choices"] = DEVICES if flag["dest"] == "mm_processor_device" else flag["choices"]
    default = flag["default"]
    if default is not None and not isinstance(default, dict) and default != "set()":
        entry["default"] = default
    return entry


def main(source: str) -> None:
    facts = json.loads(Path(source).read_text())
    flags = [slim(flag) for flag in facts["flags"] if not flag["positional"]]
    lines = ",\n".join("  " + json.dumps(flag) for flag in flags)
    head = json.dumps(facts["vllm_version"])
    TARGET.write_text(f'{{"vllm_version": {head}, "flags": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main(sys.argv[1])
