"""Whether an endpoint that did not answer in time was slow, or answers nobody."""

import asyncio
import math
import time
from collections.abc import Callable, Coroutine
from typing import Any

Probe = Callable[[], Coroutine[Any, Any, str | None]]
"""Asks for a word; returns why none came, or None where one did."""


class Presence:
    """Remembers when each model was heard last; asks anew where it was not heard in time."""

    def __init__(self) -> None:
        self._heard: dict[str, float] = {}
        self._probes: dict[str, asyncio.Task[str | None]] = {}
        """Those under way: who doubts the same model waits for the same one."""

    def heard(self, model: str) -> None:
        """Take note that a model has answered."""
        self._heard[model] = time.monotonic()

    async def absent(self, model: str, since: float, probe: Probe) -> str | None:
        """Return why a model is thought to answer nobody; None where it has since, or does now."""
        if self._heard.get(model, -math.inf) > since:
            return None
        if (asked := self._probes.get(model)) is None:
            asked = self._probes[model] = asyncio.create_task(probe())
            asked.add_done_callback(lambda _: self._probes.pop(model))
        # The others wait for it too, should this one be cancelled.
        return await asyncio.shield(asked)

    def close(self) -> None:
        """Ask no more."""
        for probe in self._probes.values():
            probe.cancel()
