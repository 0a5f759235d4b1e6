"""Requests per second of one server process and of several (``--api-server-count``), in one run.

    python bench/processes.py --models MODELS [--processes 2] [--rounds 5] [--seconds 3] [--connections 16]

Both servers run all the time and are loaded in turn, so that what else the machine does weighs on both; the figure is
the median over the rounds of several / one. The load is made here, by one thread that writes ready-made requests and
reads no more of an answer than its length: ``load`` is the processor time it took per request, and what it takes the
servers can't have. ``share`` is the part of the work that the busiest process had.

On a machine that has no core for each of them, or does other things, too, the ratio says little. ``cpu`` is the
servers' processor time per request, and ``room`` what several would serve with a core each: cpu of one / (cpu of
several * share).
"""

from __future__ import annotations

import argparse
import json
import random
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHAT = "/v1/chat/completions/render"


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare one server process with several.")
    parser.add_argument("--models", type=Path, required=True, help="folder of model directories")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--words", type=int, default=2500, help="of a message")
    parser.add_argument("--port", type=int, default=9410)
    args = parser.parse_args()
    compare(
        args.models / "qwen3",
        processes=args.processes,
        rounds=args.rounds,
        seconds=args.seconds,
        connections=args.connections,
        words=args.words,
        port=args.port,
    )
    return 0


def compare(
    model: Path, *, processes: int, rounds: int, seconds: float, connections: int, words: int, port: int
) -> float:
    """Print a line per round; the median ratio."""
    requests = make_requests(words)
    with server(model, 1, port) as one, server(model, processes, port + 1) as several:
        for number in (port, port + 1):
            load(number, requests, connections, 0.5)
        ratios, rooms = [], []
        print(
            f"{'round':>5} {'1/s':>7} {f'{processes}/s':>7} {'ratio':>6} {'load us':>8} "
            f"{'cpu us 1':>9} {f'cpu us {processes}':>9} {'share':>6} {'room':>6}"
        )
        for turn in range(rounds):
            # The order changes, so that neither always comes after the other.
            order = [(port, one), (port + 1, several)]
            rates: dict[int, float] = {}
            costs: dict[int, float] = {}
            spent: list[float] = []
            share = 1.0
            for number, process in order if turn % 2 else reversed(order):
                before = {pid: processor_seconds(pid) for pid in workers(process.pid)}
                answered, rates[number], cost = load(number, requests, connections, seconds)
                used = [processor_seconds(pid) - was for pid, was in before.items()]
                costs[number] = sum(used) / answered
                spent.append(cost)
                if number != port:
                    share = max(used) / (sum(used) or 1)
            ratios.append(rates[port + 1] / rates[port])
            rooms.append(costs[port] / (costs[port + 1] * share))
            print(
                f"{turn:>5} {rates[port]:>7.0f} {rates[port + 1]:>7.0f} {ratios[-1]:>6.2f} "
                f"{statistics.mean(spent) * 1e6:>8.0f} {costs[port] * 1e6:>9.0f} {costs[port + 1] * 1e6:>9.0f} "
                f"{share:>6.2f} {rooms[-1]:>6.2f}"
            )
    median = statistics.median(ratios)
    print(
        f"{processes} processes serve {median:.2f} times the requests of one, "
        f"{statistics.median(rooms):.2f} times with a core each (medians of {rounds} rounds)"
    )
    return median


def make_requests(words: int) -> list[bytes]:
    """Some chats of new words each, as they go over the wire."""
    chance = random.Random(0)
    vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 7))) for _ in range(3000)]
    requests = []
    for _ in range(200):
        text = " ".join(chance.choices(vocabulary, k=words // 2))
        body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
        head = f"POST {CHAT} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        requests.append(f"{head}\r\n\r\n".encode() + body)
    return requests


class Client:
    """One connection with one request under way."""

    def __init__(self, port: int, room: bytearray):
        self.room = room
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.missing = 0
        self.head = b""

    def is_answered(self) -> bool:
        """Read what is there; whether the answer is complete."""
        size = self.socket.recv_into(self.room)
        if not size:
            raise ConnectionError("the server closed a connection")
        if self.missing:
            self.missing -= size
            return not self.missing
        self.head += self.room[:size]
        end = self.head.find(b"\r\n\r\n")
        if end < 0:
            return False
        if not self.head.startswith(b"HTTP/1.1 200 "):
            raise ConnectionError(self.head[:200].decode("latin-1"))
        length = int(self.head.split(b"content-length: ", 1)[1].split(b"\r\n", 1)[0])
        self.missing = end + 4 + length - len(self.head)
        self.head = b""
        return not self.missing


def load(port: int, requests: list[bytes], connections: int, seconds: float) -> tuple[int, float, float]:
    """Requests answered, how many a second, and processor seconds that one cost here.

    Each connection sends its next request when it has its answer.
    """
    selector = selectors.DefaultSelector()
    room = bytearray(1 << 18)
    clients = [Client(port, room) for _ in range(connections)]
    for client in clients:
        selector.register(client.socket, selectors.EVENT_READ, client)
    done, cost, begun = 0, time.thread_time(), time.perf_counter()
    for client in clients:
        client.socket.sendall(requests[done % len(requests)])
        done += 1
    answered = 0
    while time.perf_counter() - begun < seconds:
        for key, _ in selector.select(1.0):
            client = key.data
            if client.is_answered():
                answered += 1
                client.socket.sendall(requests[done % len(requests)])
                done += 1
    taken = time.perf_counter() - begun
    cost = time.thread_time() - cost
    for client in clients:
        client.socket.close()
    selector.close()
    answered = max(1, answered)
    return answered, answered / taken, cost / answered


@contextmanager
def server(model: Path, processes: int, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A render server until the block ends."""
    command = [sys.executable, "-m", "typecase.cli.main", "launch", "render", str(model), "--port", str(port)]
    command += ["--host", "127.0.0.1", "--api-server-count", str(processes)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if b"Application startup complete." in line:
                break
        else:
            raise SystemExit(f"the server stopped at start: {command}")
        yield process
    finally:
        process.terminate()
        process.wait()


def workers(pid: int) -> list[int]:
    """The processes that serve: the children, or the process itself."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children] or [pid]


def processor_seconds(pid: int) -> float:
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


if __name__ == "__main__":
    sys.exit(main())
