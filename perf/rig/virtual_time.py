"""An event loop whose clock is virtual: hours of simulated time take the time of their events.

The clock stands still while anything is left to do. When every task waits for a time to come, it
jumps there. So an hour of retries takes milliseconds, a deadline means the same on a busy machine,
and which of two events comes first is what their times say.
"""

import asyncio
import selectors
import socket
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

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
    assert isinstance(running, VirtualLoop), "not in a VirtualLoop; mark the test: virtual_time"
    return running


def now() -> float:
    """Return the virtual time in seconds: a clock to inject."""
    return loop().time()


async def until(is_so: Callable[[], bool], within_s: float = 3600.0) -> None:
    """Wait until something is so, in virtual time."""
    async with asyncio.timeout(within_s):
        while not is_so():
            await asyncio.sleep(0.001)
