"""Connections to one endpoint, for as many requests at once as there are."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import httpx


class Connections:
    """Lends a client of its own to each request that is under way.

    A client that several share looks through all their connections at every request: with 256 of
    them that took 14 ms each time, in which the replies of others waited to be seen (measured).
    """

    def __init__(self, url: str, headers: Mapping[str, str], timeout: httpx.Timeout) -> None:
        self._url, self._headers, self._timeout = url, headers, timeout
        self._certificates = httpx.create_ssl_context()  # once: it takes longer than a client
        self._clients: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    @contextmanager
    def lent(self) -> Iterator[httpx.AsyncClient]:
        """Lend the client that was given back last, which most likely is still connected."""
        client = self._idle.pop() if self._idle else self._another()
        try:
            yield client
        finally:
            self._idle.append(client)

    def _another(self) -> httpx.AsyncClient:
        client = httpx.AsyncClient(
            base_url=self._url,
            headers=self._headers,
            timeout=self._timeout,
            verify=self._certificates,
        )
        self._clients.append(client)
        return client

    async def close(self) -> None:
        """Close them all."""
        for client in self._clients:
            await client.aclose()
