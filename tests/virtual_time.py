"""HTTP endpoints in an event loop whose clock is virtual (perf/rig/virtual_time.py).

Tests that are marked `virtual_time` run in such a loop (tests/conftest.py); they give `now` to
objects that take a clock.
"""

import asyncio
import inspect
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self

from perf.rig.virtual_time import VirtualLoop, loop, now, until

__all__ = ["Exchange", "VirtualEndpoint", "VirtualLoop", "loop", "now", "until"]


class Exchange:
    """One request of a client, and what is sent back."""

    def __init__(self, path: str, body: Any, writer: asyncio.StreamWriter) -> None:
        self.path, self.body = path, body
        self.writer = writer

    def begin(self, status: int, length: int, headers: Mapping[str, str]) -> None:
        """Send the head of a reply."""
        lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())

    def send(self, status: int, body: Any, **headers: str) -> None:
        """Send a whole reply; what is not bytes goes as JSON."""
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.begin(status, len(payload), headers)
        self.writer.write(payload)


Play = Callable[[Exchange], Awaitable[None] | None]
"""Replies to a request, at once or after a while."""


class VirtualEndpoint:
    """An HTTP endpoint in the loop of the test. `play` replies; derive from it or give it."""

    _ports = iter(range(1, 1 << 16))

    def __init__(self, play: Play | None = None, *, connect_s: float = 0.0) -> None:
        """Every new connection takes `connect_s` to be made."""
        self._play = play
        self._connect_s = connect_s
        self.models: Any = None
        """What it answers at /v1/models; None where it has no such list."""
        self.listed = 0
        """How often that was asked for."""
        self._address = ("127.0.0.1", next(self._ports))
        self._serving: set[asyncio.Task[None]] = set()

    @property
    def open(self) -> int:
        """Return the number of connections that clients keep open."""
        return len(self._serving)

    @property
    def url(self) -> str:
        """Return the address for `base_url`."""
        host, port = self._address
        return f"http://{host}:{port}/v1"

    async def __aenter__(self) -> Self:
        loop().servers[self._address] = self._accept
        return self

    async def __aexit__(self, *_: object) -> None:
        del loop().servers[self._address]
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def play(self, exchange: Exchange) -> Awaitable[None] | None:
        """Reply to a request."""
        assert self._play is not None
        return self._play(exchange)

    def _list(self, exchange: Exchange) -> None:
        self.listed += 1
        exchange.send(404 if self.models is None else 200, self.models or {})

    async def _accept(self, theirs: socket.socket) -> None:
        await asyncio.sleep(self._connect_s)
        reader, writer = await asyncio.open_connection(sock=theirs)
        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await _head(reader):
                request, *lines = head.split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in lines)
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path = request.split()[1]
                exchange = Exchange(path, json.loads(body) if body else None, writer)
                if path == "/v1/models":
                    self._list(exchange)
                    continue
                playing = self.play(exchange)
                if inspect.isawaitable(playing):
                    await playing
        finally:
            writer.close()


async def _head(reader: asyncio.StreamReader) -> str:
    """Return the head of the next request; nothing where the client has gone."""
    try:
        return (await reader.readuntil(b"\r\n\r\n"))[:-4].decode()
    except (asyncio.IncompleteReadError, ConnectionError):
        return ""
