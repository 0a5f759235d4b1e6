"""Environment variables."""

from __future__ import annotations

import pytest

from typecase.cli.environment import Environment, read_environment, variable_warnings
from typecase.cli.failure import StartError


def test_defaults() -> None:
    assert read_environment({}) == Environment()


def test_everything_set() -> None:
    environment = read_environment(
        {
            "VLLM_API_KEY": "k",
            "VLLM_SKIP_MODEL_NAME_VALIDATION": " True ",
            "VLLM_ALLOW_LONG_MAX_MODEL_LEN": "1",
            "VLLM_ENFORCE_STRICT_TOOL_CALLING": "0",
            "VLLM_SYSTEM_START_DATE": "2026-01-15",
            "VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS": "1",
            "VLLM_MAX_N_SEQUENCES": "5",
            "VLLM_MAX_STOP_STRINGS": "6",
            "VLLM_MAX_COMPLETION_PROMPTS": "7",
            "VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT": "0.5",
            "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "8",
            "VLLM_LOGGING_LEVEL": "debug",
            "VLLM_CONFIGURE_LOGGING": "0",
        }
    )
    assert environment == Environment(
        api_key="k",
        skip_model_name_validation=True,
        allow_long_max_model_len=True,
        enforce_strict_tool_calling=False,
        system_start_date="2026-01-15",
        harmony_system_instructions=True,
        max_n=5,
        max_stop_strings=6,
        max_completion_prompts=7,
        template_timeout=0.5,
        keep_alive=8,
        log_level="DEBUG",
        configure_logging=False,
    )


@pytest.mark.parametrize("text", ["0", "-1", "nan"])
def test_no_template_timeout(text: str) -> None:
    assert read_environment({"VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT": text}).template_timeout is None


def test_bad_number_names_the_variable() -> None:
    with pytest.raises(StartError, match="VLLM_MAX_STOP_STRINGS: 'four' is no number"):
        read_environment({"VLLM_MAX_STOP_STRINGS": "four"})


def test_variables_without_effect() -> None:
    notes = list(
        variable_warnings({"VLLM_PLUGINS": "a,b", "VLLM_API_KEY": "k", "VLLM_SERVER_DEV_MODE": "0", "PATH": "x"})
    )
    assert notes == ["VLLM_PLUGINS has no effect: no code is imported into the server"]
