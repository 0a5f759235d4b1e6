"""The document as a page: routes, fields, examples. Plain HTML that loads nothing and runs nothing."""

from __future__ import annotations

__all__ = ["make_page"]

import json
from collections.abc import Iterator
from html import escape
from typing import Any

Schema = dict[str, Any]

_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>typecase</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em }
  h2 { margin-top: 2em }
  summary { cursor: pointer; padding: .3em 0 }
  code, pre { font: 14px/1.5 ui-monospace, monospace }
  pre { padding: .7em 1em; border: 1px solid #8885; border-radius: 4px; overflow-x: auto }
  .method { display: inline-block; min-width: 3.6em; font-weight: 600 }
  details > details, details > table, details > pre, details > p { margin-left: 1.2em }
  td { padding: .2em 1.2em .2em 0; vertical-align: top }
  .quiet { opacity: .65 }
</style>
"""
_DEEPEST = 3  # types within types that are spelled out
_LONGEST = 4  # alternatives that are spelled out


def make_page(document: Schema) -> bytes:
    """The page of an OpenAPI document of ours."""
    return "\n".join(_page(document)).encode()


def _page(document: Schema) -> Iterator[str]:
    info = document["info"]
    prefix = document["servers"][0]["url"] if "servers" in document else ""
    schemas: dict[str, Schema] = document["components"]["schemas"]
    yield _HEAD
    yield f"<h1>typecase {escape(info['version'])}</h1>"
    openapi = escape(f"{prefix}/openapi.json")
    yield f'<p>{escape(info["description"])} As an OpenAPI schema: <a href="{openapi}">{openapi}</a>.</p>'
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if tag["name"] in operation["tags"]:
                    yield from _route(f"{prefix}{path}", method.upper(), operation, schemas)
    yield "<h2>Types</h2>"
    for name in sorted(schemas):
        if "properties" in schemas[name]:
            yield f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
            yield from _fields(schemas[name])
            yield "</details>"
    yield "</html>"


def _route(path: str, method: str, operation: Schema, schemas: dict[str, Schema]) -> Iterator[str]:
    name = f'<span class="method">{method}</span> <code>{escape(path)}</code>'
    yield f"<details><summary>{name} <span class=quiet>{escape(operation['summary'])}</span></summary>"
    if "security" in operation:
        yield "<p>Needs an API key: <code>Authorization: Bearer KEY</code></p>"
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is not None:
        if "example" in body:
            yield f"<pre>{escape(_call(path, body['example'], secured='security' in operation))}</pre>"
        for schema in body["schema"].get("anyOf", [body["schema"]]):
            yield f"<details><summary>Body: {_type(schema)}</summary>"
            yield from _fields(_resolved(schema, schemas))
            yield "</details>"
    answer = operation["responses"].get("200", {}).get("content", {}).get("application/json")
    if answer is not None:
        yield f"<details><summary>Answer: {_type(answer['schema'])}</summary>"
        yield from _fields(_resolved(answer["schema"].get("items", answer["schema"]), schemas))
        yield "</details>"
    rows = "".join(
        f"<tr><td>{status}<td>{escape(response['description'])}</tr>"
        for status, response in operation["responses"].items()
    )
    yield f"<details><summary>Statuses</summary><table>{rows}</table></details>"
    yield "</details>"


def _call(path: str, example: Any, *, secured: bool) -> str:
    key = ' -H "Authorization: Bearer $KEY"' if secured else ""
    body = json.dumps(example, indent=2, ensure_ascii=False).replace("'", "'\\''")
    return f"curl localhost:8000{path}{key} \\\n  -H 'Content-Type: application/json' -d '{body}'"


def _fields(schema: Schema) -> Iterator[str]:
    if "description" in schema:
        yield f"<p>{_text(schema['description'])}</p>"
    properties = schema.get("properties", {})
    if not properties:
        return
    required = schema.get("required", ())
    yield "<table>"
    for name, field in properties.items():
        notes = ["required"] if name in required else []
        if field.get("default") not in (None, [], {}):
            notes.append(f"default {json.dumps(field['default'])}")
        note = f" <span class=quiet>{escape(', '.join(notes))}</span>" if notes else ""
        meaning = _text(field.get("description", ""))
        yield f"<tr><td><code>{escape(name)}</code><td>{_type(field)}{note}<td>{meaning}</tr>"
    yield "</table>"


def _resolved(schema: Schema, schemas: dict[str, Schema]) -> Schema:
    return schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _type(schema: Schema, depth: int = 0) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if depth >= _DEEPEST:
        return "…"
    if "anyOf" in schema:
        some = [_type(each, depth) for each in schema["anyOf"]]
        if len(some) > _LONGEST:
            some = [*some[:_LONGEST], f"{len(some) - _LONGEST} more"]
        return " | ".join(some)
    if "enum" in schema or "const" in schema:
        return " | ".join(escape(json.dumps(value)) for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any")
    if kind == "array" and schema.get("items"):
        return f"list of {_type(schema['items'], depth + 1)}"
    return escape(" | ".join(kind) if isinstance(kind, list) else kind)


def _text(text: str) -> str:
    """Markdown of which only code is known."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
