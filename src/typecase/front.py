"""``Front``: a checkpoint resolved for use. Everything that can be decided at start is decided here, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from typecase.api.limits import DEFAULT_LIMITS, Limits
from typecase.checkpoint.checkpoint import Checkpoint, CheckpointError
from typecase.checkpoint.sampling_defaults import SamplingDefaults, sampling_defaults
from typecase.formats.choice import Formats, choose_formats
from typecase.parsing.prompt_state import PromptState
from typecase.prompt.conversation import knows_developer_role
from typecase.prompt.parts import ContentFormat
from typecase.prompt.template import ChatTemplate
from typecase.prompt.writers.choice import choose_writer
from typecase.prompt.writers.harmony import HarmonyWriter
from typecase.text.tokenizer import Tokenizer

__all__ = ["Front", "FrontOptions", "FrontTemplate"]

_REQUEST_TEMPLATES_KEPT = 32
_LONGEST_REQUEST_TEMPLATE = 100_000  # characters; the longest published template has 19,000
# Architectures whose chat prompts vLLM 0.33 has code for that typecase lacks: Kimi K3's comes with the checkpoint.
_WRITTEN_IN_CODE = frozenset({"KimiK3ForConditionalGeneration"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontOptions:
    """What the operator chose about the model. The names are vLLM's flags; the defaults are vLLM's too.

    ``chat_template`` is template text. ``generation_config`` is ``auto`` (the checkpoint's), ``vllm`` (none) or the
    contents of another generation_config.json. ``system_start_date`` is the day that gpt-oss prompts name (None:
    today), ``harmony_system_instructions`` puts their instructions into the system message.
    """

    served_model_names: tuple[str, ...] = ()
    max_model_len: int | None = None
    chat_template: str | None = None
    chat_template_content_format: Literal["auto", "string", "openai"] = "auto"
    trust_request_chat_template: bool = False
    trust_request_mm_kwargs: bool = False
    default_chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    cohere_format: str = "cmd4"
    reasoning_effort_map: Mapping[str, str] = field(default_factory=dict)
    generation_config: Literal["auto", "vllm"] | Mapping[str, Any] = "auto"
    override_generation_config: Mapping[str, Any] = field(default_factory=dict)
    enable_auto_tool_choice: bool = False
    tool_call_parser: str | None = None
    reasoning_parser: str | None = None
    tool_strict_level: Literal["auto", "function", "parameter"] | None = None
    anthropic_disabled_thinking_effort: Literal["auto", "none", "low", "medium", "high", "xhigh", "max"] = "auto"
    enforce_strict_tool_calling: bool = True
    system_start_date: str | None = None
    harmony_system_instructions: bool = False
    tokenizer_mode: str = "auto"
    exclude_tools_when_tool_choice_none: bool = False
    skip_model_name_validation: bool = False
    tokenizer_cache_mb: float = 32
    limits: Limits = DEFAULT_LIMITS

    @property
    def has_tool_parser(self) -> bool:
        """vLLM counts a tool parser only when both flags are given."""
        return self.enable_auto_tool_choice and bool(self.tool_call_parser)


@dataclass(frozen=True, slots=True)
class FrontTemplate:
    """A chat template with what a request needs to know of it."""

    chat: ChatTemplate
    content_format: ContentFormat
    knows_developer: bool


class Front:
    """Checkpoint, tokenizer and options, resolved. Immutable; shared by all threads."""

    def __init__(self, checkpoint: Checkpoint, tokenizer: Tokenizer, options: FrontOptions):
        self.checkpoint = checkpoint
        self.tokenizer = tokenizer
        self.options = options
        self.max_model_len = _context_length(checkpoint, options)
        self.sampling_defaults = _sampling_defaults(checkpoint, options)
        self.template_kwargs: dict[str, Any] = dict(options.default_chat_template_kwargs)
        self.template_kwargs.setdefault("cohere_format", options.cohere_format)
        self.vocabulary_size = max(tokenizer.max_token_id + 1, _rows(checkpoint))
        self.writer = choose_writer(checkpoint, tokenizer, mode=options.tokenizer_mode)
        self.is_harmony = checkpoint.model_type == "gpt_oss"
        self.harmony = _harmony_writer(tokenizer) if self.is_harmony else None
        self.formats = self._choose_formats()
        self.prompt_state = self._prompt_state()
        # Compiled once per text; a request's own template shares the cache, which is bounded.
        self._compiled = lru_cache(maxsize=_REQUEST_TEMPLATES_KEPT)(self._compile)

    @property
    def warning(self) -> str | None:
        """What the operator must know about this model's prompts, if they can't be vLLM's yet."""
        written = _WRITTEN_IN_CODE.intersection(self.checkpoint.architectures)
        if not written:
            return None
        return (
            f"vLLM writes the chat prompts of {min(written)} in code, which typecase doesn't do yet: "
            "chats are rendered with the chat template instead, and their token ids differ from vLLM's"
        )

    @property
    def has_offsets(self) -> bool:
        """Whether prompts can come with offsets. vLLM has them from the tokenizers of HF's classes only, which it
        doesn't use where it writes prompts in code (but for gpt-oss, whose other prompts they encode)."""
        return self.writer is None or self.is_harmony

    def template(self, asked: str | None, *, has_tools: bool) -> FrontTemplate | None:
        """The template of a request, by vLLM's order of choice; None when the checkpoint has none.

        ``asked`` is a trusted request's template or the name of one of the checkpoint's; the server's
        ``--chat-template`` comes next, then the checkpoint's own: of several, ``tool_use`` when there are tools, else
        ``default``.
        """
        asked = asked or self.options.chat_template
        named = self.checkpoint.templates
        if asked:
            # A checkpoint with a single template has no names: there "default" is template text.
            return self._compiled(named.get(asked, asked) if len(named) > 1 else asked)
        source = named.get("tool_use") if has_tools else self.checkpoint.processor_template
        source = source if source is not None else named.get("default")
        return None if source is None else self._compiled(source)

    def _choose_formats(self) -> Formats:
        options = self.options
        return choose_formats(
            call=options.tool_call_parser if options.has_tool_parser else None,
            reasoning=options.reasoning_parser,
            level=options.tool_strict_level,
            enforced=options.enforce_strict_tool_calling,
            token_id=self.tokenizer.token_id,
            is_harmony=self.is_harmony,
        )

    def _prompt_state(self) -> PromptState | None:
        """Tells of prompts whether they leave reasoning open; None without a reasoning format."""
        reasoning = self.formats.reasoning
        if reasoning is None:
            return None
        mistral = self.tokenizer.mistral
        if mistral is not None and mistral.has_grammars and "mistral" in reasoning.names:
            # Without [THINK] such a model marks its reasoning by text, which no prompt shows.
            reasoning = replace(reasoning, without_markers=None)
        named = self.checkpoint.templates
        return PromptState(
            reasoning, self.tokenizer.token_id, template=named.get("default") if len(named) == 1 else None
        )

    def _compile(self, source: str) -> FrontTemplate:
        ours = source == self.options.chat_template or source in self.checkpoint.templates.values()
        trusted = ours or source == self.checkpoint.processor_template
        # Compiling can't be interrupted, so the length of what a request brings is bounded.
        chat = ChatTemplate(source, limit=None if trusted else _LONGEST_REQUEST_TEMPLATE)
        wanted = self.options.chat_template_content_format
        return FrontTemplate(
            chat=chat,
            content_format=chat.content_format if wanted == "auto" else wanted,
            knows_developer=knows_developer_role(source),
        )


def _context_length(checkpoint: Checkpoint, options: FrontOptions) -> int:
    length = options.max_model_len or checkpoint.max_model_len
    if length is None:
        raise CheckpointError("config.json doesn't say how long the context is; give --max-model-len")
    return length


def _harmony_writer(tokenizer: Tokenizer) -> HarmonyWriter:
    try:
        return HarmonyWriter(tokenizer)
    except LookupError as error:
        raise CheckpointError(f"config.json says gpt_oss, whose prompts can't be written: {error.args[0]}") from None


def _sampling_defaults(checkpoint: Checkpoint, options: FrontOptions) -> SamplingDefaults:
    try:
        return sampling_defaults(
            checkpoint.generation_config,
            choice=options.generation_config,
            overrides=options.override_generation_config,
        )
    except ValueError as error:
        raise CheckpointError(f"generation config: {error}") from error


def _rows(checkpoint: Checkpoint) -> int:
    """How many tokens the model's embedding has, by its config; 0 if that doesn't say."""
    text_config = checkpoint.config.get("text_config")
    for config in (text_config if isinstance(text_config, Mapping) else {}, checkpoint.config):
        size = config.get("vocab_size")
        if isinstance(size, int):
            return size
    return 0
