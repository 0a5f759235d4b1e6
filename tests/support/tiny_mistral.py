"""Small files in Mistral's own format, made where tests need them: tekken.json of any version, SentencePiece models."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PATTERN = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
# The order of the published files; later versions have more.
SPECIAL = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]",
    "[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]", "[ARGS]", "[CALL_ID]", "[MODEL_SETTINGS]",
    "[/MODEL_SETTINGS]",
)  # fmt: skip
THINK = ("[THINK]", "[/THINK]")
WORDS = (b" a", b"He", b"ll", b"llo", b"Hello", b" w", b"or", b" wor", b"ld", b" world", "ö".encode(), b'":', b' "')
SPECIAL_COUNT = 40
PARAMS = {"dim": 8, "n_layers": 1, "vocab_size": 400, "max_position_embeddings": 4096}


def tekken(version: str = "v3", *, think: bool = False, **changes: Any) -> dict[str, Any]:
    """A tekken.json of single bytes and a few words; ``changes`` replace keys of it."""
    special = SPECIAL + (THINK if think else ())
    tokens = [*(bytes([i]) for i in range(256)), *WORDS]
    file: dict[str, Any] = {
        "config": {
            "pattern": PATTERN,
            "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(tokens) + SPECIAL_COUNT,
            "default_num_special_tokens": SPECIAL_COUNT,
            "version": version,
        },
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for i, token in enumerate(tokens)
        ],
        "special_tokens": [{"rank": i, "token_str": t, "is_control": True} for i, t in enumerate(special)],
    }
    return file | changes


def sentencepiece() -> bytes:
    """A SentencePiece model with byte fallback and the control tokens of instruct version 3."""
    import sentencepiece as library

    model = io.BytesIO()
    library.SentencePieceTrainer.train(
        sentence_iterator=iter((HERE / "tiny_text.txt").read_text(encoding="utf-8").splitlines()),
        model_writer=model,
        model_type="bpe",
        vocab_size=600,
        byte_fallback=True,
        character_coverage=0.99,
        control_symbols=list(SPECIAL[3:10]),
        minloglevel=2,
    )
    return model.getvalue()


def checkpoint(folder: Path, name: str = "tekken.json", data: bytes | None = None, **options: Any) -> Path:
    """A checkpoint with this tokenizer file; by default ``tekken(**options)``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(json.dumps(tekken(**options)).encode() if data is None else data)
    (folder / "params.json").write_text(json.dumps(PARAMS))
    (folder / "consolidated.safetensors").touch()
    return folder
