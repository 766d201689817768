"""Connections to one endpoint, for as many requests at once as there are."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

import httpx

_IDLE_S = 5.0
"""A connection that was idle for so long is not used again, and its client goes."""


class Connections:
    """Lends a client of its own to each request that is under way.

    A client that several share looks through all their connections at every request: with 256 of
    them that took 14 ms each time, in which the replies of others waited to be seen (measured).
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        timeout: httpx.Timeout,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Connect to this URL as requests come. The clock returns seconds."""
        self._url, self._headers, self._timeout = url, headers, timeout
        self._clock = clock
        self._certificates = httpx.create_ssl_context()  # once: it takes longer than a client
        self._clients: set[httpx.AsyncClient] = set()
        self._idle: deque[tuple[float, httpx.AsyncClient]] = deque()
        """By when they were given back, the last one last."""
        self._letting_go: asyncio.Task[None] | None = None

    @contextmanager
    def lent(self) -> Iterator[httpx.AsyncClient]:
        """Lend the client that was given back last, which most likely is still connected."""
        client = self._idle.pop()[1] if self._idle else self._another()
        try:
            yield client
        finally:
            self._idle.append((self._clock(), client))
            if self._letting_go is None or self._letting_go.done():
                self._letting_go = asyncio.create_task(self._let_go())

    def _another(self) -> httpx.AsyncClient:
        client = httpx.AsyncClient(
            base_url=self._url,
            headers=self._headers,
            timeout=self._timeout,
            verify=self._certificates,
            limits=httpx.Limits(keepalive_expiry=_IDLE_S),
        )
        self._clients.add(client)
        return client

    async def _let_go(self) -> None:
        """Close those that were not wanted for a while, as long as there are idle ones.

        httpx looks at the age of a connection only where its client is asked for something.
        """
        while self._idle:
            await asyncio.sleep(_IDLE_S)
            while self._idle and self._clock() - self._idle[0][0] >= _IDLE_S:
                _, client = self._idle.popleft()
                await _close(client)
                self._clients.discard(client)

    async def close(self) -> None:
        """Close them all."""
        if self._letting_go is not None:
            self._letting_go.cancel()
        for client in [*self._clients]:
            await _close(client)


async def _close(client: httpx.AsyncClient) -> None:
    """Close a client. A connection that breaks at its end costs nobody a reply."""
    with suppress(Exception):
        await client.aclose()
