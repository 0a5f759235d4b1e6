"""Prompts by mistral-common: the messages as the client wrote them become its request, and that becomes ids.

vLLM 0.33 hands the raw messages on, with two changes: arguments of tool calls are mappings, and parts without a type
are left out. What the library says against a conversation is the client's 400, word for word, as in vLLM. Pictures and
audio never reach it, since it would open files and addresses.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from typecase.api.errors import InvalidParameter, RequestError
from typecase.prompt.conversation import Message
from typecase.prompt.parts import ContentFormat
from typecase.prompt.writers.writer import Conversation
from typecase.text.mistral import MistralBackend

__all__ = ["MistralWriter"]

# The library takes a reasoning effort from this version of the format on.
_FIRST_WITH_EFFORT = 15
# Parts that the library reads itself; any other is refused, the media by us and the rest in its words.
_MEDIA_PARTS = frozenset({"image", "image_url", "audio", "audio_url", "input_audio"})
_NO_MEDIA = "images, audio and video are not supported by this version of typecase; send text parts only"
_LONGEST_MIXED_LIST = 1000


class MistralWriter:
    """Writes the prompts of one of Mistral's own tokenizers."""

    content_format: ContentFormat = "string"

    def __init__(self, backend: MistralBackend):
        self._backend = backend

    def write(self, conversation: Conversation) -> str | array[int]:
        """The ids of the conversation; text when the template kwargs say ``tokenize: false``.

        Raises:
            RequestError: mistral-common refuses it; the message is its own.
        """
        from mistral_common.protocol.instruct.request import ChatCompletionRequest

        kwargs = conversation.kwargs
        goes_on = bool(kwargs.get("continue_final_message", False))
        _check_last(conversation.raw, goes_on=goes_on, starts=bool(kwargs.get("add_generation_prompt", False)))
        _check_kwargs(kwargs)
        effort = kwargs.get("reasoning_effort") if self._backend.version >= _FIRST_WITH_EFFORT else None
        if isinstance(conversation.tools, list):  # a template kwarg of that name may be anything
            _check_lists(conversation.tools)
        try:
            request = ChatCompletionRequest.from_openai(
                messages=list(_messages(conversation)),
                tools=None if conversation.tools is None else [dict(tool) for tool in conversation.tools],
                continue_final_message=goes_on,
                reasoning_effort=effort,
            )
            ids: list[int] = self._backend.common.encode_chat_completion(request).tokens
        except RequestError:
            raise
        except MemoryError:
            raise
        except Exception as error:  # the library raises every kind, and vLLM takes all of them for the client's fault
            raise RequestError(str(error)) from error
        if not kwargs.get("tokenize", True):
            return self._backend.decode(ids, skip_special_tokens=False)
        longest = kwargs.get("max_length")
        if kwargs.get("truncation") is True and isinstance(longest, int) and 0 < longest < len(ids):
            ids = ids[-longest:]
        return array("I", ids)


def _check_last(messages: Sequence[Message], *, goes_on: bool, starts: bool) -> None:
    """The last message must be one that the prompt can end with. The words are vLLM's."""
    if starts and goes_on:
        raise RequestError("Cannot set both `add_generation_prompt` and `continue_final_message` to True.")
    if not messages:
        raise RequestError("list index out of range")
    is_answer = messages[-1]["role"] == "assistant"
    if starts and is_answer:
        raise RequestError(
            "Cannot set `add_generation_prompt` to True when the last message is from the assistant. "
            "Consider using `continue_final_message` instead."
        )
    if goes_on and not is_answer:
        raise RequestError(
            "Cannot set `continue_final_message` to True when the last message is not from the assistant."
        )


def _check_kwargs(kwargs: Mapping[str, Any]) -> None:
    """Template kwargs that the calls of vLLM and transformers for Mistral's tokenizers have arguments for."""
    for name in ("messages", "tokenizer"):
        if name in kwargs:
            raise InvalidParameter(f"chat_template_kwargs can't hold {name!r}", "chat_template_kwargs")
    if not isinstance(kwargs.get("truncation", False), bool):
        raise RequestError("`truncation` must be a boolean for `apply_chat_template` method.")
    if kwargs.get("padding"):
        raise RequestError("chat_template_kwargs.padding: prompts can't be padded", param="chat_template_kwargs")


def _messages(conversation: Conversation) -> Iterator[Message]:
    for raw, normalised in zip(conversation.raw, conversation.messages, strict=True):
        message = raw
        if normalised.get("tool_calls"):
            message = {**message, "tool_calls": normalised["tool_calls"]}
        content = message.get("content")
        if isinstance(content, list | dict):
            # vLLM's types take an empty object for an empty list of parts.
            message = {**message, "content": [part for part in content if _is_shown(part)]}
        yield message


def _is_shown(part: Any) -> bool:
    if not isinstance(part, dict):
        raise RequestError(f"'{type(part).__name__}' object has no attribute 'get'")
    kind = part.get("type")
    if isinstance(kind, str) and kind in _MEDIA_PARTS:
        raise RequestError(
            "images, audio and video are not supported by this version of typecase; send text parts only"
        )
    return bool(kind)


def _check_lists(tools: Sequence[Mapping[str, Any]]) -> None:
    """Bound what the library's check of a schema costs: it compares all pairs of a list of things that don't sort."""
    layer: list[tuple[Any, int]] = [(tool, i) for i, tool in enumerate(tools)]
    while layer:
        inner: list[tuple[Any, int]] = []
        for value, i in layer:
            if isinstance(value, Mapping):
                inner += [(v, i) for v in value.values()]
            elif isinstance(value, list):
                if len(value) > _LONGEST_MIXED_LIST and not all(isinstance(item, str) for item in value):
                    raise RequestError(
                        f"tools[{i}]: a list in its schema has {len(value)} items and isn't of strings alone; at most "
                        f"{_LONGEST_MIXED_LIST} are taken",
                        param="tools",
                    )
                inner += [(v, i) for v in value if isinstance(v, list | Mapping)]
        layer = inner
