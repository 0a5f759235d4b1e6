"""Write ``src/typecase/api/openai_shapes.py``: what the installed ``openai`` package takes as items and tools.

    .venv/bin/python tools/openai_shapes.py > src/typecase/api/openai_shapes.py

vLLM validates a request's input, tools and tool choice against the SDK's types; which release it was built with is
what counts (0.33.0: openai 3.57.0). The notation is explained in the written file's head.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import textwrap
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

WIDTH = 118
HEAD = '''"""Shapes of Responses items, tools and tool choices, as the ``openai`` package {version} declares them.

Written by ``tools/openai_shapes.py``; not to be edited by hand. One shape after another: ``dict Name: field type; ...``
where ``field?`` may be left out. ``dict`` stays as the client wrote it, ``model`` is read into an object (see
``openai_types``). Types: ``str int float bool any null``, literal strings in quotes, ``[list]``, ``<list looked at when
used>``, ``{{values of a mapping}}``, names, and alternatives with ``|`` in the order in which they are tried.
"""

# ruff: noqa: E501

from __future__ import annotations

__all__ = ["ROOTS", "SDK_VERSION", "SHAPES"]

SDK_VERSION = "{version}"

ROOTS = """
{roots}
"""
"""The three fields of a request that are made of these shapes."""

SHAPES = """
{shapes}
"""
'''


class Writer:
    """Core schemas -> the notation. Equal shapes are written once."""

    def __init__(self, definitions: dict[str, Any]):
        self.definitions = definitions
        self.shapes: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def type(self, schema: dict[str, Any]) -> str:
        match schema["type"]:
            case "definition-ref":
                return self.type(self.definitions[schema["schema_ref"]])
            case "str" | "int" | "float" | "bool" | "any" as name:
                return str(name)
            case "literal":
                return "|".join(json.dumps(word) for word in schema["expected"])
            case "nullable":
                return self.type(schema["schema"]) + "|null"
            case "default":
                return self.type(schema["schema"])
            case "list":
                return f"[{self.type(schema['items_schema'])}]"
            case "json-or-python":  # a Sequence, which JSON can only write as a list
                return self.type(schema["json_schema"])
            case "generator":
                return f"<{self.type(schema['items_schema'])}>"
            case "dict":
                return f"{{{self.type(schema['values_schema'])}}}"
            case "union":
                branches = [self.type(branch) for branch in schema["choices"]]
                nested = (branch["type"] == "union" for branch in schema["choices"])
                return "|".join(f"({b})" if n else b for b, n in zip(branches, nested, strict=True))
            case "typed-dict":
                return self._shape("dict", schema["cls"], schema["fields"])
            case "model":
                return self._shape("model", schema["cls"], schema["schema"]["fields"])
            case other:
                raise TypeError(other)

    def _shape(self, kind: str, cls: type, fields: dict[str, Any]) -> str:
        written = []
        for name, field in fields.items():
            required = field["required"] if kind == "dict" else field["schema"]["type"] != "default"
            written.append(
                f"{field.get('validation_alias', name)}{'' if required else '?'} {self.type(field['schema'])}"
            )
        shape = f"{kind} {{}}: {'; '.join(written)}"
        if shape not in self._names:
            wanted = cls.__name__.removeprefix("Response").removesuffix("Param")
            name, i = wanted, 1
            while name in self.shapes:
                i += 1
                name = f"{wanted}{i}"
            self._names[shape] = name
            self.shapes[name] = shape.replace("{}", name, 1)
        return self._names[shape]


def written_module() -> str:
    """The module's text."""
    responses = importlib.import_module("openai.types.responses")
    tool = importlib.import_module("openai.types.responses.tool").Tool
    choice = importlib.import_module("openai.types.responses.response").ToolChoice
    request: type[BaseModel] = create_model(
        "Request",
        __config__=ConfigDict(extra="allow"),
        input=(list[responses.ResponseInputItemParam | responses.ResponseOutputItem], ...),
        tools=(list[tool], ...),
        tool_choice=(choice, ...),
    )
    schema: Any = request.__pydantic_core_schema__
    writer = Writer({definition["ref"]: definition for definition in schema["definitions"]})
    fields = schema["schema"]["schema"]["fields"]
    roots = [f"{name} {writer.type(field['schema'])}" for name, field in fields.items()]
    wrapped = (textwrap.fill(s, WIDTH, subsequent_indent="  ", break_long_words=False) for s in writer.shapes.values())
    return HEAD.format(
        version=importlib.metadata.version("openai"),
        roots="\n".join(roots),
        shapes="\n".join(wrapped),
    )


if __name__ == "__main__":
    print(written_module(), end="")
