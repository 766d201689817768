"""Nodes that die under a graph: Ray Data waits for ever for some of what was on them.

It starts actors of a dead node anew, elsewhere. But where a link is cut, rather than a process
killed, what they were asked may never come (seen with Ray 2.60).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_LOOK_S = 2.0


class WorkLost(Exception):
    """A node or a process died that had work."""


class Losses:
    """Looks now and then whether a node has died on which there was work."""

    def __init__(self, places: Callable[[], set[str]]) -> None:
        """`places` tells on which nodes, by Ray's names, work is now."""
        self._places = places
        self._before: set[str] = set()

    async def beside(self, work: Awaitable[T]) -> T:
        """Wait for something. Raises WorkLost where a node dies meanwhile."""
        waiting = asyncio.ensure_future(work)
        while not waiting.done():
            await asyncio.wait([waiting], timeout=_LOOK_S)
            if not waiting.done():
                await self.look()
        return await waiting

    async def look(self) -> None:
        """Look. Raises WorkLost where one died on which there was work when it was looked last."""
        dead = await asyncio.to_thread(_dead)
        places = self._places()
        if lost := sorted(dead[node] for node in (self._before | places) & dead.keys()):
            raise WorkLost(f"{', '.join(lost)} died")
        self._before = places


def _dead() -> dict[str, str]:
    """Return the addresses of nodes that have died, by Ray's names."""
    import ray

    return {it["NodeID"]: it["NodeManagerAddress"] for it in ray.nodes() if not it["Alive"]}
