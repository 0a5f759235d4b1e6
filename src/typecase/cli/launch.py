"""``typecase launch render``: from parsed flags to a running server.

Anything that keeps it from starting (a flag, a variable, a checkpoint, a socket) becomes a ``StartError``.
"""

from __future__ import annotations

__all__ = ["launch", "source"]

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from typecase.cli.command import check
from typecase.cli.environment import read_environment, variable_warnings
from typecase.cli.failure import StartError
from typecase.cli.logs import configure
from typecase.cli.parser import Arguments
from typecase.cli.settings import context_length, front_options, log_options, model_name, server_settings

if TYPE_CHECKING:
    from typecase.front import FrontOptions
    from typecase.loading.sources import Source
    from typecase.model import Model

_log = logging.getLogger(__name__)


def launch(arguments: Arguments, notes: Sequence[str]) -> int:
    """Load the checkpoint and serve it until told to stop. ``notes`` are warnings that the flags cost."""
    environment = read_environment(os.environ)
    configure(log_options(arguments, environment))
    for note in (*notes, *variable_warnings(os.environ)):
        _log.warning("%s", note)
    check(arguments)
    settings = server_settings(arguments, environment)
    options = front_options(arguments, environment)

    from typecase.api.errors import RequestError
    from typecase.checkpoint.errors import CheckpointError
    from typecase.server.run import bind, serve
    from typecase.server.settings import SettingsError

    try:
        settings.check()
        if settings.api_server_count > 1:
            from typecase.server.processes import prepare_to_fork

            prepare_to_fork()
        # Bound before anything slow is done: a port in use is told at once.
        with bind(settings) as sock:
            model = _load(arguments, options, allow_longer=environment.allow_long_max_model_len)
            serve([model], settings, sock=sock)
    except (CheckpointError, SettingsError, RequestError, OSError) as error:
        raise StartError(str(error)) from None
    return 0


def _load(arguments: Arguments, options: FrontOptions, *, allow_longer: bool) -> Model:
    """The model, with the context length that the flags and its config give together."""
    from typecase.front import Front
    from typecase.model import Model, load_model

    model = load_model(source(arguments), options)
    front = model.front
    for warning in front.checkpoint.warnings:
        _log.warning("%s", warning)
    if front.warning is not None:
        _log.warning("%s", front.warning)
    _log.info("Tokenizer library: %s (%s)", front.tokenizer.backend, front.tokenizer.why)
    template = front.template(None, has_tools=False)
    if front.writer is not None:
        pass  # its prompts need no template
    elif template is None:
        _log.warning("The checkpoint has no chat template: give one with --chat-template, or chats will be refused")
    elif template.chat.error is not None:
        _log.warning("The chat template can't be used, chats will be refused: %s", template.chat.error)
    length = context_length(
        options.max_model_len,
        front.checkpoint,
        allow_longer=allow_longer,
        disable_sliding_window=arguments.disable_sliding_window,
    )
    if length == front.max_model_len:
        return model
    return Model(Front(front.checkpoint, front.tokenizer, replace(options, max_model_len=length)), root=model.root)


def source(arguments: Arguments) -> Source:
    """Where the checkpoint's files are."""
    from typecase.loading.sources import Source

    overrides = arguments.hf_overrides or {}
    if not isinstance(overrides, dict):
        raise StartError(f"--hf-overrides must be a JSON object, got {overrides!r}")
    return Source(
        model=model_name(arguments),
        revision=arguments.revision,
        tokenizer=arguments.tokenizer,
        tokenizer_revision=arguments.tokenizer_revision,
        hf_config_path=arguments.hf_config_path,
        hf_overrides=overrides,
        hf_token=arguments.hf_token,
        download_dir=arguments.download_dir,
        config_format=arguments.config_format,
        tokenizer_mode=arguments.tokenizer_mode,
    )
