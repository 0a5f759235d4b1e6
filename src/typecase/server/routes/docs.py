"""``/openapi.json`` and pages to read it.

The pages are ours and load nothing from elsewhere, so that they work offline. All are made when they are first asked
for: describing every type takes longer than the rest of the server's start.
"""

from __future__ import annotations

__all__ = ["docs_routes"]

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from typecase.server.answers import Answer, json_answer
from typecase.server.routes.route import Asked, Page, Route

if TYPE_CHECKING:
    from typecase.server.openapi.document import Described

_HTML = (b"content-type", b"text/html; charset=utf-8")
_METHODS = ("GET", "HEAD")  # FastAPI adds these pages in a way that brings HEAD with it

_REDIRECT_PAGE = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>typecase</title>
<p>This server uses API keys, not OAuth2: there is nothing to redirect.</p>
</html>
"""


def docs_routes(routes: Sequence[Route], describe: Callable[[], Described], *, offline_only: bool) -> list[Route]:
    """``offline_only`` (``--enable-offline-docs``) leaves out ``/redoc``, as vLLM does."""

    @cache
    def document() -> dict[str, Any]:
        from typecase.server.openapi.document import make_document

        return make_document(routes, describe())

    @cache
    def schema() -> Answer:
        return json_answer(200, document())

    @cache
    def page() -> Answer:
        from typecase.server.openapi.page import make_page

        return Answer(200, make_page(document()), _HTML)

    redirect = Answer(200, _REDIRECT_PAGE, _HTML)
    pages: list[tuple[str, Callable[[], Answer], str]] = [
        ("/openapi.json", schema, "This API as an OpenAPI schema"),
        ("/docs", page, "This API as a page"),
        ("/docs/oauth2-redirect", lambda: redirect, "Nothing: for completeness"),
    ]
    if not offline_only:
        pages.append(("/redoc", page, "This API as a page"))
    return [Route(path, _METHODS, Page(partial(_made, make)), summary, listed=False) for path, make, summary in pages]


def _made(make: Callable[[], Answer], _: Asked) -> Answer:
    return make()
