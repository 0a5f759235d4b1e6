"""Routes about the server itself: health, version, models, and what SageMaker asks for.

The answers are those of a render server of vLLM 0.33, which has no engine: always healthy, no load, no KV events.
"""

from __future__ import annotations

__all__ = ["VLLM_VERSION", "service_routes"]

import json
import os
import time
from collections.abc import Callable, Sequence

from typecase.api.models import ModelCard, ModelList, ModelPermission
from typecase.server.answers import Answer, json_answer
from typecase.server.errors import error_answer
from typecase.server.routes.route import Asked, Page, Route
from typecase.server.served import ServedModel

# The version whose answers these are. Clients look at it to know what a server can do.
VLLM_VERSION = "0.33.0"

_HEALTHY = Answer(200)
_NO_HANDLER = error_answer(
    400, "Cannot find suitable handler for request. Expected one of: []", "BadRequestError"
)  # the list of request kinds that a render server can run


def service_routes(models: Sequence[ServedModel], *, tokenizer_info: bool, checked_json_bytes: int) -> list[Route]:
    """``checked_json_bytes``: up to this length, the body of ``/invocations`` is checked to be JSON at all."""
    get = ("GET",)
    routes = [
        Route("/health", get, Page(_constant(_HEALTHY)), "Whether the server is up"),
        Route("/load", get, Page(_constant(json_answer(200, {"server_load": 0}))), "Requests on the engine: none"),
        Route("/version", get, Page(_constant(json_answer(200, {"version": VLLM_VERSION}))), "Version of the API"),
        Route("/kv_event_sources", get, Page(_constant(json_answer(200, {}))), "Publishers of KV events: none"),
        Route("/v1/models", get, Page(lambda _: _models(models)), "The served models"),
        Route("/ping", get, Page(_constant(_HEALTHY)), "Whether the server is up"),
        Route("/ping", ("POST",), Page(_constant(_HEALTHY)), "Whether the server is up"),
        Route(
            "/invocations",
            ("POST",),
            Page(lambda asked: _invocations(asked, checked_json_bytes), json_body=True),
            "Run a request by its shape: none can be run here",
        ),
    ]
    if tokenizer_info:
        routes.append(
            Route(
                "/tokenizer_info",
                get,
                Page(lambda _: json_answer(200, models[0].tokenizer_info())),
                "The tokenizer's configuration",
            )
        )
    return routes


def _constant(answer: Answer) -> Callable[[Asked], Answer]:
    return lambda _: answer


def _models(models: Sequence[ServedModel]) -> Answer:
    """Ids of permissions and times are fresh on each call, as on vLLM's server."""
    now = int(time.time())
    cards = [
        ModelCard(
            id=name,
            created=now,
            root=model.root,
            max_model_len=model.max_model_len,
            permission=[ModelPermission(id=f"modelperm-{os.urandom(8).hex()}", created=now)],
        )
        for model in models
        for name in model.names
    ]
    return json_answer(200, ModelList(data=cards))


def _invocations(asked: Asked, checked_json_bytes: int) -> Answer:
    """Refused in any case; a body that is no JSON is told so, unless it is long."""
    if len(asked.body) <= checked_json_bytes:
        try:
            json.loads(asked.body)
        except json.JSONDecodeError as error:
            return error_answer(400, f"JSON decode error: {error}", "Bad Request")
        except UnicodeDecodeError as error:
            return error_answer(400, str(error), "BadRequestError")
    return _NO_HANDLER
