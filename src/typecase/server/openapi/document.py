"""The OpenAPI 3.1 document of a server, made of its routes when it is first asked for."""

from __future__ import annotations

__all__ = ["Described", "make_document"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from typecase.server.auth import GUARDED_PREFIXES
from typecase.server.openapi.operations import OPERATIONS, Operation
from typecase.server.openapi.schemas import Components
from typecase.server.routes.route import Route, Work

Schema = dict[str, Any]

_JSON = "application/json"
_PLAIN = "text/plain"
_KEY = "ApiKey"


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What the document says of a server besides its routes."""

    version: str
    vllm_version: str
    prefix: str
    model: str
    has_keys: bool
    answers_with_ids: bool


def make_document(routes: Sequence[Route], server: Described) -> Schema:
    """The document, as JSON values."""
    paths: dict[str, dict[str, Any]] = {}
    groups: list[str] = []
    for route in routes:
        if not route.listed:
            continue
        for method in route.methods:
            operation = OPERATIONS.get((method, route.path)) or _unknown(method, route)
            if operation.group not in groups:
                groups.append(operation.group)
            paths.setdefault(route.path, {})[method.lower()] = _operation(route, operation, server)
    document: Schema = {
        "openapi": "3.1.0",
        "info": {
            "title": "typecase",
            "version": server.version,
            "description": f"Requests into token ids: the Renderer API of vLLM {server.vllm_version}.",
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
        },
    }
    if server.prefix:
        document["servers"] = [{"url": server.prefix}]
    document["tags"] = [{"name": group} for group in groups]
    document["paths"] = paths
    schemas = Components().schemas
    document["components"] = {"schemas": schemas}
    if not server.has_keys:
        del schemas["Unauthorized"]
    else:
        scheme = {"type": "http", "scheme": "bearer", "description": "A key of `--api-key`."}
        document["components"]["securitySchemes"] = {_KEY: scheme}
    return document


def _unknown(method: str, route: Route) -> Operation:
    name = f"{method.lower()}_{route.path.strip('/').replace('/', '_')}"
    takes_json = isinstance(route.handler, Work) or route.handler.json_body
    return Operation(id=name, group="Server", body={} if takes_json else None, answer={})


def _operation(route: Route, operation: Operation, server: Described) -> Schema:
    guarded = server.has_keys and route.path.startswith(GUARDED_PREFIXES)
    described: Schema = {
        "operationId": operation.id,
        "summary": route.summary,
        "tags": [operation.group],
    }
    if operation.names_requests:
        described["parameters"] = [
            {
                "name": "X-Request-Id",
                "in": "header",
                "required": False,
                "description": "An id for the request, which the rendered one is named after.",
                "schema": {"type": "string"},
            }
        ]
    if operation.body is not None:
        content: Schema = {"schema": operation.body}
        if operation.example is not None:
            content["example"] = _example(operation.example, server.model)
        described["requestBody"] = {"required": True, "content": {_JSON: content}}
    if guarded:
        described["security"] = [{_KEY: []}]
    described["responses"] = _responses(route, operation, server, guarded=guarded)
    return described


def _example(example: Mapping[str, Any], model: str) -> Schema:
    return {"model": model, **example} if example else {}


def _responses(route: Route, operation: Operation, server: Described, *, guarded: bool) -> Schema:
    error = _ref(operation.error)
    responses: Schema = {}
    if not operation.refused:
        responses["200"] = _answer("The answer", _content(operation))
    if operation.body is not None:
        unread = {_JSON: {"schema": {"anyOf": [error, _ref("Detail"), _ref("Error")]}}, _PLAIN: _text()}
        responses["400"] = _answer("The request can't be served as it is", unread)
    else:
        responses["400"] = _answer("This is no HTTP", {_PLAIN: _text()})
    if guarded:
        unauthorized = _answer("There is no API key, or a wrong one", {_JSON: {"schema": _ref("Unauthorized")}})
        responses["401"] = unauthorized
    if isinstance(route.handler, Work):
        responses["404"] = _refusal("No such model is served here", error)
    refused = _ref("Error")
    responses["405"] = _refusal("The path has other methods", _ref("Detail"))
    responses["408"] = _refusal("The request took too long to arrive", refused)
    if operation.body is not None:
        responses["413"] = _refusal("The body is larger than this server takes", error)
    if isinstance(route.handler, Work):
        responses["422"] = _refusal("Media in the request can't be used", error)
    responses["431"] = _refusal("The headers are larger, or more, than this server takes", refused)
    if isinstance(route.handler, Work):
        responses["501"] = _refusal("The request wants what this server doesn't do", error)
    if operation.body is not None:
        busy = _refusal("The server holds as much as it may; try again", error)
        busy["headers"] = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}}}
        responses["503"] = busy
    if server.answers_with_ids:
        header = {"X-Request-Id": {"description": "The request's id", "schema": {"type": "string"}}}
        for status in ("200", "400", "404"):
            if status in responses:
                responses[status]["headers"] = header
    return responses


def _content(operation: Operation) -> Schema | None:
    if operation.answer is not None:
        return {_JSON: {"schema": operation.answer}}
    return {_PLAIN: _text()} if operation.text else None


def _answer(description: str, content: Schema | None) -> Schema:
    return {"description": description} if content is None else {"description": description, "content": content}


def _refusal(description: str, schema: Schema) -> Schema:
    return _answer(description, {_JSON: {"schema": schema}})


def _text() -> Schema:
    return {"schema": {"type": "string"}}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}
