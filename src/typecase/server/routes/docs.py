"""``/openapi.json`` and pages to read it.

The pages are ours and load nothing from elsewhere, so that they work offline; the schema lists routes and methods.
"""

from __future__ import annotations

__all__ = ["docs_routes"]

import html
from collections.abc import Sequence
from functools import partial
from typing import Any

from typecase.server.answers import Answer, json_answer
from typecase.server.routes.route import Asked, Page, Route, Work

_HTML = (b"content-type", b"text/html; charset=utf-8")
_METHODS = ("GET", "HEAD")  # FastAPI adds these pages in a way that brings HEAD with it

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>typecase</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; margin: 3em auto; max-width: 56em; padding: 0 1em }}
  td {{ padding: .2em 1.2em .2em 0; vertical-align: top }}
  code {{ font: 14px/1.5 ui-monospace, monospace }}
</style>
<h1>typecase {version}</h1>
<p>Requests into token ids and back, with the API of vLLM {vllm_version}.
The schema: <a href="{openapi}">{openapi}</a>.</p>
<table>
{rows}
</table>
</html>
"""

_REDIRECT_PAGE = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>typecase</title>
<p>This server uses API keys, not OAuth2: there is nothing to redirect.</p>
</html>
"""


def docs_routes(
    routes: Sequence[Route], *, version: str, vllm_version: str, prefix: str, offline_only: bool
) -> list[Route]:
    """``offline_only`` (``--enable-offline-docs``) leaves out ``/redoc``, as vLLM does."""
    schema = json_answer(200, _openapi(routes, version=version, vllm_version=vllm_version, prefix=prefix))
    rows = "\n".join(
        f"<tr><td>{method}<td><code>{html.escape(route.path)}</code><td>{html.escape(route.summary)}</tr>"
        for route in routes
        if route.listed
        for method in route.methods
    )
    page = Answer(
        200,
        _PAGE.format(
            version=html.escape(version),
            vllm_version=vllm_version,
            openapi=html.escape(f"{prefix}/openapi.json"),
            rows=rows,
        ).encode(),
        _HTML,
    )
    pages = [
        ("/openapi.json", schema, "This API as an OpenAPI schema"),
        ("/docs", page, "This API as a page"),
        ("/docs/oauth2-redirect", Answer(200, _REDIRECT_PAGE, _HTML), "Nothing: for completeness"),
    ]
    if not offline_only:
        pages.append(("/redoc", page, "This API as a page"))
    return [
        Route(path, _METHODS, Page(partial(_fixed, answer)), summary, listed=False) for path, answer, summary in pages
    ]


def _fixed(answer: Answer, _: Asked) -> Answer:
    return answer


def _openapi(routes: Sequence[Route], *, version: str, vllm_version: str, prefix: str) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if not route.listed:
            continue
        for method in route.methods:
            operation: dict[str, Any] = {
                "summary": route.summary,
                "operationId": f"{method.lower()}_{route.path.strip('/').replace('/', '_')}",
                "responses": {"200": {"description": "Successful Response"}},
            }
            if isinstance(route.handler, Work) or route.handler.json_body:
                operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": {}}}}
            paths.setdefault(route.path, {})[method.lower()] = operation
    schema: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "typecase",
            "version": version,
            "description": f"The Renderer API of vLLM {vllm_version}.",
        },
    }
    if prefix:
        schema["servers"] = [{"url": prefix}]
    schema["paths"] = paths
    return schema
