"""The environment variables that mean something here, read once: ``Environment``.

Names, defaults and readings are vLLM 0.33's. A value that can't be read is a start-up error that names the variable.
"""

from __future__ import annotations

__all__ = ["WITHOUT_EFFECT", "Environment", "read_environment", "variable_warnings"]

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from typecase.cli.failure import StartError

Number = TypeVar("Number", int, float)

_NO_PLUGINS = "no code is imported into the server"
_LATER = "what it is about isn't built yet"

# Variables that change something in vLLM's front and nothing here, with the reason.
WITHOUT_EFFECT: dict[str, str] = {
    "VLLM_PLUGINS": _NO_PLUGINS,
    "VLLM_MEDIA_CONNECTOR": _NO_PLUGINS,
    "VLLM_USE_MODELSCOPE": "checkpoints come from a directory or the Hugging Face hub",
    "VLLM_USE_FASTOKENS": "the tokenizer backend is chosen by a test at start",
    "VLLM_USE_RUST_FRONTEND": "there is one front here",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "no LoRA adapters are loaded here",
    "VLLM_SERVER_DEV_MODE": "there are no routes for development",
    "VLLM_DEBUG_LOG_API_SERVER_RESPONSE": "answers are never logged",
    "VLLM_MAX_NUM_BAD_WORDS": _LATER,
    "VLLM_TOOL_PARSE_REGEX_TIMEOUT_SECONDS": _LATER,
    "VLLM_GPT_OSS_SYSTEM_TOOL_MCP_LABELS": "built-in tools aren't described to the model",
    "VLLM_ENABLE_COHERE_API": _LATER,
    "VLLM_IMAGE_FETCH_TIMEOUT": _LATER,
    "VLLM_VIDEO_FETCH_TIMEOUT": _LATER,
    "VLLM_AUDIO_FETCH_TIMEOUT": _LATER,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """``template_timeout`` is in seconds, None: no limit."""

    api_key: str | None = None
    skip_model_name_validation: bool = False
    allow_long_max_model_len: bool = False
    enforce_strict_tool_calling: bool = True
    system_start_date: str | None = None
    harmony_system_instructions: bool = False
    max_n: int = 16384
    max_stop_strings: int = 4
    max_completion_prompts: int = 1024
    template_timeout: float | None = 30.0
    keep_alive: int = 5
    log_level: str = "INFO"
    log_stream: str = "ext://sys.stderr"
    log_prefix: str = ""
    log_file: str | None = None
    configure_logging: bool = True


def read_environment(environ: Mapping[str, str]) -> Environment:
    """What the variables say. Standard error is the default stream of the log, where vLLM's is standard output."""
    timeout = _number(environ, "VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT", 30.0, float)
    return Environment(
        api_key=environ.get("VLLM_API_KEY"),
        skip_model_name_validation=_switch(environ, "VLLM_SKIP_MODEL_NAME_VALIDATION"),
        allow_long_max_model_len=_switch(environ, "VLLM_ALLOW_LONG_MAX_MODEL_LEN"),
        enforce_strict_tool_calling=environ.get("VLLM_ENFORCE_STRICT_TOOL_CALLING", "1").lower() in ("true", "1"),
        system_start_date=environ.get("VLLM_SYSTEM_START_DATE"),
        harmony_system_instructions=bool(_number(environ, "VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS", 0, int)),
        max_n=_number(environ, "VLLM_MAX_N_SEQUENCES", 16384, int),
        max_stop_strings=_number(environ, "VLLM_MAX_STOP_STRINGS", 4, int),
        max_completion_prompts=_number(environ, "VLLM_MAX_COMPLETION_PROMPTS", 1024, int),
        template_timeout=timeout if timeout > 0 else None,
        keep_alive=_number(environ, "VLLM_HTTP_TIMEOUT_KEEP_ALIVE", 5, int),
        log_level=environ.get("VLLM_LOGGING_LEVEL", "INFO").upper(),
        log_stream=environ.get("VLLM_LOGGING_STREAM", "ext://sys.stderr"),
        log_prefix=environ.get("VLLM_LOGGING_PREFIX", ""),
        log_file=environ.get("VLLM_LOGGING_CONFIG_PATH"),
        configure_logging=bool(_number(environ, "VLLM_CONFIGURE_LOGGING", 1, int)),
    )


def _number(environ: Mapping[str, str], name: str, default: Number, read: Callable[[str], Number]) -> Number:
    text = environ.get(name)
    if text is None:
        return default
    try:
        return read(text)
    except ValueError:
        raise StartError(f"{name}: {text!r} is no number") from None


def _switch(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").strip().lower() in ("1", "true")


def variable_warnings(environ: Mapping[str, str]) -> Iterator[str]:
    """One line for each variable that is set, and not to off, and changes nothing."""
    for name, reason in WITHOUT_EFFECT.items():
        if environ.get(name, "").strip().lower() not in ("", "0", "false"):
            yield f"{name} has no effect: {reason}"
