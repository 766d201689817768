"""Servers that test files share: a Ray that stays up, an endpoint with a real engine.

A server starts when a test first asks for it. It ends when its worker moves to files of another
group (scheduling.py): an idle Ray and an idle engine each take about a tenth of a processor.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeVar

import scheduling

Server = TypeVar("Server")


class SharedServers:
    """Starts servers once, and ends them together."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._servers: dict[str, Any] = {}

    def use(self, name: str, start: Callable[[], AbstractContextManager[Server]]) -> Server:
        """Return the server of this name; start it if it is not running."""
        if name not in self._servers:
            self._servers[name] = self._running.enter_context(start())
        server: Server = self._servers[name]
        return server

    def leave(self, file: Path, following: Path) -> None:
        """End all servers if the worker moves from this file to a file of another group.

        Only workers of xdist get the files of a group one after the other.
        """
        stays = scheduling.group(file) == scheduling.group(following)
        if not stays and "PYTEST_XDIST_WORKER" in os.environ:
            self.end()

    def end(self) -> None:
        """End all servers that are running."""
        self._servers.clear()
        self._running.close()
