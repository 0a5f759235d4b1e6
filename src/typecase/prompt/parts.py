"""Content parts: the text that each gives to the template's message.

Media parts don't give text: they are refused here, with the words of whoever knows what the model can take.
"""

from __future__ import annotations

from typing import Any, Literal

from typecase.api.errors import InvalidParameter, RequestError

__all__ = ["ContentFormat", "MediaRefusal", "checked_text", "parts_content"]

ContentFormat = Literal["string", "openai"]

MediaRefusal = str
"""What a request with media is told: the model is text-only, or the kind of media isn't built yet."""

_TEXT_KEYS = {
    "text": "text",
    "input_text": "text",
    "output_text": "text",
    "refusal": "refusal",
    "thinking": "thinking",
}
_MEDIA_TYPES = frozenset(
    {"image_url", "input_image", "image_pil", "image_embeds", "audio_url", "input_audio", "audio_embeds", "video_url",
    "video_embeds"}
)  # fmt: skip
_SUPPORTED = ", ".join(sorted([*_TEXT_KEYS, *_MEDIA_TYPES, "prompt_embeds", "tool_reference"]))
_MEDIA_KEYS = tuple(sorted(_MEDIA_TYPES - {"input_image"}))
# The fields of any part type of vLLM. What else a part carries is the client's own and is handed on to the template.
_KNOWN_FIELDS = frozenset(
    {"type", "text", "refusal", "thinking", "closed", "name", "file", "data", "uuid", "prompt_cache_breakpoint",
    *_MEDIA_KEYS}
)  # fmt: skip


def parts_content(
    parts: list[Any], where: str, content_format: ContentFormat, media_refusal: MediaRefusal
) -> str | list[dict[str, Any]]:
    """What a list of content parts becomes in the template's message.

    ``where`` is the list's path as the client wrote it (``messages[0].content``). In ``string`` format the texts are
    joined by newlines, in ``openai`` format each part stays a mapping. Raises ``RequestError`` for parts that can't be
    used.
    """
    if content_format == "openai":
        return [p for i, part in enumerate(parts) if (p := _mapping(part, f"{where}[{i}]", media_refusal)) is not None]
    texts = [(_text(part, f"{where}[{i}]", media_refusal), f"{where}[{i}]") for i, part in enumerate(parts)]
    return "\n".join(checked_text(text, path) for text, path in texts if text)


def checked_text(text: Any, where: str) -> str:
    """The text of the part at ``where``, if it is one. vLLM looks only when it joins the texts of a message."""
    if not isinstance(text, str):
        raise RequestError(f"{where}: the text of a part must be a string, got {type(text).__name__}")
    return text


def _mapping(part: Any, where: str, media_refusal: MediaRefusal) -> dict[str, Any] | None:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = _kind(part, where, media_refusal)
    if kind == "tool_reference":
        return {"type": "tool_reference", "name": part.get("name")}
    text = part.get(_TEXT_KEYS[kind])
    if text is None and kind in ("text", "refusal"):
        return None
    extra = {key: value for key, value in part.items() if key not in _KNOWN_FIELDS}
    return {"type": "text", "text": text, **extra}


def _text(part: Any, where: str, media_refusal: MediaRefusal) -> Any:
    if isinstance(part, str):
        return part
    kind = _kind(part, where, media_refusal)
    return part.get("name" if kind == "tool_reference" else _TEXT_KEYS[kind])


def _kind(part: Any, where: str, media_refusal: MediaRefusal) -> str:
    """The type of a part that gives text; media and everything else is refused."""
    if not isinstance(part, dict):
        raise RequestError(f"{where} is {str(part)[:200]!r}, not a content part")
    kind = part.get("type")
    if isinstance(kind, str) and part.get("uuid") is None:
        if kind in _TEXT_KEYS or kind == "tool_reference":
            return kind
        if kind in _MEDIA_TYPES:
            raise RequestError(media_refusal)
        if kind == "prompt_embeds":
            raise InvalidParameter("You must set `--enable-prompt-embeds` to input `prompt_embeds`", "prompt_embeds")
    if kind is None or part.get("uuid") is not None:
        if any(key in part for key in _MEDIA_KEYS):
            raise RequestError(media_refusal)
        if "prompt_embeds" in part:
            raise InvalidParameter("You must set `--enable-prompt-embeds` to input `prompt_embeds`", "prompt_embeds")
        if "tool_reference" in part:
            return "tool_reference"
        raise InvalidParameter("Missing 'type' field in multimodal part.", "type")
    if not isinstance(kind, str):
        raise InvalidParameter("Invalid 'type' field in multimodal part.", "type")
    raise InvalidParameter(
        f"Unsupported chat content part type: {kind!r}. Supported types: {_SUPPORTED}.", "type", value=kind
    )
