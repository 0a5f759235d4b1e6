"""The API's description of itself: valid, complete, and true of what is known to be taken."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from jsonschema import Draft202012Validator
from tests.server.serving import CHAT, Running, running

from typecase.server.openapi.operations import OPERATIONS

Schema = dict[str, Any]


@pytest.fixture(scope="module")
def document(served: Running) -> Schema:
    found: Schema = served.ask("GET", "/openapi.json").json
    return found


def bodies(document: Schema) -> dict[str, Draft202012Validator]:
    """By path."""
    found = {}
    for path, methods in document["paths"].items():
        for operation in methods.values():
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                found[path] = Draft202012Validator({**schema, "components": document["components"]})
    return found


def test_it_is_valid(document: Schema) -> None:
    schemathesis.openapi.from_dict(document).validate()
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    references = set(re.findall(r'"\$ref":\s*"([^"]*)"', json.dumps(document)))
    assert references == {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert Counter(ids).most_common(1)[0][1] == 1


def test_every_route_is_described(served: Running, document: Schema) -> None:
    listed = {(method, route.path) for route in served.app.routes if route.listed for method in route.methods}
    assert listed == set(OPERATIONS)
    assert {(m.upper(), path) for path, methods in document["paths"].items() for m in methods} == listed
    assert all(
        "405" in operation["responses"] for methods in document["paths"].values() for operation in methods.values()
    )


def test_examples_are_right(document: Schema) -> None:
    taken = bodies(document)
    for path, validator in taken.items():
        validator.validate(document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"])
    assert len(taken) >= 8


@pytest.mark.parametrize(
    ("path", "body", "wrong"),
    [
        (CHAT, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, "y"]}]}, {"messages": "x"}),
        (CHAT, {"messages": [], "tools": None, "stop": "x", "top_logprobs": None}, {"messages": [{"content": "x"}]}),
        (
            CHAT,
            {"messages": [], "response_format": {"type": "json_schema", "json_schema": {"name": "x"}}},
            {"messages": [], "response_format": {"type": "json_schema"}},
        ),
        (CHAT, {"messages": [], "request_id": "x"}, {"messages": [], "request_id": None}),
        ("/v1/completions/render", {"prompt": [[1, 2], [3]]}, {"prompt": [[-1]]}),
        ("/v1/responses/render", {"input": [{"role": "user", "content": "x"}]}, {"input": [{"role": "nobody"}]}),
        (
            "/v1/responses/render",
            {"input": "x", "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": None}]},
            {"input": "x", "tools": [{"type": "none"}]},
        ),
        ("/v1/messages/render", {"model": "m", "max_tokens": 1, "messages": []}, {"model": "m", "messages": []}),
        ("/tokenize", {"prompt": "x"}, {"text": "x"}),
        ("/tokenize", {"messages": []}, {"prompt": 1}),
        ("/detokenize", {"tokens": [1]}, {"tokens": ["x"]}),
    ],
)
def test_bodies(document: Schema, path: str, body: Schema, wrong: Schema) -> None:
    validator = bodies(document)[path]
    validator.validate(body)
    assert not validator.is_valid(wrong)


@pytest.mark.shared
def test_what_vllm_answers_is_documented(document: Schema, shared: Path) -> None:
    """Recorded bodies that were answered fit the schema, but for values that are read as something else."""
    validators = bodies(document)
    lax = re.compile(r"chat\.bound\.max_tokens|chat\.field\.(string|bool)_numbers|.*\.prompt_cache_retention")
    seen = 0
    for file in sorted((shared / "golden").glob("samples-*.jsonl")):
        for line in file.read_text().splitlines():
            sample = json.loads(line)
            body = sample.get("body")
            if sample.get("status") != 200 or not isinstance(body, dict) or sample.get("path") not in validators:
                continue
            seen += 1
            fault = next(validators[sample["path"]].iter_errors(body), None)
            assert fault is None or lax.match(sample["name"]), (file.name, sample["name"], fault)
    assert seen > 1000


def test_keys_are_documented(guarded: Running, document: Schema) -> None:
    assert "securitySchemes" not in document["components"]
    with_keys = guarded.ask("GET", "/openapi.json").json
    assert with_keys["components"]["securitySchemes"]["ApiKey"]["scheme"] == "bearer"
    for path, methods in with_keys["paths"].items():
        for operation in methods.values():
            assert ("security" in operation) == ("401" in operation["responses"]) == path.startswith("/v1"), path


def test_ids_are_documented() -> None:
    with running(enable_request_id_headers=True) as server:
        chat = server.ask("GET", "/openapi.json").json["paths"][CHAT]["post"]
    assert chat["parameters"][0]["name"] == "X-Request-Id"
    assert "X-Request-Id" in chat["responses"]["200"]["headers"]


def test_the_page_shows_fields_and_examples(served: Running, document: Schema) -> None:
    page = served.ask("GET", "/docs").body.decode()
    for path in document["paths"]:
        assert f"<code>{path}</code>" in page
    assert "<code>reasoning_effort</code>" in page
    assert "What does a typecase hold?" in page
    assert "&quot;model&quot;: &quot;tiny&quot;" in page
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets
    assert targets <= set(re.findall(r'id="([^"]+)"', page)), "links lead somewhere"


def test_nothing_is_made_before_it_is_asked_for() -> None:
    code = (
        "import sys\nfrom tests.server.serving import Obedient\nfrom typecase.server.app import create_app\n"
        "from typecase.server.settings import ServerSettings\ncreate_app([Obedient()], ServerSettings())\n"
        "print([name for name in sys.modules if name.startswith(('typecase.server.openapi', 'prometheus_client'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
