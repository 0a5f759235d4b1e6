"""The chat templates of a checkpoint, by name, with the precedence of transformers 5.

Files beat the configuration: when ``chat_template.jinja`` or any ``additional_chat_templates/NAME.jinja`` is there,
``chat_template`` of tokenizer_config.json is not looked at, not even for the names that the files leave open.
``chat_template.json`` is read by processors, i.e. for multimodal models: vLLM asks the processor first when a request
has no tools and the tokenizer otherwise, hence the second result.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import CheckpointError
from .json_files import read_object, read_text

__all__ = ["ADDITIONAL", "DEFAULT", "read_templates"]

DEFAULT = "default"
ADDITIONAL = "additional_chat_templates/"
_SUFFIX = ".jinja"


def read_templates(
    files: Mapping[str, bytes], tokenizer_config: Mapping[str, Any]
) -> tuple[dict[str, str], str | None]:
    """(templates by name, the processor's template or None)."""
    templates: dict[str, str] = {}
    if "chat_template.jinja" in files:
        templates[DEFAULT] = read_text("chat_template.jinja", files["chat_template.jinja"])
    for name in sorted(files):
        if name.startswith(ADDITIONAL) and name.endswith(_SUFFIX):
            templates[name.removeprefix(ADDITIONAL).removesuffix(_SUFFIX)] = read_text(name, files[name])
    file_default = templates.get(DEFAULT)
    if not templates:
        templates = _from_config("tokenizer_config.json", tokenizer_config.get("chat_template"))

    processor = file_default
    if "chat_template.json" in files:
        legacy = read_object("chat_template.json", files["chat_template.json"])
        processor = _from_config("chat_template.json", legacy.get("chat_template")).get(DEFAULT, file_default)
        if processor is not None and not templates:
            templates = {DEFAULT: processor}
    return templates, processor


def _from_config(name: str, value: Any) -> dict[str, str]:
    """``chat_template`` as configurations hold it: a string, a list of {name, template}, or an object of strings."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {DEFAULT: value}
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(item.get("name"), item.get("template")) if isinstance(item, dict) else (None, None) for item in value]
    else:
        pairs = [(None, None)]
    for key, template in pairs:
        if not isinstance(key, str) or not isinstance(template, str):
            raise CheckpointError(
                f'{name}: "chat_template" must be a string or a list of objects with the strings "name" and "template"'
            )
    return dict(pairs)
