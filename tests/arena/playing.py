"""Tournaments of tests: stand-ins at liar's dice and chess, in this process or in actors."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from raybench.arena.chair import Decoding
from raybench.arena.pool import Lines, Pool
from raybench.arena.room import House, Room
from raybench.arena.rooms import Rooms
from raybench.arena.seats import Seats
from raybench.fleet import Fleet, group_engines
from raybench.fleet.simulated import SimulatedEngine
from raybench.tournament import pairing, records
from raybench.tournament.match import Terms
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Stop
from raybench.types import Completion, ModelSpec, Request

ABILITIES = {"a": 0.9, "b": 0.6, "c": 0.4, "d": 0.1}


def models(**options: float) -> list[ModelSpec]:
    return [
        ModelSpec(name, "simulated", "", options={"ability": ability, **options})
        for name, ability in ABILITIES.items()
    ]


class Wayward(SimulatedEngine):
    """Answers when it likes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        for _ in range(self._rng.choice([0, 1, 2, 5, 30])):
            await asyncio.sleep(0)
        return replies


def fleet_of(engine: SimulatedEngine, specs: Sequence[ModelSpec]) -> Fleet:
    (spec,) = group_engines(specs)
    return Fleet([spec], {spec.name: engine})


def house(**more: Any) -> House:
    given: dict[str, Any] = {
        "rules": {"chess": {"plies": 12}},
        "terms": Terms(),
        "decoding": Decoding({"line": 64, "text": 64, "code": 64}),
        "stand_ins": frozenset(ABILITIES),
        "at_once": 8,
    }
    return House(**given | more)


def schedule(games: Mapping[str, int], matches: int, way: str = "random") -> Schedule:
    return Schedule(
        pairing.matchmaking(way, [*ABILITIES], games, seed=3, size=4), Stop(matches=matches)
    )


async def nowhere(lines: Lines) -> None:
    """Keep nothing."""


async def played(
    rooms: Rooms,
    of: House,
    games: Mapping[str, int],
    matches: int = 24,
    *,
    way: str = "random",
    at_once: int = 10,
    replays: int = 2,
    keep: Callable[[Lines], Any] = nowhere,
    count: Callable[[str, Completion], None] = lambda model, completion: None,
    unfinished: Mapping[int, records.Unfinished] = {},
    plan: Schedule | None = None,
) -> list[dict[str, Any]]:
    """Play, and return the records in the order of their numbers."""
    plan = plan or schedule(games, matches, way)
    pool = Pool(
        plan,
        rooms,
        of,
        at_once=at_once,
        replays=replays,
        keep=keep,
        count=count,
        unfinished=unfinished,
    )
    found = []
    async with aclosing(pool.matches()) as ended:
        async for some in ended:
            found += some
            # Else it would go on for ever, and the test with it.
            assert plan.stop.matches is None or plan.progress.ended <= plan.stop.matches
    return sorted(found, key=lambda record: int(record["match"]))


def here(fleet: Fleet, of: House) -> Rooms:
    """One room in this process."""

    async def given() -> Fleet:
        return fleet

    return Seats([Room(given, of)])


def timeless(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return records without what a clock says."""
    return [
        {name: it for name, it in record.items() if name not in ("seconds", "ended_ms")}
        for record in found
    ]
