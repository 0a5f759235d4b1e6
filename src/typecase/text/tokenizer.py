"""The tokenizer of a checkpoint: which library encodes is decided once, at start.

``load_tokenizer`` takes ``fastokens`` where it reads the tokenizer.json and agrees with HF ``tokenizers``, and HF
otherwise. Agreement is proved ahead for the pipelines listed in ``proved.json`` (the tests hold it on thousands of
hard strings); any other is compared here on a few hundred, which costs a second load.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from importlib.resources import files
from threading import Lock
from typing import Literal

import msgspec

from typecase.checkpoint.mistral_files import MistralTokenizerFile
from typecase.text.backends import Backend, CannotEncode, FastokensBackend, TokenizersBackend, UnloadableTokenizer
from typecase.text.mistral import MistralBackend
from typecase.text.pipeline import BYTE_CHARACTERS, Pipeline, read_pipeline
from typecase.text.probes import probes
from typecase.text.segments import SegmentCache

__all__ = ["Choice", "Tokenizer", "load_mistral_tokenizer", "load_tokenizer"]

Choice = Literal["auto", "fastokens", "tokenizers"]


class Tokenizer:
    """Text to ids and back, for one checkpoint. Immutable as seen from outside; safe to use from several threads.

    ``why`` says in a few words how the library was chosen, for the log.
    """

    def __init__(self, tokenizer_json: bytes, pipeline: Pipeline, backend: Backend, *, why: str, cache_bytes: int = 0):
        self.pipeline = pipeline
        self.why = why
        self._json = tokenizer_json
        self._backend = backend
        self._reference: TokenizersBackend | None = backend if isinstance(backend, TokenizersBackend) else None
        self._lock = Lock()
        self._longest: int | None = None
        self._segments: SegmentCache | None = None
        if cache_bytes and isinstance(backend, TokenizersBackend):
            segments = SegmentCache(self._encode_whole, pipeline.added_tokens, max_bytes=cache_bytes)
            if segments.is_exact(probes([t.content for t in pipeline.added_tokens])):
                self._segments = segments
        self._before, self._after = self._added_around()

    @property
    def backend(self) -> str:
        """The library in use: ``fastokens``, ``tokenizers`` or ``mistral-common``."""
        return self._backend.name

    @property
    def mistral(self) -> MistralBackend | None:
        """The backend, if it is one of Mistral's own tokenizers. Its prompts have no offsets."""
        return self._backend if isinstance(self._backend, MistralBackend) else None

    def encode(self, text: str, *, add_special_tokens: bool = False) -> array[int]:
        """The ids of ``text``. Added tokens written out in it become their ids, as in the checkpoint's own tokenizer.

        With ``add_special_tokens`` the post-processor's tokens stand around it. Raises ``UnicodeEncodeError`` for a
        lone surrogate, which no UTF-8 and hence no tokenizer can represent.
        """
        if self._segments is not None and not add_special_tokens:
            return self._segments.encode(text)
        try:
            return self._backend.encode(text, add_special_tokens=add_special_tokens)
        except CannotEncode:
            return self._load_reference().encode(text, add_special_tokens=add_special_tokens)

    def encode_ordinary(self, text: str) -> array[int]:
        """The ids of ``text``, an added token written out in it being text like any other.

        Raises ``UnicodeEncodeError`` for a lone surrogate.
        """
        try:
            return self._backend.encode_ordinary(text)
        except CannotEncode:
            return self._load_reference().encode_ordinary(text)

    def encode_with_offsets(
        self, text: str, *, add_special_tokens: bool = False
    ) -> tuple[array[int], list[tuple[int, int]]]:
        """Ids and, for each, its start and end in code points of ``text`` ((0, 0) for tokens added around it).

        HF ``tokenizers`` alone knows offsets; it is loaded at the first call.
        """
        return self._load_reference().encode_with_offsets(text, add_special_tokens=add_special_tokens)

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """The text of ``ids``. Ids outside the vocabulary decode to nothing."""
        return self._backend.decode(ids, skip_special_tokens=skip_special_tokens)

    def token(self, token_id: int) -> str | None:
        """How the vocabulary spells an id (``Ġx`` for a byte-level " x"), or None."""
        return self._backend.token(token_id)

    def token_id(self, token: str) -> int | None:
        """The id of a token as the vocabulary spells it, or None."""
        return self._backend.token_id(token)

    @property
    def special_around(self) -> tuple[int, int]:
        """How many tokens the post-processor puts before and after a text."""
        return self._before, self._after

    @property
    def max_token_id(self) -> int:
        """The highest id that means something."""
        added = max((t.id for t in self.pipeline.added_tokens), default=0)
        return max(self._backend.vocabulary_size() - 1, added)

    @property
    def max_token_characters(self) -> int:
        """The length of the longest token as the vocabulary spells it. Read through once, at the first call."""
        if self._longest is None:
            # Ids of added tokens may lie far beyond the vocabulary: they are looked at one by one, not counted up to.
            spelled = (self._backend.token(i) for i in range(self._backend.vocabulary_size()))
            added = (token.content for token in self.pipeline.added_tokens)
            self._longest = max((len(token) for token in (*spelled, *added) if token), default=1)
        return self._longest

    def warm_up(self) -> None:
        """Encode and decode a little of everything, so that lazily built tables don't cost the first request."""
        text = " ".join(probes([t.content for t in self.pipeline.added_tokens]))
        self.decode(self.encode(text))

    def _load_reference(self) -> TokenizersBackend:
        with self._lock:
            if self._reference is None:
                self._reference = TokenizersBackend(self._json)
            return self._reference

    def _encode_whole(self, text: str) -> array[int]:
        return self._backend.encode(text, add_special_tokens=False)

    def _added_around(self) -> tuple[int, int]:
        plain = self._backend.encode("a", add_special_tokens=False).tolist()
        full = self._backend.encode("a", add_special_tokens=True).tolist()
        extra = len(full) - len(plain)
        for before in range(extra + 1):
            if full[before : before + len(plain)] == plain:
                return before, extra - before
        return 0, 0


def load_tokenizer(tokenizer_json: bytes, *, cache_bytes: int = 0, choice: Choice = "auto") -> Tokenizer:
    """Build the tokenizer of a checkpoint.

    Args:
        tokenizer_json: the file, as ``Checkpoint.tokenizer_json`` holds it.
        cache_bytes: how much text and ids of repeated segments may be remembered; 0 for none. Never changes an answer.
        choice: ``auto``, or one library by force (tests, comparisons).

    Raises:
        UnloadableTokenizer: HF ``tokenizers`` can't read it; the message is the library's.
    """
    try:
        pipeline = read_pipeline(tokenizer_json)
    except msgspec.MsgspecError as error:
        raise UnloadableTokenizer(str(error)) from error
    if choice != "tokenizers":
        try:
            backend = FastokensBackend(tokenizer_json, cache_bytes=cache_bytes)
        except UnloadableTokenizer as error:
            if choice == "fastokens":
                raise
            why = f"fastokens can't read this tokenizer: {_one_line(error)}"
        else:
            if choice == "fastokens" or _is_proved(pipeline, backend):
                return Tokenizer(
                    tokenizer_json, pipeline, backend, why="agreement with tokenizers is proved by the tests"
                )
            reference = TokenizersBackend(tokenizer_json)
            differing = _first_difference(backend, reference, pipeline)
            if differing is None:
                return Tokenizer(
                    tokenizer_json, pipeline, backend, why="it agrees with tokenizers on the start-up probes"
                )
            why = f"fastokens encodes {differing[:40]!r} differently"
    else:
        why = "asked for"
    reference = TokenizersBackend(tokenizer_json)
    return Tokenizer(tokenizer_json, pipeline, reference, why=why, cache_bytes=cache_bytes)


def load_mistral_tokenizer(file: MistralTokenizerFile) -> Tokenizer:
    """Build one of Mistral's own tokenizers.

    Raises:
        CheckpointError: the file can't be used, or mistral-common isn't installed.
    """
    backend = MistralBackend(file)
    return Tokenizer(b"", backend.pipeline, backend, why=f"the checkpoint has {file.name}")


def _first_difference(fast: Backend, reference: Backend, pipeline: Pipeline) -> str | None:
    for text in probes([t.content for t in pipeline.added_tokens]):
        for special in (False, True):
            ids = reference.encode(text, add_special_tokens=special)
            try:
                if fast.encode(text, add_special_tokens=special) != ids:
                    return text
            except CannotEncode:
                pass  # such a text goes to the reference at run time, too
            if fast.decode(ids, skip_special_tokens=special) != reference.decode(ids, skip_special_tokens=special):
                return text
    return None


def _is_proved(pipeline: Pipeline, backend: Backend) -> bool:
    """Whether the tests hold this pipeline equal in both libraries. They know byte-level vocabularies with all bytes
    only."""
    listed = json.loads(files("typecase.text").joinpath("proved.json").read_bytes())
    if pipeline.fingerprint not in listed["pipelines"]:
        return False
    return not pipeline.is_byte_level or all(backend.token_id(c) is not None for c in BYTE_CHARACTERS)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
