"""How long a request is with an endpoint: the only time that counts against who is asked."""

import asyncio
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

_SENT = "http11.send_request_body"
_READ = "http11.receive_response_body.complete"
_LOOKS = 16
"""So many rounds of the loop it takes at most to read a reply that has arrived (seen: 4)."""
_TICK_S = 0.001


class Stopwatch:
    """Entered around one request, it ends that when its time is up, and raises TimeoutError.

    It runs from when the request is written to when the reply is read. Before that a connection is
    made, and what a busy process or network takes for it is no model's time. Nor is it one's fault
    that nobody has looked yet: a loop that is late finds replies and deadlines in the same moment,
    so replies that are there when the time is up are read first. They count as having come just in
    time: the loop looked last before, and nobody knows better.
    """

    def __init__(
        self, most_s: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """None is as long as it likes. The clock returns seconds."""
        self.most_s = most_s
        self._clock = clock
        self._limit = asyncio.timeout(None)
        self._timer: asyncio.Handle | None = None
        self._begun: float | None = None
        self._ended: float | None = None

    @property
    def up(self) -> bool:
        """Tell whether this has ended the request."""
        return self._limit.expired()

    @property
    def seconds(self) -> float:
        """Return how long the request was with the endpoint; 0 where it never was."""
        if self._begun is None:
            return 0.0
        passed = (self._ended or self._clock()) - self._begun
        if self.most_s is None or self.up:
            return passed
        return min(passed, max(0.0, self.most_s - _TICK_S))

    async def traced(self, event: str, _: Any) -> None:
        """Hear from httpcore how far the request is: its extension `trace`."""
        if event == f"{_SENT}.started":
            self._begun = self._clock()  # no later: it may arrive before this hears of it
        elif event.startswith(_SENT):
            if self.most_s is not None:
                self._cancel()
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(self.most_s, self._look, _LOOKS)
        elif event == _READ:
            self._ended = self._clock()
            self._cancel()

    async def __aenter__(self) -> Self:
        await self._limit.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cancel()
        self._ended = self._ended or self._clock()
        await self._limit.__aexit__(kind, error, trace)

    def _look(self, rounds: int) -> None:
        """Let the loop read what has arrived, then end the request."""
        loop = asyncio.get_running_loop()
        if rounds:
            self._timer = loop.call_soon(self._look, rounds - 1)
        else:
            self._limit.reschedule(loop.time())

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
