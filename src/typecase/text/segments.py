"""A cache of encoded text segments for the HF fallback (``fastokens`` has its own).

HF ``tokenizers`` cuts a text at the added tokens that aren't normalised and encodes what lies between them alone.
Cutting at those of them that take no neighbouring white space with them, encoding the pieces and joining the ids
therefore gives the ids of the whole, except where a rule looks at the position in the text; ``SegmentCache.is_exact``
tries that out on the probes, and a tokenizer that fails is not cached. Chat and agent traffic repeats whole segments,
so hits are common.
"""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import Lock

from typecase.text.pipeline import AddedToken

__all__ = ["SegmentCache"]

_ENTRY_OVERHEAD = 200  # bytes of dictionary, string and array headers, roughly


class SegmentCache:
    """Remembers ids by segment, at most ``max_bytes`` of text and ids; the least recently used go first.

    ``encode`` gives the ids of a text without special tokens added around it. Safe to use from several threads.
    """

    def __init__(self, encode: Callable[[str], array[int]], added_tokens: Sequence[AddedToken], *, max_bytes: int):
        self._encode = encode
        self._max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, array[int]] = OrderedDict()
        self._lock = Lock()
        raw = [t for t in added_tokens if not t.normalized and t.content]
        self._ids = {t.content: t.id for t in raw if not (t.lstrip or t.rstrip)}
        # The alternatives of a Python pattern are tried in order, so longest first makes it leftmost-longest, as HF's
        # is.
        longest_first = sorted({t.content for t in raw}, key=len, reverse=True)
        # A single_word match depends on its neighbours, which a piece no longer has.
        usable = bool(self._ids) and not any(t.single_word for t in added_tokens)
        self._marker = re.compile("|".join(map(re.escape, longest_first))) if usable else None

    def encode(self, text: str) -> array[int]:
        """The ids of ``text``: those of its segments, joined."""
        if self._marker is None:
            return self._encode(text)
        ids = array("I")
        start = 0
        for match in self._marker.finditer(text):
            marker_id = self._ids.get(match.group())
            if marker_id is None:
                continue
            if start < match.start():
                ids.extend(self._segment(text[start : match.start()]))
            ids.append(marker_id)
            start = match.end()
        if start < len(text):
            ids.extend(self._segment(text[start:]))
        return ids

    def is_exact(self, texts: Iterable[str]) -> bool:
        """Whether joined segments equal the whole for every one of ``texts``."""
        return self._marker is not None and all(self.encode(text) == self._encode(text) for text in texts)

    def _segment(self, text: str) -> array[int]:
        with self._lock:
            known = self._entries.get(text)
            if known is not None:
                self._entries.move_to_end(text)
                return known
        ids = self._encode(text)
        size = 4 * len(text) + 4 * len(ids) + _ENTRY_OVERHEAD
        if size > self._max_bytes // 4:
            return ids  # one huge text must not drive everything else out
        with self._lock:
            if text not in self._entries:
                self._entries[text] = ids
                self._bytes += size
            while self._bytes > self._max_bytes:
                old, old_ids = self._entries.popitem(last=False)
                self._bytes -= 4 * len(old) + 4 * len(old_ids) + _ENTRY_OVERHEAD
        return ids
