"""Many iterations at once make the records of one after the other, whoever answers when."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from examples import examples
from hypothesis import given, reject
from hypothesis import strategies as st
from refusals import refused

from raybench.arena.assessment import assess
from raybench.arena.decoding import Decoding
from raybench.arena.gathering import Came, Gathering, Keep, Skip
from raybench.arena.known import Addresses, Known
from raybench.arena.table import Batch, Order, Table
from raybench.arena.tables import Tables, tables
from raybench.autobench.course import Course
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Kind, Reply
from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import Fleet, group_engines, open_fleet
from raybench.fleet.link import Link
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Completion, ModelSpec, Request

DECODING = Decoding({"task": 64, "task_rating": 16, "answer": 64, "answer_rating": 16})
ABILITIES = {"a": 0.85, "b": 0.6, "c": 0.45, "d": 0.3}
MODELS = [
    ModelSpec(name, "simulated", "", options={"ability": ability, "infra_error": 0.02})
    for name, ability in ABILITIES.items()
]


class Wayward(SimulatedEngine):
    """Answers when it likes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._rng = random.Random(seed)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        for _ in range(self._rng.choice([0, 1, 2, 5, 30])):
            await asyncio.sleep(0)
        return await super().complete(model, requests)


async def _fleet() -> Fleet:
    return fleet_of(SimulatedEngine())


def fleet_of(engine: SimulatedEngine) -> Fleet:
    (spec,) = group_engines(MODELS)
    return Fleet([spec], {spec.name: engine})


def timeless(records: Sequence[Record]) -> list[Record]:
    return [
        {name: value for name, value in record.items() if name not in ("seconds", "ended_ms")}
        for record in records
    ]


@examples(12)
@given(
    st.integers(0, 1000), st.integers(1, 12), st.sampled_from([0.0, 30.0, 1e9]),
    st.sampled_from([2.5, 3.0]), st.sampled_from([(), ("a",), ("b", "c")]),
)  # fmt: skip
def test_whoever_answers_when(
    seed: int, at_once: int, budget: float, threshold: float, judges: tuple[str, ...]
) -> None:
    settings = Settings(
        tuple(ABILITIES), judges=judges, mean_threshold=threshold, median_threshold=threshold - 1,
        seed=seed,
    )  # fmt: skip

    async def both() -> tuple[list[Record], list[Record]]:
        one = await assess(settings, fleet_of(SimulatedEngine()), DECODING, 10)
        wayward = fleet_of(Wayward(seed))
        many = await assess(settings, wayward, DECODING, 10, at_once=at_once, budget=budget)
        return one, many

    try:
        one, many = asyncio.run(both())
    except RunFailed:
        reject()  # the only judge was silent twice in a row: that is an outage, as it should be
    assert timeless(many) == timeless(one)


class Mortal:
    """A table that dies after so many batches."""

    def __init__(self, lives: int) -> None:
        self._table = Table(self._fleet, SETTINGS, DECODING)
        self._lives = lives
        self.left = False

    async def _fleet(self) -> Fleet:
        return fleet_of(SimulatedEngine())

    async def put(self, orders: Sequence[Order]) -> None:
        await self._table.put(orders)

    def leave(self) -> None:
        self.left = True

    async def pick_up(self) -> list[Batch]:
        from ray.exceptions import ActorDiedError

        self._lives -= 1
        if self._lives < 0:
            await self._table.clear()
            raise ActorDiedError()
        return (
            (await self._table.pick_up())[:1] if self._lives == 0 else await self._table.pick_up()
        )


SETTINGS = Settings(tuple(ABILITIES))


async def play(
    opened: Tables,
    iterations: int = 6,
    keep: Keep = lambda came, asked: None,
    *,
    known: Known | None = None,
    skip: Skip = lambda counts: None,
) -> list[Record]:
    gathering = Gathering(
        Course(SETTINGS, Standing.start(SETTINGS), iterations, at_once=3, budget=100),
        SETTINGS,
        opened,
        Addresses(dict.fromkeys(ABILITIES, ""), DECODING),
        known or Known(),
        keep=keep,
        skip=skip,
    )
    return [each.record async for done in gathering.iterations() for each in done]


async def test_it_is_told_how_many_replies_need_not_be_asked_for() -> None:
    every: dict[str, Reply] = {}
    asked = 0

    def keep(came: Sequence[Came], new: bool) -> None:
        nonlocal asked
        for _, _, replies in came:
            every.update(replies)
            asked += len(replies) if new else 0

    skipped: Counter[tuple[str, Kind]] = Counter()
    table = Table(_fleet, SETTINGS, DECODING)
    undisturbed = await play(Tables([table]), keep=keep, skip=skipped.update)
    assert not skipped
    total, asked = len(every), 0
    places = sorted(where for where, reply in every.items() if reply.finish != "error")
    own, earlier, shared = ({it: every[it] for it in places[n::4]} for n in range(3))
    known = Known(own, earlier, shared)
    again = await play(Tables([table]), keep=keep, known=known, skip=skipped.update)
    assert timeless(again) == timeless(undisturbed)
    assert skipped.total() == len(own) + len(earlier)  # others have counted what they share
    assert asked == total - len(own) - len(earlier) - len(shared)


async def test_what_a_table_was_asked_when_it_died_another_is_asked() -> None:
    undisturbed = await assess(SETTINGS, fleet_of(SimulatedEngine()), DECODING, 6)
    made: list[Mortal] = []

    def another() -> Mortal:
        made.append(Mortal(lives=3))
        return made[-1]

    found = await play(Tables([another(), another()], another))
    assert timeless(found) == timeless(undisturbed)
    assert len(made) > 4
    assert [seat.left for seat in made].count(False) == 2  # the last ones


async def test_tables_that_die_one_after_the_other_end_the_run() -> None:
    with refused("ray.lost", kind=RunFailed) as caught:
        await play(Tables([Mortal(0)], lambda: Mortal(0)))
    assert str(caught.value).startswith("4 ")


async def test_a_mistake_of_ours_is_told_as_it_is() -> None:
    class Broken(SimulatedEngine):
        async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
            raise LookupError("this is no model's fault")

    with pytest.raises(LookupError, match="no model's fault"):
        await assess(SETTINGS, fleet_of(Broken()), DECODING, 2)


@pytest.mark.usefixtures("on_lasting_ray")
async def test_actors_of_the_cluster_make_the_same_records_also_when_one_is_killed() -> None:
    import ray

    undisturbed = await assess(SETTINGS, fleet_of(SimulatedEngine()), DECODING, 12)
    slow = [replace(it, options={**it.options, "latency_s": 0.1}) for it in MODELS]
    async with open_fleet(slow, FleetConf(), lambda text: None, ray=True) as fleet:
        link = Link.to(fleet, slow, FleetConf())
        async with tables(fleet, link, SETTINGS, DECODING, actors=2, say=print) as opened:
            first = opened._seats[0]
            calls = itertools.count()

            def kill(came: Sequence[Came], asked: bool) -> None:
                if next(calls) == 12:
                    ray.kill(first._handle)  # type: ignore[attr-defined]

            found = await play(opened, 12, kill)
            replaced = opened._seats[0] is not first
    assert timeless(found) == timeless(undisturbed)
    assert replaced
