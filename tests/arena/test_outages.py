"""Silence: of one model, of all of them, in the middle of a run."""

import asyncio
import itertools
import zlib
from collections.abc import Callable, Sequence

import pytest
from assessing import obliging
from refusals import refused

from raybench.arena.decoding import Decoding
from raybench.arena.gathering import Gathering
from raybench.arena.known import Addresses, Known
from raybench.arena.table import Batch, Order
from raybench.arena.tables import Tables
from raybench.autobench.course import Course
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing
from raybench.autobench.steps import Ask, Reply, Step, drawn
from raybench.errors import RunFailed

pytestmark = pytest.mark.virtual_time

DECODING = Decoding({"task": 9, "task_rating": 9, "answer": 9, "answer_rating": 9})
DEAD = Reply(None, "error", "the line is dead")
FOUR = ("a", "b", "c", "d")

Policy = Callable[[Step, str], tuple[float, bool]]
"""After how long somebody replies to a step, and whether with anything."""


def fresh(ask: Ask) -> Reply:
    """Reply, with another task for every ask."""
    if ask.kind != "task":
        return obliging(ask)
    number = zlib.crc32(repr(ask.key).encode())
    return Reply(f"How would {ask.model} explain the number {number} to a child of seven?")


class Scripted:
    """A table whose models do as they are told."""

    def __init__(self, settings: Settings, policy: Policy) -> None:
        self._settings = settings
        self._policy = policy
        self._said: asyncio.Queue[Batch] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self.asked: list[tuple[int, str, str]] = []

    async def put(self, orders: Sequence[Order]) -> None:
        for order in orders:
            asks = order.step.asks(self._settings)
            for model in dict.fromkeys(asks[place].model for place in order.places):
                places = [place for place in order.places if asks[place].model == model]
                self.asked.append((order.step.iteration, order.step.kind, model))
                task = asyncio.create_task(self._say(order.step, model, asks, places))
                self._tasks.add(task)

    async def _say(
        self, step: Step, model: str, asks: Sequence[Ask], places: Sequence[int]
    ) -> None:
        wait, alive = self._policy(step, model)
        await asyncio.sleep(wait)
        replies = {place: fresh(asks[place]) if alive else DEAD for place in places}
        self._said.put_nowait(Batch(step.address, model, replies))

    async def pick_up(self) -> list[Batch]:
        return [await self._said.get()]

    def leave(self) -> None:
        raise AssertionError("it did not die")


async def play(
    settings: Settings, policy: Policy, iterations: int, at_once: int
) -> tuple[list[Record], Scripted]:
    table = Scripted(settings, policy)
    gathering = Gathering(
        Course(settings, Standing.start(settings), iterations, at_once=at_once),
        settings,
        Tables([table]),
        Addresses(dict.fromkeys(settings.everybody, ""), DECODING),
        Known(),
        keep=lambda came, asked: None,
    )
    async with asyncio.timeout(30):
        done = [each.record async for some in gathering.iterations() for each in some]
    return done, table


def without_d_as_a_generator(iterations: int) -> Settings:
    """Settings by whose seed d poses no task in the first iterations."""
    for seed in range(10_000):
        settings = Settings(FOUR, attempts=1, restarts=2, seed=seed)
        if all("d" not in drawn(n, settings).generators for n in range(1, iterations + 1)):
            return settings
    raise AssertionError("no such seed")


@pytest.mark.parametrize("waits", [{1: 0.01, 2: 0.03}, {1: 0.05, 2: 0.06}, {1: 0.03, 2: 0.01}])
async def test_no_iteration_is_lost_while_somebody_is_looked_for(waits: dict[int, float]) -> None:
    def only_d(step: Step, model: str) -> tuple[float, bool]:
        return (0.3, True) if model == "d" else (waits[step.iteration], False)

    records, _ = await play(without_d_as_a_generator(2), only_d, 2, 2)
    assert [record["iteration"] for record in records] == [1, 2]
    assert all(record["task"] is None for record in records)


@pytest.mark.parametrize("at_once", [1, 4, 20])
async def test_an_outage_in_the_middle_is_no_iteration_without_a_task(at_once: int) -> None:
    settings = Settings(FOUR, attempts=1, restarts=2, seed=1)
    records: list[Record] = []

    calls = itertools.count()

    def for_a_while(step: Step, model: str) -> tuple[float, bool]:
        return 0.001, next(calls) < 60

    table = Scripted(settings, for_a_while)
    gathering = Gathering(
        Course(settings, Standing.start(settings), 20, at_once=at_once), settings, Tables([table]),
        Addresses(dict.fromkeys(FOUR, ""), DECODING), Known(), keep=lambda came, asked: None,
    )  # fmt: skip
    with refused("model.unreachable", kind=RunFailed) as caught:
        async for some in gathering.iterations():
            records += [each.record for each in some]
    assert "dead" in str(caught.value)
    assert len(records) <= 7  # of 13 calls each
    assert all(record["task"] is not None for record in records)


async def test_a_judge_that_is_gone_is_no_outage_while_others_judge() -> None:
    settings = Settings(FOUR, judges=("y", "z"))
    records, _ = await play(settings, lambda step, model: (0.0, model != "z"), 4, 4)
    assert len(records) == 4
    assert all(set(record["judgments"]["z"].values()) == {None} for record in records)
    assert all(score is not None for score in records[-1]["scores"].values())


async def test_judges_that_are_all_gone_end_the_run_by_their_names() -> None:
    settings = Settings(FOUR, judges=("z",))
    with refused("model.unreachable", kind=RunFailed) as caught:
        await play(settings, lambda step, model: (0.0, model != "z"), 4, 4)
    assert "(z)" in str(caught.value) and "dead" in str(caught.value)


async def test_what_nobody_waits_for_does_not_hold_up_the_end() -> None:
    # Along a wrong path of an iteration that is over, steps may never come back.
    settings = Settings(FOUR, seed=3)
    records, _ = await play(settings, lambda step, model: (0.0, True), 3, 3)
    assert len(records) == 3


async def test_a_table_that_dies_twice_over_is_replaced_once() -> None:
    from ray.exceptions import ActorDiedError

    settings = Settings(FOUR)
    made: list[Scripted] = []

    class Dying(Scripted):
        """Dies when more is put onto it, and whoever waits for it hears so later."""

        async def put(self, orders: Sequence[Order]) -> None:
            if self._tasks:
                raise ActorDiedError()
            await super().put(orders)

        async def pick_up(self) -> list[Batch]:
            if len(self.asked) > 1:
                await asyncio.sleep(0.05)
                raise ActorDiedError()
            return await super().pick_up()

        def leave(self) -> None:
            pass

    class Living(Scripted):
        def leave(self) -> None:
            raise AssertionError("it did not die")

    def another() -> Scripted:
        made.append(Living(settings, lambda step, model: (0.0, True)))
        return made[-1]

    first = Dying(settings, lambda step, model: (0.0, True))
    gathering = Gathering(
        Course(settings, Standing.start(settings), 3, at_once=3), settings,
        Tables([first], another), Addresses(dict.fromkeys(FOUR, ""), DECODING), Known(),
        keep=lambda came, asked: None,
    )  # fmt: skip
    records = [each.record async for some in gathering.iterations() for each in some]
    assert len(records) == 3
    assert len(made) == 1
    assert len(made[0].asked) == len(set(made[0].asked))  # nobody is asked twice
