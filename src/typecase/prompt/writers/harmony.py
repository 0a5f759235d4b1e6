"""gpt-oss prompts: a harmony conversation as token ids.

Headers are put together from special tokens; everything else, whoever wrote it, is encoded as text without any, so a
marker that a user types stays text. A tool call's header has the order that the models were trained on
(``assistant to=functions.NAME<|channel|>commentary json``), as vLLM 0.33 sees to.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from typecase.api.errors import RequestError
from typecase.prompt.writers.harmony_faults import check_writable, conversation_fault
from typecase.prompt.writers.harmony_messages import Developer, HarmonyMessage, NoText, System, without_old_analysis
from typecase.text.tokenizer import Tokenizer

__all__ = ["HarmonyWriter"]

_MARKERS = ("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>")
_CONSTRAIN = "<|constrain|>"
_EVERYONE = "all"
# The channel whose name stands before the recipient in a header; with any other it is the other way round.
_CALLS = "commentary"


class HarmonyWriter:
    """Writes harmony conversations with one checkpoint's tokenizer. Safe to use from several threads.

    Raises ``LookupError`` when it is made for a tokenizer without harmony's special tokens.
    """

    def __init__(self, tokenizer: Tokenizer):
        ids = {marker: tokenizer.token_id(marker) for marker in _MARKERS}
        lacking = [marker for marker, token_id in ids.items() if token_id is None]
        if lacking:
            raise LookupError(f"the tokenizer has no {', '.join(lacking)}")
        self._tokenizer = tokenizer
        self._ids = {marker: token_id for marker, token_id in ids.items() if token_id is not None}
        # Headers' words, of which there are few.
        self._words = {
            word: tokenizer.encode_ordinary(word)
            for word in ("user", "assistant", "system", "developer", "analysis", "commentary", "final", " to=assistant",
                         "commentary json", " ")
        }  # fmt: skip

    def write(self, messages: Sequence[HarmonyMessage]) -> array[int]:
        """The prompt for the assistant's next message. Thoughts behind answers already given are left out.

        Raises ``RequestError`` for what harmony's library can't take, with its words.
        """
        kept = without_old_analysis(messages)
        has_functions = any(isinstance(c, Developer) and c.tools for message in kept for c in message.contents)
        ids = array("I")
        try:
            for message in kept:
                check_writable(message)
                self._add_header(ids, message)
                for content in message.contents:
                    if isinstance(content, System):
                        content = content.text(has_functions=has_functions)
                    elif isinstance(content, Developer):
                        content = content.text()
                    elif isinstance(content, NoText):
                        raise RequestError(content.refusal)
                    if content:
                        ids.extend(self._tokenizer.encode_ordinary(content))
                is_call = message.role == "assistant" and message.recipient is not None
                ids.append(self._ids["<|call|>" if is_call else "<|end|>"])
        except (UnicodeEncodeError, OverflowError, RequestError) as error:
            # The library reads the whole conversation before it writes any of it.
            raise conversation_fault(kept, error) from error
        ids.append(self._ids["<|start|>"])
        ids.extend(self._words["assistant"])
        return ids

    def _add_header(self, ids: array[int], message: HarmonyMessage) -> None:
        """Everything up to and with ``<|message|>``."""
        ids.append(self._ids["<|start|>"])
        addressed = "" if message.recipient in (None, _EVERYONE) else f" to={message.recipient}"
        kind = message.content_type
        if kind is not None:
            kind = kind.removeprefix(_CONSTRAIN)
            if message.role == "assistant" and message.name is None and (message.channel == _CALLS or not addressed):
                # vLLM looks at the text, so a channel that only looks like one with a recipient counts as well.
                channel, _to, recipient = f"{message.channel or ''}{addressed}".partition(" to=")
                if channel and recipient and kind:
                    self._add_call(ids, channel, recipient, kind)
                    return
        self._add_author(ids, message)
        if addressed and message.channel != _CALLS:
            self._add(ids, addressed)
        if message.channel:
            ids.append(self._ids["<|channel|>"])
            self._add(ids, message.channel)
            if addressed and message.channel == _CALLS:
                self._add(ids, addressed)
        if kind is not None:
            self._add(ids, " ")
            ids.append(self._ids[_CONSTRAIN])
            self._add(ids, kind)
        ids.append(self._ids["<|message|>"])

    def _add_author(self, ids: array[int], message: HarmonyMessage) -> None:
        if message.role != "tool":
            self._add(ids, message.role)
            if message.name is not None:
                self._add(ids, f":{message.name}")
        elif message.name is None:
            raise RequestError("Tools should have a name!")
        else:
            self._add(ids, message.name)

    def _add_call(self, ids: array[int], channel: str, recipient: str, kind: str) -> None:
        """The header of a tool call, in the older order. vLLM crashes on names that hold special tokens."""
        parts = f"assistant to={recipient}", f"{channel} {kind}"
        for text in parts:
            if "<|" in text:
                for token in self._tokenizer.pipeline.added_tokens:
                    if token.content in text:
                        raise RequestError(f"the name or channel of a tool call can't hold {token.content}")
        self._add(ids, parts[0])
        ids.append(self._ids["<|channel|>"])
        self._add(ids, parts[1])
        ids.append(self._ids["<|message|>"])

    def _add(self, ids: array[int], text: str) -> None:
        known = self._words.get(text)
        ids.extend(self._tokenizer.encode_ordinary(text) if known is None else known)
