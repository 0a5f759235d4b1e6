"""Connections that several processes could take: here one of them, with others that are only said to be there."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvloop

from typecase.server.accepting import Acceptor


class Others:
    def __init__(self, fewest: int | None):
        self.fewest = fewest
        self.told: list[int | None] = []

    def set_connections(self, count: int | None) -> None:
        self.told.append(count)

    def fewest_connections(self) -> int | None:
        return self.fewest


class Greeting(asyncio.Protocol):
    def connection_made(self, transport: Any) -> None:
        transport.write(b"hello")
        transport.close()


def take(others: Others, clients: int, *, already: int = 0) -> Others:
    """Connect clients to one process; all are greeted, whoever else there is."""

    async def serve() -> None:
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        acceptor = Acceptor(sock, Greeting, tls=None, backlog=100, counts=others, connected=lambda: already)
        host, port = sock.getsockname()
        streams = await asyncio.gather(*(asyncio.open_connection(host, port) for _ in range(clients)))
        for reader, writer in streams:
            assert await asyncio.wait_for(reader.read(), 20) == b"hello"
            writer.close()
        acceptor.stop()

    uvloop.run(serve())
    return others


def test_one_alone_takes_all() -> None:
    others = take(Others(None), 50)
    assert others.told[0] == 0
    assert others.told[-1] is None
    assert max(count for count in others.told if count is not None) >= 1


def test_one_with_fewer_takes_all() -> None:
    take(Others(1000), 50)


def test_others_that_have_fewer_and_do_not_come_hold_up_nobody_for_long() -> None:
    take(Others(0), 100, already=7)
    take(Others(7), 100, already=7)
