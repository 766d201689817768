"""How a population plays: the protocol among simulated models."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from raybench.arena.assessment import assess
from raybench.arena.decoding import Decoding
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings
from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.types import ModelSpec

Play = Callable[[Sequence[ModelSpec], Settings], Awaitable[list[Record]]]
"""Plays a population's iterations and returns their journal records."""

_DECODING = Decoding(tokens={"task": 64, "task_rating": 16, "answer": 256, "answer_rating": 16})
"""Stand-ins write as much as they write: these bounds bind nobody."""


def playing(iterations: int) -> Play:
    """Return what plays so many iterations."""
    return partial(_play, iterations)


async def _play(iterations: int, models: Sequence[ModelSpec], settings: Settings) -> list[Record]:
    async with open_fleet(models, FleetConf(), say=lambda text: None) as fleet:
        return await assess(settings, fleet, _DECODING, iterations)
