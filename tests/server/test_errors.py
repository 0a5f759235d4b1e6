"""Exceptions into answers."""

from __future__ import annotations

import json
import logging

import pytest
from tests.server.serving import Running

from typecase.api.errors import InvalidParameter, RequestError
from typecase.server.errors import answer_to, clean_message


def test_the_shape(served: Running) -> None:
    answer = served.chat(do="refuse", value=-1)
    assert answer.status == 400
    assert answer.body == (
        b'{"error":{"message":"temperature must be positive. (parameter=temperature, value=-1)",'
        b'"type":"BadRequestError","param":"temperature","code":400}}'
    )
    assert answer.headers["content-type"] == "application/json"
    assert served.chat(do="unknown model").status == 404


def test_what_nobody_foresaw(served: Running, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = served.chat(do="break", token="hunter2")
    assert answer.status == 500
    error = answer.json["error"]
    assert (error["type"], error["param"], error["code"]) == ("InternalServerError", None, 500)
    assert "hunter2" not in answer.body.decode()
    assert "LookupError" in caplog.text
    assert "serving.py" in caplog.text, "the frames are logged"
    assert "hunter2" not in caplog.text, "the message, which may quote the request, is not"
    assert served.chat().status == 200


@pytest.mark.parametrize(
    ("message", "cleaned"),
    [
        ("The model `/srv/models/x` does not exist.", "The model `<path>` does not exist."),
        ("The model `./qwen3` does not exist.", "The model `./qwen3` does not exist."),
        ("in /home/me/.cache/a.json: bad", "in <path>: bad"),
        ("in models/a/b.json: bad", "in models<path>: bad"),
        ("/a/b/c.tar.gz", "<path>.gz"),
        ("/a.b and /a/b and a/b.c", "/a.b and /a/b and a/b.c"),
        ("/v1/chat/completions/render is a route", "/v1/chat/completions/render is a route"),
        ("<object at 0x7f00AA>", "<object>"),
        ("at 0x7f00", "at 0x7f00"),
        ('failed\n  File "/x/y.py", line 3, in f\n    call()\nValueError', "failed\nValueError"),
        ('a File "x", line 1, in g', "a"),
        (' File "x" ', 'File "x"'),
        ("  spaces \n", "spaces"),
    ],
)
def test_clean_message(message: str, cleaned: str) -> None:
    assert clean_message(message) == cleaned


@pytest.mark.parametrize(
    "message",
    [
        "/a" * 500_000,
        "/home" + "/a" * 500_000,
        " " * 1_000_000 + 'File "',
        'File "' * 200_000,
        'File "x", line 1' * 100_000,
        " at 0x" + "a" * 1_000_000,
        "/" * 1_000_000,
    ],
)
def test_cleaning_is_linear(message: str) -> None:
    """A pattern that scans a run of characters again and again would not come back from these."""
    clean_message(message)


def test_a_lone_surrogate_is_shown() -> None:
    answer = answer_to(InvalidParameter("no text: \ud800", "messages\udfff"))
    error = json.loads(answer.body)["error"]
    assert "no text: \\ud800" in error["message"]
    assert error["param"] == "messages\\udfff"


def test_messages_of_templates_keep_their_lines(served: Running) -> None:
    answer = served.chat(do="raise in template", message="Roles must alternate.\n\u65e5\u672c")
    assert answer.json["error"]["message"] == "Roles must alternate.\n\u65e5\u672c"
    assert "\u65e5".encode() in answer.body, "nothing is escaped to ASCII"


def test_deep_recursion_is_the_requests_fault() -> None:
    answer = answer_to(RecursionError())
    assert answer.status == 400
    assert answer_to(RequestError("x")).status == 400
