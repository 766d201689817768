"""A pool's matches: the same whoever answers when, each once, never scored without an answer."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from arena.playing import (
    ABILITIES,
    Wayward,
    fleet_of,
    here,
    house,
    models,
    played,
    schedule,
    timeless,
)
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from raybench.arena.pool import Lines, rooms
from raybench.arena.room import Begun, Room, Told
from raybench.arena.seats import Seats
from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.link import Link
from raybench.fleet.simulated import SimulatedEngine
from raybench.tournament import records
from raybench.types import Completion, ModelSpec, Request

DICE = {"liars_dice": 2}
BOTH = {"chess": 2, "liars_dice": 2}


@examples(max_examples=15, deadline=None)
@given(st.integers(0, 999), st.integers(1, 20), st.sampled_from(["random", "swiss", "information"]))
def test_whoever_answers_when(seed: int, at_once: int, way: str) -> None:
    of = house(at_once=at_once)

    async def both() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        specs = models(unparsed=0.1)
        one = await played(
            here(fleet_of(SimulatedEngine(), specs), house(at_once=1)), house(), BOTH,
            way=way, at_once=1,
        )  # fmt: skip
        many = await played(
            here(fleet_of(Wayward(seed), specs), of), of, BOTH, way=way, at_once=at_once + 3
        )
        return one, many

    one, many = asyncio.run(both())
    assert timeless(one) == timeless(many)
    assert [it["match"] for it in many] == [*range(1, 25)]


async def test_turns_are_kept_as_they_happen_and_before_the_match_ends() -> None:
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(some)

    of = house()
    fleet = fleet_of(SimulatedEngine(), models(latency_s=0.01))
    found = await played(here(fleet, of), of, {"chess": 2}, 6, keep=keep)
    assert sorted(it["match"] for it in lines if "seats" in it) == [1, 2, 3, 4, 5, 6]
    told = [it for it in lines if "role" in it]
    assert told, "some match was seen before its end"
    for record in found:
        some = [it["reply"] for it in told if it["match"] == record["match"]]
        assert [it["reply"] for it in record["turns"]][: len(some)] == some
        assert record["seats"].keys() == {"white", "black"}
        assert set(record["turns"][0]) >= {
            "role", "model", "observation", "reply", "move", "error", "seconds", "tokens"
        }  # fmt: skip


@examples(max_examples=15, deadline=None)
@given(st.integers(1, 200), st.integers(0, 999))
def test_a_tournament_that_was_cut_off_goes_on_to_the_same_end(cut: int, seed: int) -> None:
    """Whatever of the journals had reached the disk, all turns before those that did had, too."""
    of, specs = house(), models(unparsed=0.1)

    async def whole() -> tuple[list[dict[str, Any]], list[dict[str, Any]], set[int]]:
        lines: list[dict[str, Any]] = []

        async def keep(some: Lines) -> None:
            lines.extend(json.loads(json.dumps([*some])))

        found = await played(here(fleet_of(Wayward(seed), specs), of), of, BOTH, keep=keep)
        kept = lines[:cut]
        # A record is written after its last turn: some of those that could be there are.
        length = {it["match"]: len(it["turns"]) for it in found}
        there = Counter(it["match"] for it in kept if "role" in it)
        done = {number for number, turns in there.items() if turns == length[number]}
        done = {number for number in done if number % 2}
        return found, kept, done

    async def rest(
        found: list[dict[str, Any]], kept: list[dict[str, Any]], done: set[int]
    ) -> list[dict[str, Any]]:
        unfinished: dict[int, records.Unfinished] = {}
        for line in kept:
            if line["match"] not in done:
                records.enter(unfinished, line)
        plan = schedule(BOTH, 24)
        ended = [it for it in found if it["match"] in done]
        begun = {it["match"]: records.kept(it).fixture for it in ended}
        begun |= {number: it.fixture for number, it in unfinished.items()}
        plan = type(plan)(plan.pairing, plan.stop, begun)
        for record in ended:
            plan.done(record["match"], records.kept(record).result)
        fleet = fleet_of(SimulatedEngine(), specs)
        return ended + await played(here(fleet, of), of, BOTH, unfinished=unfinished, plan=plan)

    found, kept, done = asyncio.run(whole())
    again = asyncio.run(rest(found, kept, done))
    again.sort(key=lambda record: int(record["match"]))
    assert timeless(again) == timeless(found)


class Failing(SimulatedEngine):
    """Loses replies: of the first requests, or all those of one model."""

    def __init__(self, first: int = 0, model: str = "") -> None:
        self._left = first
        self._model = model

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        return [self._or_lost(model.name, reply) for reply in replies]

    def _or_lost(self, model: str, reply: Completion) -> Completion:
        self._left -= 1
        if self._left >= 0 or model == self._model:
            return Completion.failed("connection refused")
        return reply


async def test_a_void_match_is_begun_anew_and_counts_once() -> None:
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(some)

    of = house()
    found = await played(here(fleet_of(Failing(first=3), models()), of), of, DICE, 8, keep=keep)
    assert [it["match"] for it in found] == [*range(1, 9)]
    assert all(it["void"] is None for it in found)
    assert sum(it["attempt"] for it in found) == 3


async def test_what_stays_void_is_told_and_never_scored() -> None:
    of, calls = house(), Counter[str]()

    def count(model: str, completion: Completion) -> None:
        calls[f"{model} {completion.finish}"] += 1

    fleet = fleet_of(Failing(model="c"), models())
    found = await played(here(fleet, of), of, DICE, 24, count=count)
    assert [it["match"] for it in found] == [*range(1, 25)]
    for record in found:
        if "c" in record["seats"].values():
            assert record["void"] == "c gave no reply: connection refused"
            assert (record["missing"], record["scores"], record["attempt"]) == ("c", {}, 2)
        else:
            assert record["void"] is None and record["scores"]
    assert calls["c error"] == 3 * sum("c" in it["seats"].values() for it in found)


async def test_an_outage_ends_the_run_and_nothing_of_it_is_told() -> None:
    of, found = house(), list[Any]()
    with pytest.raises(
        RunFailed, match=r"10 matches could not be played while nobody replied.*They do not"
    ):
        found += await played(here(fleet_of(Failing(first=9999), models()), of), of, DICE, 50)
    assert not found


async def test_a_few_matches_that_nobody_could_play_are_an_outage_too() -> None:
    of = house()
    with pytest.raises(RunFailed, match="4 matches could not be played"):
        await played(here(fleet_of(Failing(first=9999), models()), of), of, DICE, 4)


async def test_the_abler_win() -> None:
    of = house()
    found = await played(here(fleet_of(SimulatedEngine(), models()), of), of, DICE, 400)
    wins = Counter(
        model for it in found for role, model in it["seats"].items() if it["scores"][role] > 0
    )
    assert wins["a"] > wins["b"] > wins["d"]


class Mortal:
    """A room that dies after so much news."""

    def __init__(self, fleet: Fleet, lives: int) -> None:
        async def given() -> Fleet:
            return fleet

        self._room = Room(given, house())
        self._lives = lives

    async def put(self, orders: Sequence[Begun]) -> None:
        await self._room.put(orders)

    def leave(self) -> None:
        pass

    async def pick_up(self) -> list[Told]:
        from ray.exceptions import ActorDiedError

        self._lives -= 1
        if self._lives < 0:
            await self._room.close()
            raise ActorDiedError()
        return await self._room.pick_up()


async def test_an_actor_that_dies_is_replaced_and_matches_go_on() -> None:
    fleet, lives = fleet_of(SimulatedEngine(), models(unparsed=0.1)), iter([3, 0, 2, 10**9])
    opened = Seats([Mortal(fleet, 1)], lambda: Mortal(fleet, next(lives)))
    found = await played(opened, house(), BOTH, 60)
    alive = await played(here(fleet, house()), house(), BOTH, 60)
    assert timeless(found) == timeless(alive)
    assert next(lives, None) is None, "several have died"


@pytest.mark.slow
async def test_in_actors_as_here_also_where_one_is_killed() -> None:
    import ray

    conf, specs = FleetConf(), models(unparsed=0.1, latency_s=0.02)
    calls: Counter[str] = Counter()

    def count(model: str, completion: Completion) -> None:
        calls[model] += 1
        if calls.total() == 40:  # in the middle
            ray.kill(opened._seats[0]._handle)  # type: ignore[attr-defined]

    async with open_fleet(specs, conf, lambda text: None, ray=True) as fleet:
        link = Link.to(fleet, specs, conf)
        async with rooms(fleet, link, house(), actors=2, say=lambda text: None) as opened:
            found = await played(opened, house(), BOTH, 40, count=count)
    alone = await played(here(fleet_of(SimulatedEngine(), specs), house()), house(), BOTH, 40)
    assert timeless(found) == timeless(alone)
    assert set(calls) == {*ABILITIES}
