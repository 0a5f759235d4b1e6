"""Prometheus: vLLM's names, labels and rules of counting."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import pytest
from tests.server.serving import CHAT, Running, running

# `# TYPE` lines of vLLM 0.33's answer after a few requests.
NAMES = {
    "python_gc_objects_collected_total",
    "python_gc_objects_uncollectable_total",
    "python_gc_collections_total",
    "python_info",
    "process_virtual_memory_bytes",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_cpu_seconds_total",
    "process_open_fds",
    "process_max_fds",
    "http_requests_total",
    "http_requests_created",
    "http_request_size_bytes",
    "http_request_size_bytes_created",
    "http_response_size_bytes",
    "http_response_size_bytes_created",
    "http_request_duration_highr_seconds",
    "http_request_duration_highr_seconds_created",
    "http_request_duration_seconds",
    "http_request_duration_seconds_created",
}


@pytest.fixture(scope="module")
def counting() -> Iterator[Running]:
    with running(api_keys=("k",), allowed_origins=("http://ok.example",)) as server:
        key = {"Authorization": "Bearer k"}
        for _ in range(3):
            server.chat(key)
        server.chat(key, do="refuse", value=1)
        server.ask("GET", CHAT, headers=key)
        server.ask("GET", "/none")
        server.ask("GET", "/docs/")
        server.ask("GET", "/docs", headers={"Origin": "http://ok.example"})
        server.ask("GET", "/v1/models")  # no key
        for path in ("/health", "/ping", "/load", "/version", "/metrics", "/metrics/x", "/health/none"):
            server.ask("GET", path)
        preflight = {"Origin": "http://ok.example", "Access-Control-Request-Method": "POST"}
        server.ask("OPTIONS", CHAT, headers=preflight)
        yield server


def samples(server: Running) -> dict[str, float]:
    text = server.ask("GET", "/metrics").body.decode()
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if not line.startswith("#")
    }


def test_names(counting: Running) -> None:
    text = counting.ask("GET", "/metrics").body.decode()
    assert not NAMES - set(re.findall("^# TYPE (\\S+)", text, re.MULTILINE))


def test_what_is_counted(counting: Running) -> None:
    counted = {name: value for name, value in samples(counting).items() if name.startswith("http_requests_total")}
    assert counted == {
        f'http_requests_total{{handler="{CHAT}",method="POST",status="2xx"}}': 3,
        f'http_requests_total{{handler="{CHAT}",method="POST",status="4xx"}}': 1,
        'http_requests_total{handler="none",method="GET",status="4xx"}': 2,
        'http_requests_total{handler="/docs/",method="GET",status="3xx"}': 1,
        'http_requests_total{handler="/docs",method="GET",status="2xx"}': 1,
    }


def test_sums_and_buckets(counting: Running) -> None:
    found = samples(counting)
    assert found[f'http_request_size_bytes_count{{handler="{CHAT}"}}'] == 4
    assert found[f'http_request_size_bytes_sum{{handler="{CHAT}"}}'] == 3 * 2 + len('{"do": "refuse", "value": 1}')
    assert found['http_response_size_bytes_sum{handler="/docs/"}'] == 0
    assert found['http_request_duration_highr_seconds_bucket{le="+Inf"}'] == 8
    assert found["http_request_duration_highr_seconds_count"] == 8
    assert found['http_request_duration_seconds_bucket{handler="none",le="+Inf",method="GET"}'] == 2
    assert found["typecase_bytes_in_flight"] == 0
    assert found["typecase_requests_waiting"] == 0


def test_the_exact_path_is_plain(counting: Running) -> None:
    headers = {"Accept": "application/openmetrics-text", "Accept-Encoding": "gzip"}
    answer = counting.ask("GET", "/metrics", headers=headers)
    assert answer.headers["content-type"] == "text/plain; version=1.0.0; charset=utf-8"
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize("path", ["/metrics/", "/metrics/x/y", "/metricsx"])
def test_the_paths_behind_it(counting: Running, path: str) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        answer = counting.ask(method, path)
        assert answer.status == 200
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    packed = counting.ask("GET", path, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["content-encoding"] == "gzip"
    assert b"http_requests_total" in gzip.decompress(packed.body)
    opened = counting.ask("GET", path, headers={"Accept": "application/openmetrics-text"})
    assert opened.headers["content-type"].startswith("application/openmetrics-text")
    one = counting.ask("GET", f"{path}?name[]=process_open_fds").body.decode()
    assert re.findall("^# TYPE (\\S+)", one, re.MULTILINE) == ["process_open_fds"]


@pytest.mark.parametrize(
    "accept",
    [
        "application/openmetrics-text; version=x",
        "text/plain; version=",
        "text/plain; version=9999999999999999999999.1; escaping=nope",
        "application/openmetrics-text; version=1.0.0; escaping=\xff",
        ";,;=,",
    ],
)
def test_odd_wishes(counting: Running, accept: str) -> None:
    for query in ("", "?name[]", "?name[]=%ff", "?%00"):
        assert counting.ask("GET", "/metrics/" + query, headers={"Accept": accept}).status == 200
