"""What the Messages API has to know of a model: found out at first use, once, by rendering probes.

*System messages among the turns.* Anthropic's API allows them, many templates take a system message only in front. vLLM
renders ``[system, user, system, user]`` in a plain Jinja environment: without the special tokens, ``raise_exception``
and ``strftime_now`` that chats get. A template that fails there gets them merged into the system prompt, also one that
only lacks those names.

*Thinking off.* Not every model can. vLLM says it with the reasoning effort ``none``, unless the prompt
is then that of another effort, or can't be made: then it asks for little thinking, with ``low``.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import get_args

from typecase.api.chat import ChatRequest, ReasoningEffort
from typecase.api.errors import RequestError
from typecase.api.messages import Effort
from typecase.front import Front
from typecase.prompt.budget import Budget
from typecase.render.chat import chat_prompt

__all__ = ["MessageRules"]

# A template is the operator's choice, but a runaway one shall not keep a server from its other requests.
_STEPS = 200_000
_CHARACTERS = 4_000_000

_TURNS = [{"role": role, "content": "t"} for role in ("system", "user", "system", "user")]


class MessageRules:
    """A model as the Messages API sees it. Its answers don't change; threads that ask at once find the same ones."""

    def __init__(self, front: Front):
        self.front = front
        configured = front.options.anthropic_disabled_thinking_effort
        self._disabled_effort: ReasoningEffort | None = None if configured == "auto" else configured

    def warm_up(self) -> None:
        """Find out now what would cost the first request time."""
        _ = self.merges_system

    @cached_property
    def merges_system(self) -> bool:
        """Whether system messages from among the turns belong to the system prompt."""
        front = self.front
        if front.writer is not None and not front.is_harmony:
            # Here vLLM looks at --chat-template, which such a model makes no other use of.
            template = front.template(None, has_tools=False) if front.options.chat_template else None
            return template is None or not template.chat.renders_plainly(_TURNS, _budget())
        for has_tools in (False, True):
            template = front.template(None, has_tools=has_tools)
            if template is None or not template.chat.renders_plainly(_TURNS, _budget()):
                return True
        return False

    def disabled_effort(self, now: Callable[[], datetime]) -> ReasoningEffort:
        """The reasoning effort that ``thinking: disabled`` stands for: ``--anthropic-disabled-thinking-effort``."""
        if self._disabled_effort is None:
            silent = self._probe("none", now)
            ignored = silent is None or any(self._probe(effort, now) == silent for effort in get_args(Effort))
            self._disabled_effort = "low" if ignored else "none"
        return self._disabled_effort

    def _probe(self, effort: ReasoningEffort, now: Callable[[], datetime]) -> array[int] | None:
        """The prompt of a short chat at an effort; None if there is none."""
        chat = ChatRequest(messages=[{"role": "user", "content": "Hi"}], reasoning_effort=effort)
        try:
            return chat_prompt(self.front, chat, now=now, budget=_budget()).ids
        except RequestError:
            return None


def _budget() -> Budget:
    return Budget(_STEPS, _CHARACTERS)
