"""A chat template, ready to render.

Contract: ``ChatTemplate(source)`` never raises. ``render`` gives what transformers 5.20's
``apply_chat_template(tokenize=False)`` gives for one conversation, or raises ``TemplateError`` with the text that vLLM
answers: that of the template's own ``raise_exception``, of Jinja, or of the Python error behind it. A template that
doesn't compile is an error of every rendering, so that a server starts with it as vLLM does (``error`` tells).

Messages go to the template as they are, also keys whose value is None (transformers drops these since 5.24).

A ``ChatTemplate`` doesn't change after it is made, and threads may render it at the same time. Everything that belongs
to one rendering, its ``Budget`` too, is in the context handed to the compiled function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import jinja2
from jinja2.ext import LoopControlExtension

from typecase.api.errors import TemplateError, TemplateLimit
from typecase.prompt.budget import Budget
from typecase.prompt.compiler import Program, compile_template
from typecase.prompt.content_format import ContentFormat, detect_content_format
from typecase.prompt.environment import ENVIRONMENT, rendering_globals
from typecase.prompt.operators import Operators, RenderContext

__all__ = ["ChatTemplate"]

# Parameters of transformers' apply_chat_template. vLLM hands on a template kwarg of such a name whether or not the
# template mentions it, and the template then doesn't see it.
_PARAMETERS = frozenset(
    {"add_generation_prompt", "continue_final_message", "conversation", "documents", "max_length", "padding"}
    | {"return_assistant_tokens_mask", "return_dict", "return_tensors", "sanitize_control_tokens", "self"}
    | {"tokenizer_kwargs", "tools", "truncation"}
)
_NEVER = frozenset({"chat_template", "tokenize"})

_TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_GENERATION_TAG = re.compile(r"\{%[-+]?\s*generation\b")


class ChatTemplate:
    """``source`` compiled. ``variables``: the names it looks up and neither sets nor gets from Jinja.
    ``accepted``: template kwargs that vLLM passes on; it drops all others.

    ``limit`` is for sources from requests: compiling takes about 5 microseconds and 4 kB a character, at worst 20.
    """

    __slots__ = ("_program", "accepted", "content_format", "error", "source", "variables")

    source: str
    variables: frozenset[str]
    accepted: frozenset[str]
    content_format: ContentFormat
    error: str | None

    def __init__(self, source: str, *, limit: int | None = None):
        self.source = source
        self.error = None
        self._program: Program | None = None
        self.variables = frozenset()
        self.content_format = "string"
        try:
            if limit is not None and len(source) > limit:
                raise TemplateLimit(f"The chat template is longer than its limit of {limit} characters.")
            tree = ENVIRONMENT.parse(source)
            program = compile_template(ENVIRONMENT, tree)
            self.content_format = detect_content_format(tree)
        except (RecursionError, MemoryError):  # the latter is what Python's parser says of too many levels
            self.error = "The chat template nests too deeply."
        # Jinja's and Python's compiler refuse sources with errors of many kinds.
        except Exception as error:
            self.error = _reason(error)
        else:
            self._program = program
            self.variables = program.undeclared
        self.accepted = (self.variables | _PARAMETERS) - _NEVER

    def __repr__(self) -> str:
        return f"<ChatTemplate of {len(self.source)} characters>"

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any],
        now: Callable[[], datetime],
        budget: Budget | None = None,
    ) -> str:
        """The prompt's text. ``variables`` holds special tokens and template kwargs; ``continue_final_message`` may
        name the field to continue (``content`` when it is True)."""
        self._require_program()
        self._check_parameters(messages, variables, add_generation_prompt, continue_final_message)
        if not all(isinstance(document, dict) for document in documents or ()):
            raise TemplateError("Documents should be a list of dicts with 'title' and 'text' keys!")
        if not all(isinstance(tool, dict) for tool in tools or ()):
            raise TemplateError(
                "Tools should either be a JSON schema, or a callable function with type hints "
                "and a docstring suitable for auto-conversion to a schema."
            )
        final = None
        if continue_final_message:
            field = continue_final_message if isinstance(continue_final_message, str) else "content"
            messages, final = self._tag_final_message(messages, field)
        text = self.fill(
            {
                **{name: value for name, value in variables.items() if name not in _PARAMETERS},
                "messages": messages,
                "tools": tools,
                "documents": documents,
                "add_generation_prompt": add_generation_prompt,
            },
            now=now,
            budget=budget,
        )
        return text if final is None else _cut_at_tag(text, final)

    def fill(self, variables: Mapping[str, Any], *, now: Callable[[], datetime], budget: Budget | None = None) -> str:
        """The template with these variables and nothing else."""
        return self._fill({**rendering_globals(now), **variables}, Budget.unlimited() if budget is None else budget)

    def renders_plainly(self, messages: Sequence[Mapping[str, Any]], budget: Budget) -> bool:
        """Whether the messages alone can be rendered in a Jinja environment without what transformers adds to it: the
        tag ``generation``, the functions ``raise_exception`` and ``strftime_now``, variables for special tokens."""
        if _GENERATION_TAG.search(self.source) and not _is_plain(self.source):
            return False
        try:
            self._fill({"messages": messages, "add_generation_prompt": False}, budget)
        except TemplateError:
            return False
        return True

    def _fill(self, variables: Mapping[str, Any], budget: Budget) -> str:
        program = self._require_program()
        context = RenderContext(ENVIRONMENT, {**ENVIRONMENT.globals, **variables}, None, program.blocks)
        context.ops = Operators(budget)
        try:
            text = context.ops.collect(program.root(context))
            context.ops.budget.check()
            return text
        except Exception as error:  # a template can raise anything that Python expressions can
            raise _refusal(error) from error

    def _require_program(self) -> Program:
        if self._program is None:
            raise TemplateError(self.error or "")
        return self._program

    @staticmethod
    def _check_parameters(
        messages: Sequence[Mapping[str, Any]],
        variables: Mapping[str, Any],
        add_generation_prompt: bool,
        continue_final_message: bool | str,
    ) -> None:
        """What transformers refuses before it looks at the template, in its order and words."""
        for name in ("conversation", "messages", "self"):
            if name in variables:
                raise TemplateError(f"apply_chat_template() got multiple values for argument {name!r}")
        if variables.get("return_assistant_tokens_mask"):
            raise TemplateError("`return_assistant_tokens_mask=True` requires `return_dict=True` and `tokenize=True`")
        if not messages:
            raise TemplateError("Cannot apply chat template to an empty conversation. Provide at least one message.")
        if continue_final_message and add_generation_prompt:
            raise TemplateError(
                "continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when "
                "you want the model to continue the final message, and add_generation_prompt when you want to add a "
                "header that will prompt it to start a new assistant message instead."
            )
        if variables.get("sanitize_control_tokens"):
            raise TemplateError(
                "`sanitize_control_tokens=True` requires `tokenize=True` and is not compatible with "
                "`return_assistant_tokens_mask=True`."
            )

    def _tag_final_message(
        self, messages: Sequence[Mapping[str, Any]], field: str
    ) -> tuple[list[Mapping[str, Any]], str]:
        """The messages with a tag behind the text to continue, and that text. The caller's messages stay the same."""
        value = messages[-1].get(field)
        if value is None:
            raise TemplateError(f'continue_final_message is set but the final message has no "{field}" to continue!')
        if field not in self.source:
            raise TemplateError(
                f'continue_final_message is set to "{field}" but this is not an accepted field in the chat_template'
            )
        try:
            if isinstance(value, list | tuple):
                value, text = _tag_last_text(value)
            else:
                value, text = value + _TAG, value
        except TypeError as error:
            raise TemplateError(str(error)) from error
        return [*messages[:-1], {**messages[-1], field: value}], text


def _tag_last_text(parts: Sequence[Any]) -> tuple[list[Any], str]:
    for index in reversed(range(len(parts))):
        part = parts[index]
        if "text" in part:
            tagged = {**part, "text": part["text"] + _TAG}
            return [*parts[:index], tagged, *parts[index + 1 :]], part["text"]
    raise TemplateError(
        "continue_final_message is set but we could not find any text to continue in the final message!"
    )


def _cut_at_tag(text: str, final: str) -> str:
    """The prompt up to the tag. A template that trims contents has eaten the tag's last space, and with it, as far as
    anyone can tell, the white space at the end of the message."""
    tag = _TAG.strip()
    if final.strip() not in text or tag not in text:
        raise TemplateError(
            "continue_final_message is set but the final message does not appear in the chat after applying the chat "
            "template! This can happen if the chat template deletes portions of the final message. Please verify the "
            "chat template and final message in your chat to ensure they are compatible."
            f"Final message to continue: {final.strip()}\nRendered chat:\n{text}"
        )
    at = text.rindex(tag)
    return text[:at] if text.startswith(_TAG, at) else text[:at].rstrip()


def _is_plain(source: str) -> bool:
    """Whether a Jinja without the tag ``generation`` can read the template."""
    try:
        jinja2.Environment(extensions=[LoopControlExtension]).parse(source)
    except jinja2.TemplateSyntaxError:
        return False
    return True


def _refusal(error: Exception) -> TemplateError:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, TemplateLimit):
            return TemplateLimit(cause.message)
        cause = cause.__cause__ or cause.__context__
    return (
        TemplateLimit(_reason(error))
        if isinstance(error, RecursionError | MemoryError)
        else TemplateError(_reason(error))
    )


def _reason(error: Exception) -> str:
    """vLLM's choice: the first Jinja error among the error and its causes, else the error itself."""
    if isinstance(error, RecursionError):
        return "The chat template nests or calls itself too deeply."
    if isinstance(error, MemoryError):
        return "The chat template needs more memory than there is."
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, jinja2.TemplateSyntaxError):
            return cause.message or ""
        if isinstance(cause, jinja2.TemplateError):
            return str(cause)
        cause = cause.__cause__ or cause.__context__
    return str(error)
