"""``tokenize`` among the template kwargs: DeepSeek's prompts as ids at once, cut off as the request says.

vLLM hands these kwargs to the tokenizer, ``truncation`` and ``max_length`` with them. What it gives is a prompt of ids:
no special tokens come around it, whatever the request says.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from typecase.api.errors import RequestError
from typecase.text.tokenizer import Tokenizer

__all__ = ["ids_on_request"]

_CUTTING = ("only_first", "longest_first")


def ids_on_request(text: str, kwargs: Mapping[str, Any], tokenizer: Tokenizer) -> str | array[int]:
    """The text, or if ``tokenize`` says so its ids: the last ``max_length`` of them.

    Raises:
        RequestError: a ``truncation`` or ``max_length`` that means nothing.
        UnicodeEncodeError: a lone surrogate in the text.
    """
    if not kwargs.get("tokenize"):
        return text
    longest = kwargs.get("max_length")
    strategy = kwargs.get("truncation", longest is not None)
    if strategy is True:
        strategy = "longest_first"
    if strategy is not False and strategy not in (*_CUTTING, "do_not_truncate"):
        raise RequestError(
            f"{strategy} is not a valid TruncationStrategy, please select one of "
            "['only_first', 'only_second', 'longest_first', 'do_not_truncate']"
        )
    ids = tokenizer.encode(text)
    if longest is None or strategy not in _CUTTING:
        return ids
    if not isinstance(longest, int) or longest < 0:
        raise RequestError(f"chat_template_kwargs.max_length must be a number of tokens, got {longest!r}")
    return ids[-longest:] if longest else ids[:0]
