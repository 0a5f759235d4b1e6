"""``Arguments`` and ``Environment`` to what the rest of the program is started with.

Plain functions: ``front_options`` for what is about the model, ``server_settings`` for the HTTP side, ``log_options``
for the log. Files that flags name (a chat template, a generation config) are read here. Every value that the parser
took and that can't work is a ``StartError`` that names the flag.
"""

from __future__ import annotations

__all__ = ["context_length", "front_options", "log_options", "model_name", "server_settings"]

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typecase.cli.environment import Environment
from typecase.cli.failure import StartError
from typecase.cli.logs import LogOptions
from typecase.cli.parser import Arguments

if TYPE_CHECKING:
    from typecase.checkpoint.checkpoint import Checkpoint
    from typecase.front import FrontOptions
    from typecase.server.settings import ServerSettings

_log = logging.getLogger(__name__)

_MB = 1024 * 1024
_TEMPLATE_SIGNS = "{}\n"
_LENGTH_KEYS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length",
    "max_target_positions", "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip


def model_name(arguments: Arguments) -> str:
    """The checkpoint: MODEL, else ``--model``, else vLLM's default."""
    name: str = arguments.model if arguments.model_tag is None else arguments.model_tag
    return name


def log_options(arguments: Arguments, environment: Environment) -> LogOptions:
    """``--log-level`` and ``--log-config-file`` stand over ``--logging-config``, that over the variables."""
    config = arguments.logging_config or {}
    for key, kind in (
        ("log_level", str),
        ("formatter", str),
        ("pylogging_config_file", str),
        ("configure_logging", bool),
    ):
        if not isinstance(config.get(key), kind | None):
            raise StartError(f"--logging-config: {key} can't be {config[key]!r}")
    if unknown := sorted(config.keys() - {"log_level", "formatter", "pylogging_config_file", "configure_logging"}):
        raise StartError(f"--logging-config has no {', '.join(unknown)}")
    return LogOptions(
        level=arguments.log_level or config.get("log_level", environment.log_level),
        uvicorn_level=arguments.uvicorn_log_level,
        formatter=config.get("formatter", "text"),
        stream=environment.log_stream,
        prefix=environment.log_prefix,
        file=arguments.log_config_file or config.get("pylogging_config_file", environment.log_file),
        enabled=config.get("configure_logging", environment.configure_logging),
    )


def server_settings(arguments: Arguments, environment: Environment) -> ServerSettings:
    """How to listen, whom to serve, how much to take."""
    from typecase.server.settings import ServerSettings, TemplateBudget

    small = ServerSettings().small_budget
    for name in ("template_steps", "template_characters", "max_json_nodes"):
        if getattr(arguments, name) < 1:
            raise StartError(f"--{name.replace('_', '-')} must be at least 1, got {getattr(arguments, name)}")
    return ServerSettings(
        host=arguments.host,
        port=arguments.port,
        uds=arguments.uds,
        root_path=arguments.root_path or "",
        api_keys=_api_keys(arguments, environment),
        allowed_origins=_strings(arguments, "allowed_origins"),
        allowed_methods=_strings(arguments, "allowed_methods"),
        allowed_headers=_strings(arguments, "allowed_headers"),
        allow_credentials=arguments.allow_credentials,
        ssl_keyfile=arguments.ssl_keyfile,
        ssl_certfile=arguments.ssl_certfile,
        ssl_ca_certs=arguments.ssl_ca_certs,
        ssl_cert_reqs=arguments.ssl_cert_reqs,
        ssl_ciphers=arguments.ssl_ciphers,
        enable_ssl_refresh=arguments.enable_ssl_refresh,
        max_body_bytes=_bytes(arguments, "max_body_mb"),
        max_json_nodes=arguments.max_json_nodes,
        max_bytes_in_flight=_bytes(arguments, "max_in_flight_mb"),
        max_header_bytes=arguments.h11_max_incomplete_event_size,
        max_header_count=arguments.h11_max_header_count,
        header_timeout=_seconds(arguments, "header_timeout"),
        body_timeout=_seconds(arguments, "body_timeout"),
        write_timeout=_seconds(arguments, "write_timeout"),
        keep_alive=environment.keep_alive,
        graceful_timeout=_seconds(arguments, "stop_timeout"),
        disable_fastapi_docs=arguments.disable_fastapi_docs,
        enable_offline_docs=arguments.enable_offline_docs,
        enable_tokenizer_info_endpoint=arguments.enable_tokenizer_info_endpoint,
        enable_request_id_headers=arguments.enable_request_id_headers,
        uvicorn_log_level=arguments.uvicorn_log_level,
        access_log=not arguments.disable_uvicorn_access_log,
        access_log_excluded=_paths(arguments.disable_access_log_for_endpoints),
        enable_log_requests=arguments.enable_log_requests,
        max_log_len=arguments.max_log_len,
        api_server_count=_processes(arguments),
        renderer_num_workers=arguments.renderer_num_workers,
        small_budget=TemplateBudget(
            steps=min(small.steps, arguments.template_steps),
            characters=min(small.characters, arguments.template_characters),
        ),
        full_budget=TemplateBudget(
            steps=arguments.template_steps,
            characters=arguments.template_characters,
            seconds=environment.template_timeout,
        ),
    )


def front_options(arguments: Arguments, environment: Environment) -> FrontOptions:
    """What the operator chose about the model. The context length is checked later, by ``context_length``."""
    from typecase.api.limits import Limits
    from typecase.front import FrontOptions

    names = tuple(name for name in arguments.served_model_name or () if name)
    cache = arguments.tokenizer_cache_mb
    if not 0 <= cache < float("inf"):
        raise StartError(f"--tokenizer-cache-mb must be a number of megabytes, got {cache}")
    return FrontOptions(
        served_model_names=names or (model_name(arguments),),
        max_model_len=_asked_length(arguments),
        chat_template=_chat_template(arguments.chat_template),
        chat_template_content_format=arguments.chat_template_content_format,
        trust_request_chat_template=arguments.trust_request_chat_template,
        trust_request_mm_kwargs=arguments.trust_request_mm_kwargs,
        default_chat_template_kwargs=_object(arguments, "default_chat_template_kwargs"),
        cohere_format=arguments.cohere_format,
        reasoning_effort_map=arguments.reasoning_effort_map or {},
        generation_config=_generation_config(arguments),
        override_generation_config=_override(arguments),
        enable_auto_tool_choice=arguments.enable_auto_tool_choice,
        tool_call_parser=arguments.tool_call_parser,
        reasoning_parser=_reasoning_parser(arguments),
        tool_strict_level=arguments.tool_strict_level,
        anthropic_disabled_thinking_effort=arguments.anthropic_disabled_thinking_effort,
        enforce_strict_tool_calling=environment.enforce_strict_tool_calling,
        system_start_date=environment.system_start_date,
        harmony_system_instructions=environment.harmony_system_instructions,
        tokenizer_mode=arguments.tokenizer_mode,
        exclude_tools_when_tool_choice_none=arguments.exclude_tools_when_tool_choice_none,
        skip_model_name_validation=environment.skip_model_name_validation,
        tokenizer_cache_mb=cache,
        limits=Limits(
            max_n=environment.max_n,
            max_stop_strings=environment.max_stop_strings,
            max_completion_prompts=environment.max_completion_prompts,
        ),
    )


def context_length(
    asked: int | None, checkpoint: Checkpoint, *, allow_longer: bool, disable_sliding_window: bool = False
) -> int:
    """The context length to serve with: what was asked for, if the checkpoint's config allows it, else its own.

    The rules and the sentence are vLLM's. A longer one than the config says is refused unless ``allow_longer``
    (``VLLM_ALLOW_LONG_MAX_MODEL_LEN``); where the config says nothing, any length will do.
    """
    from typecase.checkpoint.model_config import max_model_len, text_config

    own = checkpoint.max_model_len or 0
    if max_model_len(checkpoint.config) is None:
        return asked or own
    config = text_config(checkpoint.config)
    key, longest = _longest_length(config, own)
    window = config.get("sliding_window")
    if disable_sliding_window and isinstance(window, int) and config.get("use_sliding_window", True) and window < own:
        key, own, longest = "sliding_window", window, window
    if asked is None:
        return own
    stated = config.get("model_max_length")
    if asked > longest and (not isinstance(stated, int | float) or asked > stated):
        message = (
            f"User-specified max_model_len ({asked}) is greater than the derived max_model_len ({key}={longest} or "
            f"model_max_length={stated} in model's config.json)."
        )
        if not allow_longer:
            raise StartError(
                f"{message} To allow overriding this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1."
            )
        _log.warning("%s Positions that the model wasn't made for give nonsense.", message)
    return asked


def _longest_length(config: Mapping[str, Any], own: int) -> tuple[str, int]:
    """The key that tells the length, and the longest that may be asked for (LongRoPE's is longer than its default)."""
    lengths = {key: config[key] for key in _LENGTH_KEYS if isinstance(config.get(key), int)}
    key = min(lengths, key=lambda name: lengths[name], default="max_position_embeddings")
    rope = config.get("rope_scaling") or config.get("rope_parameters")
    kind = rope.get("rope_type", rope.get("type")) if isinstance(rope, Mapping) else None
    return key, max(own, lengths.get(key, own)) if kind in ("longrope", "su") else own


def _asked_length(arguments: Arguments) -> int | None:
    """``--max-model-len``; None for ``auto``, -1 and when it isn't given."""
    length: int | None = arguments.max_model_len
    if length is None or length == -1:
        return None
    if length < 1:
        raise StartError(f"--max-model-len must be at least 1, or auto, got {length}")
    return length


def _api_keys(arguments: Arguments, environment: Environment) -> tuple[str, ...]:
    """The flag replaces the variable, even with nothing but empty strings; those are no keys."""
    given = arguments.api_key if "api_key" in arguments.given else [environment.api_key]
    return tuple(key for key in given if key)


def _processes(arguments: Arguments) -> int:
    """How many processes serve. vLLM's render server takes any number and starts one; here, too, none is refused."""
    asked: int | None = arguments.api_server_count
    if asked is None:
        return 1
    from typecase.server.processes import MOST_PROCESSES

    count = min(max(asked, 1), MOST_PROCESSES)
    if count != asked:
        _log.warning("--api-server-count %d: %s", asked, "one process serves" if asked < 1 else f"{count} are started")
    return count


def _strings(arguments: Arguments, dest: str) -> tuple[str, ...]:
    value = getattr(arguments, dest)
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise StartError(f"--{dest.replace('_', '-')} must be a JSON list of strings, got {value!r}")
    return tuple(value)


def _object(arguments: Arguments, dest: str) -> dict[str, Any]:
    value = getattr(arguments, dest)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise StartError(f"--{dest.replace('_', '-')} must be a JSON object, got {value!r}")
    return value


def _override(arguments: Arguments) -> dict[str, Any]:
    from typecase.checkpoint.errors import CheckpointError
    from typecase.checkpoint.generation import check_generation_config

    try:
        return check_generation_config(_object(arguments, "override_generation_config"), "--override-generation-config")
    except CheckpointError as error:
        raise StartError(str(error)) from None


def _bytes(arguments: Arguments, dest: str) -> int:
    value: float = getattr(arguments, dest)
    if not 0 < value < float("inf"):
        raise StartError(f"--{dest.replace('_', '-')} must be a number of megabytes above 0, got {value}")
    return max(1, round(value * _MB))


def _seconds(arguments: Arguments, dest: str) -> float | None:
    value: float = getattr(arguments, dest)
    if not 0 <= value < float("inf"):
        raise StartError(f"--{dest.replace('_', '-')} must be a number of seconds, 0 for no limit, got {value}")
    return value or None


def _paths(text: str | None) -> frozenset[str]:
    return frozenset(path for path in map(str.strip, (text or "").split(",")) if path)


def _reasoning_parser(arguments: Arguments) -> str | None:
    """The flag, else the key of ``--structured-outputs-config``."""
    name = arguments.reasoning_parser or (arguments.structured_outputs_config or {}).get("reasoning_parser")
    if name is not None and not isinstance(name, str):
        raise StartError(f"--structured-outputs-config: reasoning_parser must be a name, got {name!r}")
    return name or None


def _chat_template(given: str | None) -> str | None:
    """Template text: of the file, if there is one of that name, else what was given, if it can be a template."""
    if given is None:
        return None
    try:
        return Path(given).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise StartError(f"--chat-template: {given} is no UTF-8 text ({error.reason} at byte {error.start})") from None
    except (OSError, ValueError) as error:
        if any(sign in given for sign in _TEMPLATE_SIGNS):
            return given
        reason = "" if isinstance(error, FileNotFoundError) else f" ({error.strerror or error})"  # type: ignore[union-attr]
        raise StartError(
            f"The supplied chat template string ({given}) appears path-like, but doesn't exist!{reason} "
            "Give the path of a file or the template itself; the files that vLLM brings along are no part of typecase."
        ) from None


def _generation_config(arguments: Arguments) -> Any:
    """``auto`` and ``vllm`` as they are; of a directory or hub id, the settings there (none: none, as in vLLM)."""
    given: str = arguments.generation_config
    if given in ("auto", "vllm"):
        return given
    from typecase.checkpoint.errors import CheckpointError
    from typecase.checkpoint.generation import read_generation_config
    from typecase.checkpoint.json_files import read_object
    from typecase.loading.files import read_directory
    from typecase.loading.hub import is_hub_id, snapshot

    path = Path(given).expanduser()
    try:
        if not path.is_dir() and is_hub_id(given):
            path = snapshot(given, revision=None, token=arguments.hf_token, cache=arguments.download_dir)
        files = read_directory(path)[0] if path.is_dir() else {}
    except CheckpointError as error:
        _log.warning("--generation-config: %s; no defaults are set", error)
        return {}
    try:
        if not files.keys() & {"generation_config.json", "config.json"}:
            _log.warning("--generation-config: %s has no generation_config.json; no defaults are set", given)
        config = read_object("config.json", files["config.json"]) if "config.json" in files else {}
        return read_generation_config(files, config)
    except CheckpointError as error:
        raise StartError(f"--generation-config {given}: {error}") from None
