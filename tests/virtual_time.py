"""An event loop whose clock is virtual, and HTTP endpoints within it: tests that never wait.

The clock stands still while anything is left to do. When every task waits for a time to come, it
jumps there. So an hour of retries takes milliseconds, a deadline means the same on a busy machine,
and which of two events comes first is what their times say. Tests that are marked `virtual_time`
run in such a loop (tests/conftest.py); they give `now` to objects that take a clock.
"""

import asyncio
import inspect
import json
import selectors
import socket
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor
from typing import Any, Self, TypeVar, TypeVarTuple

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
_LOOK_S = 0.02
"""Real seconds between two looks at threads that work for the loop."""


class _Selector(selectors.SelectSelector):
    """Lets the loop's clock jump where others would wait."""

    loop: "VirtualLoop"

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if self.loop.threads:  # what they do takes no virtual time
            return super().select(_LOOK_S)
        if timeout is None:
            return super().select(None)
        self.loop.advance(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer once nothing else is left to do.

    Connections to addresses in `servers` stay within the loop: a pair of Unix sockets, on which
    what is sent has arrived, so that nothing is under way while the clock jumps.
    """

    def __init__(self) -> None:
        selector = _Selector()
        selector.loop = self
        self.threads = 0
        """Calls that threads work on."""
        self.servers: dict[tuple[str, int], Callable[[socket.socket], Awaitable[None]]] = {}
        self._now = 1000.0
        super().__init__(selector)

    def time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass, as code does that computes for so long and never yields to the loop."""
        self._now += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts
    ) -> "asyncio.Future[T]":
        """Run a function in a thread; the clock stands still until it returns."""
        future = super().run_in_executor(executor, func, *args)
        self.threads += 1
        future.add_done_callback(self._end_thread)
        return future

    def _end_thread(self, future: "asyncio.Future[Any]") -> None:
        self.threads -= 1

    async def create_connection(
        self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any
    ) -> Any:
        """Connect to a server of this loop, or to whoever listens in the real world."""
        if (serve := self.servers.get((str(host), port or 0))) is None:
            return await super().create_connection(protocol_factory, host, port, **options)
        ours, theirs = socket.socketpair()
        await serve(theirs)
        return await super().create_connection(protocol_factory, sock=ours)


def loop() -> VirtualLoop:
    """Return the running loop."""
    running = asyncio.get_running_loop()
    assert isinstance(running, VirtualLoop), "mark the test: virtual_time"
    return running


def now() -> float:
    """Return the virtual time in seconds: a clock to inject."""
    return loop().time()


async def until(is_so: Callable[[], bool], within_s: float = 3600.0) -> None:
    """Wait until something is so, in virtual time."""
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.001)


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
