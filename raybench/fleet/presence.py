"""Whether an endpoint that did not answer in time was slow, or answers nobody."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Probe = Callable[[], Coroutine[Any, Any, str | None]]
"""Asks for a word; returns why none came, or None where one did."""


class Presence:
    """Asks for a word where there is doubt.

    That others were answered meanwhile would tell nothing: it may hang since.
    """

    def __init__(self) -> None:
        self._probes: dict[str, asyncio.Task[str | None]] = {}
        """Those under way: who doubts the same model waits for the same one."""

    async def absent(self, model: str, probe: Probe) -> str | None:
        """Return why a model is thought to answer nobody; None where it answers now."""
        if (asked := self._probes.get(model)) is None:
            asked = self._probes[model] = asyncio.create_task(probe())
            asked.add_done_callback(lambda _: self._probes.pop(model))
        # The others wait for it too, should this one be cancelled.
        return await asyncio.shield(asked)

    async def close(self) -> None:
        """Ask no more."""
        probes = [*self._probes.values()]
        for probe in probes:
            probe.cancel()
        await asyncio.gather(*probes, return_exceptions=True)
