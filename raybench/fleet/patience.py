"""How long to wait for an endpoint: back-off, what it asks for itself, and its rate limit."""

import asyncio
import email.utils
import math
import random
import time
from collections.abc import Callable, Mapping

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 30.0
_SAME_S = 1.0
"""Pauses that end so close to each other are one: of requests side by side."""


def back_off(attempt: int) -> float:
    """Return the wait before a try that follows so many: doubling, bounded, jittered.

    Without the jitter the requests of one batch would come back in step.
    """
    doublings = min(attempt - 1, 16)  # far beyond the bound, and far from an overflow
    return min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0**doublings) * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str], now: float) -> float:
    """Return the seconds that a reply asks to wait, 0 where it does not say or cannot be read.

    `Retry-After` holds seconds or a date; some endpoints give milliseconds in a header of their
    own, which is the more exact one.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdecimal() and value.isascii():
            return float(value) * unit
        if value and name == "retry-after":
            try:
                return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
            except (ValueError, OverflowError):
                return 0.0
    return 0.0


class Pace:
    """When the next request may go to an endpoint. One for all requests, so that all hold back."""

    def __init__(
        self,
        requests_per_minute: float | None,
        most_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`most_s` is the longest pause that an endpoint is granted, whatever it asks for."""
        self._most = most_s
        self._clock = clock
        self._gap = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next = 0.0

    def pause(self, seconds: float) -> float:
        """Let nothing go for so long: the endpoint asked for that.

        Return for how long requests wait, 0 where they already waited as long.
        """
        until = self._clock() + min(seconds, self._most)
        longer = until - self._next
        self._next = max(self._next, until)
        return until - self._clock() if longer > _SAME_S else 0.0

    async def turn(self) -> None:
        """Wait until a request may go, and take its place."""
        while (wait := self._next - self._clock()) > 0:
            await asyncio.sleep(wait)
        # Nothing is awaited between the look and the taking: of many that wake, one goes.
        self._next = self._clock() + self._gap
