"""Has the stage that asks models ask for some units, in this process."""

import copy
from collections.abc import Sequence
from typing import Any, cast

from raybench.fleet.link import Door
from raybench.pipeline.generation import Generate
from raybench.pipeline.stages import Unit
from raybench.pipeline.units import Job


async def generated(stage: Generate, units: Sequence[Unit], fleet: Any) -> list[Unit]:
    """Return the units with what a fleet replies, in the order in which they are finished."""
    stage._door = cast(Door, OpenDoor(fleet))
    stage._units = lambda job: copy.deepcopy([*units])  # type: ignore[method-assign]
    first = units[0]
    job = Job(first["model"], first["benchmark"], "", 0, len(units), 1)
    return [unit async for group in stage.answered([job]) for unit in group]


class OpenDoor:
    """Leads to a fleet that is there."""

    def __init__(self, fleet: Any) -> None:
        self._fleet = fleet

    async def fleet(self) -> Any:
        return self._fleet


class NoQueue:
    """What a fleet says that begins every request at once."""

    def expect(self, model: str, requests: int) -> None:
        """Plan for nothing."""

    async def wait_for_room(self, model: str) -> None:
        """Return at once."""
