"""A pool's matches: the same whoever answers when, each once, never scored without an answer."""

import asyncio
import json
import math
import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
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
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from virtual_time import loop

from raybench import games
from raybench.arena.pool import Lines, Pool
from raybench.arena.room import Begun, Room, Told
from raybench.arena.rooms import rooms
from raybench.arena.seats import Seats
from raybench.config import FleetConf
from raybench.errors import RunFailed
from raybench.fleet import Fleet, open_fleet
from raybench.fleet.link import Link
from raybench.fleet.simulated import SimulatedEngine
from raybench.tournament import pairing, records
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.reliability import counts, failures, reliability
from raybench.tournament.schedule import Schedule
from raybench.tournament.stopping import Narrow, Stop
from raybench.tournament.turns import Turn
from raybench.types import Completion, ModelSpec, Request

DICE = {"liars_dice": 2}
BOTH = {"chess": 2, "liars_dice": 2}


@examples(5)
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


async def test_turns_are_kept_before_the_records_of_matches_that_ended_beside_them() -> None:
    """They were told of together: a kill between the two is to lose no turn."""
    told, kept, begun = list[Turn](), list[Any](), set[int]()

    class Telling(Room):
        async def put(self, orders: Sequence[Begun]) -> None:
            assert begun >= {order.number for order in orders}, "kept before any turn can come"
            await super().put(orders)

        async def pick_up(self) -> list[Told]:
            news = await super().pick_up()
            for each in news:
                told.extend(each.turns if each.ending is None else [])
            return news

    async def keep(some: Lines) -> None:
        kept.extend(it for it in some if "role" in it)
        begun.update(it["match"] for it in some if "seats" in it)

    async def given() -> Fleet:
        return fleet_of(SimulatedEngine(), models())

    of, beside = house(), 0
    pool = Pool(
        schedule(DICE, 24), Seats([Telling(given, of)]), of, at_once=10, replays=0, keep=keep
    )
    async with aclosing(pool.matches()) as ended:
        async for _ in ended:
            assert [it["reply"] for it in kept] == [it.reply for it in told]
            beside += bool(told)
            told.clear()
            kept.clear()
    assert beside > 3


@pytest.mark.virtual_time
@pytest.mark.parametrize("way", ["random", "information"])
async def test_a_long_look_at_the_intervals_holds_no_match_up(way: str) -> None:
    """Nor does it change which matches are played."""
    looks = asked = 0
    wanted, looking, went_on = math.inf, threading.Event(), threading.Event()

    class Asked(Wayward):
        async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
            nonlocal asked
            while loop().threads and not looking.is_set():  # the thread of a look has to begin
                await asyncio.sleep(0)
            asked += 1
            if asked >= wanted:
                went_on.set()
            return await super().complete(model, requests)

    def look(results: Sequence[Result]) -> float:
        nonlocal looks, wanted
        looks += 1
        wanted = asked + 1 if looks > 1 else math.inf
        looking.set()
        # The next round's matches are under way whenever the last but one is looked at. Should all
        # their requests have begun, the next look shows it.
        if looks > 1:
            went_on.wait(5)
        looking.clear()
        return 1000 / len(results)

    async def play(look: Callable[[Sequence[Result]], float]) -> list[dict[str, Any]]:
        of = house(rules={"chess": {"plies": 20}})
        plan = Schedule(
            pairing.matchmaking(way, [*ABILITIES], {"chess": 2}, seed=3, size=8),
            Stop(narrow=Narrow(30, look)),
        )
        fleet = fleet_of(Asked(seed=1), models())
        return await played(here(fleet, of), of, {"chess": 2}, at_once=12, plan=plan)

    found = await play(look)
    assert looks > 3 and len(found) >= 1000 / 30
    assert went_on.is_set(), "no request began during a look"
    assert timeless(found) == timeless(await play(lambda results: 1000 / len(results)))


@examples(5)
@given(st.integers(1, 200), st.integers(0, 999))
def test_a_tournament_that_was_cut_off_goes_on_to_the_same_end(cut: int, seed: int) -> None:
    """Whatever of the journals had reached the disk, all turns before those that did had, too.

    So it is where requests fail, and matches are begun anew: which ones do depends on their seeds.
    """
    of, specs = house(), models(unparsed=0.1, infra_error=0.03)

    async def whole() -> tuple[list[dict[str, Any]], list[dict[str, Any]], set[int]]:
        lines: list[dict[str, Any]] = []

        async def keep(some: Lines) -> None:
            lines.extend(json.loads(json.dumps([*some])))

        found = await played(
            here(fleet_of(Wayward(seed), specs), of), of, BOTH, keep=keep, replays=9
        )
        kept = lines[:cut]
        # A record is written after its last turn: some of those that could be there are.
        length = {it["match"]: len(it["turns"]) for it in found}
        last = {it["match"]: it["attempt"] for it in found}
        there = Counter(
            it["match"] for it in kept if "role" in it and it["attempt"] == last[it["match"]]
        )
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
        return ended + await played(
            here(fleet, of), of, BOTH, unfinished=unfinished, plan=plan, replays=9
        )

    found, kept, done = asyncio.run(whole())
    again = asyncio.run(rest(found, kept, done))
    again.sort(key=lambda record: int(record["match"]))
    assert [{**it, "failed": {}} for it in timeless(again)] == [
        {**it, "failed": {}} for it in timeless(found)
    ]
    for one, other in zip(found, again, strict=True):
        # What failed after the last line that was kept has failed twice, and is counted twice.
        assert len(one["given_up"]) == one["attempt"] == sum(one["failed"].values())
        more = Counter(other["failed"])
        more.subtract(one["failed"])
        assert 0 <= more.total() <= 1 and min(more.values(), default=0) >= 0


class Failing(SimulatedEngine):
    """Loses replies: of the first requests, or all those of one model."""

    def __init__(self, first: int = 0, model: str = "") -> None:
        super().__init__()
        self._left = first
        self._model = model
        self._lost = 0

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        return [self._or_lost(model.name, reply) for reply in replies]

    def _or_lost(self, model: str, reply: Completion) -> Completion:
        self._left -= 1
        if self._left >= 0 or model == self._model:
            self._lost += 1
            assert self._lost < 1000, "matches are begun anew without end"
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


class Limited(SimulatedEngine):
    """Has no reply to every so manieth request of a model, and counts what it was asked."""

    def __init__(self, model: str, every: int) -> None:
        super().__init__()
        self._model = model
        self._every = every
        self.failed = 0
        self.replies = 0
        self._asked = 0

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        replies = await super().complete(model, requests)
        return [self._or_not(model.name, reply) for reply in replies]

    def _or_not(self, model: str, reply: Completion) -> Completion:
        self._asked += model == self._model
        if model == self._model and self._asked % self._every == 0:
            self.failed += 1
            return Completion.failed("429 rate limit")
        self.replies += 1
        return reply


async def test_requests_that_fail_are_counted_though_every_match_is_played_in_the_end() -> None:
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(json.loads(json.dumps([*some])))

    of, engine = house(), Limited("c", 4)
    rooms = here(fleet_of(engine, models()), of)
    found = [records.kept(it) for it in await played(rooms, of, DICE, 60, keep=keep, replays=20)]
    assert engine.failed > 10 and all(it.void is None for it in found)
    counted = counts(reliability(found, [*ABILITIES]), found)
    assert {model: it.infra_error for model, it in counted.items()} == {
        "a": 0, "b": 0, "c": engine.failed, "d": 0
    }  # fmt: skip
    told = [*failures(found)]
    void = told[0]["why"]
    assert str(void).startswith("c ") and str(void).endswith(": 429 rate limit")
    assert len(told) == engine.failed
    for each in told:
        assert (each["kind"], each["model"]) == ("begun anew", "c")
        assert each["why"] == void
    # The journal of turns has each of them, too, and what becomes of a match before its turns.
    assert sum(it["failed"]["c"] for it in lines if "failed" in it) == engine.failed
    attempts: dict[int, int] = {}
    for line in lines:
        if "void" in line:
            assert line["attempt"] == attempts.get(line["match"], 0) == line["next"] - 1
            assert (line["void"], line["missing"]) == (void, "c")
            attempts[line["match"]] = line["next"]
        elif "role" in line:
            assert line["attempt"] == attempts.get(line["match"], 0)


async def test_a_match_that_is_begun_anew_is_played_with_other_seeds() -> None:
    """With the same ones, whatever made it void would come back."""
    asked = list[int | None]()

    class Seeded(Limited):
        async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
            asked.extend(request.seed for request in requests)
            return await super().complete(model, requests)

    of, engine = house(), Seeded("c", 4)
    found = await played(here(fleet_of(engine, models()), of), of, DICE, 60, replays=20)
    assert sum(it["attempt"] for it in found) > 10
    assert None not in asked and len({*asked}) == len(asked)


async def test_turns_of_attempts_that_are_given_up_are_kept() -> None:
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(some)

    of, engine = house(), Limited("c", 4)
    found = await played(here(fleet_of(engine, models()), of), of, DICE, 60, keep=keep, replays=20)
    last = {it["match"]: it["attempt"] for it in found}
    lost = [it for it in lines if "role" in it and it["attempt"] < last[it["match"]]]
    assert lost and len(lost) + sum(len(it["turns"]) for it in found) == engine.replies


async def test_replays_are_counted_over_all_sessions() -> None:
    """Killed after each time that it is begun anew, a match is so no more often than in one."""
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(json.loads(json.dumps([*some])))
        if any("void" in it and it["next"] > it["attempt"] for it in some):
            raise Killed

    attempts, of = list[int](), house()
    while len(attempts) < 5:
        unfinished: dict[int, records.Unfinished] = {}
        for line in lines:
            records.enter(unfinished, line)
        attempts += [it.attempt for it in unfinished.values()]
        plan = schedule(DICE, 1)
        plan = type(plan)(plan.pairing, plan.stop, {n: it.fixture for n, it in unfinished.items()})
        rooms = here(fleet_of(Failing(first=99), models()), of)
        try:
            await played(rooms, of, DICE, plan=plan, keep=keep, unfinished=unfinished)
        except Killed:
            continue
        except RunFailed:
            break
    assert attempts == [1, 2]
    final: dict[int, records.Unfinished] = {}
    for line in lines:
        records.enter(final, line)
    assert final[1].failed.total() == 3, "each of its attempts"
    assert [it.void.partition(": ")[2] for it in final[1].given_up] == ["connection refused"] * 2
    assert final[1].replays == 2, "an outage is forgiven: the next session tries it as often anew"


class Killed(Exception):
    """As if the process had been killed."""


async def test_a_match_whose_rules_changed_begins_anew_and_the_journal_says_why() -> None:
    lines: list[Any] = []

    async def keep(some: Lines) -> None:
        lines.extend(some)

    ((_, fixture),) = schedule(DICE, 1).take(1)
    odd = Turn("player_1", "a", "bid", "", "Move: bid 99 6", "bid 99 6", None)
    started = records.Unfinished(fixture, 0, [odd])
    of, plan = house(), schedule(DICE, 1)
    plan = type(plan)(plan.pairing, plan.stop, {1: fixture})
    rooms = here(fleet_of(SimulatedEngine(), models()), of)
    (found,) = await played(rooms, of, DICE, plan=plan, keep=keep, unfinished={1: started})
    assert (found["attempt"], found["void"]) == (1, None)
    (given_up,) = found["given_up"]
    why = given_up["void"]
    assert why and (given_up["attempt"], given_up["missing"]) == (0, None)
    assert (lines[0]["void"], lines[0]["next"], lines[0]["replays"]) == (why, 1, 2)


async def test_a_verdict_that_nobody_can_read_does_not_stop_a_run_that_was_cut_off_there() -> None:
    """Its turn had reached the disk, and what came of it had not."""
    state, turns, rng = games.load("debate").new(1), list[Turn](), random.Random(0)
    while state.to_move not in (None, games.MANAGER):
        said = state.sample(rng)
        turns.append(Turn(state.to_move or "", "a", "speech", "", said, said, None))
        state = state.apply(said)
    assert isinstance(state.needed, games.Jury)
    vote = {"juror": "x", "replies": [None] * len(state.needed.prompts)}
    cast = json.dumps({"votes": [vote]})
    turns.append(Turn(games.MANAGER, "", "manage", "", cast, cast, None, calls=0))
    of = house(jurors=("x",))
    plan = schedule({"debate": 2}, 1)
    ((_, fixture),) = schedule({"debate": 2}, 1).take(1)
    fixture = replace(fixture, seed=1)

    class One:
        endless = adaptive = False

        def round(self, number: int, results: object, to_come: object) -> list[Fixture]:
            return [fixture] if number == 1 else []

    plan = type(plan)(One(), plan.stop, {1: fixture})
    specs = [*models(), ModelSpec("x", "simulated", "")]
    rooms = here(fleet_of(SimulatedEngine(), specs), of)
    (found,) = await played(
        rooms, of, {"debate": 2}, plan=plan, unfinished={1: records.Unfinished(fixture, 0, turns)}
    )
    assert (found["attempt"], found["void"]) == (1, None)
    assert (found["given_up"][0]["missing"], found["given_up"][0]["attempt"]) == (None, 0)


async def test_what_stays_void_is_told_and_never_scored() -> None:
    of, calls = house(), Counter[str]()

    def count(model: str, completion: Completion) -> None:
        calls[f"{model} {completion.finish}"] += 1

    fleet = fleet_of(Failing(model="c"), models())
    found = await played(here(fleet, of), of, DICE, 24, count=count)
    assert [it["match"] for it in found] == [*range(1, 25)]
    for record in found:
        if "c" in record["seats"].values():
            assert record["void"].endswith(": connection refused")
            assert (record["missing"], record["scores"], record["attempt"]) == ("c", {}, 2)
        else:
            assert record["void"] is None and record["scores"]
    assert calls["c error"] == 3 * sum("c" in it["seats"].values() for it in found)


async def test_an_outage_ends_the_run_and_nothing_of_it_is_told() -> None:
    of, found = house(), list[Any]()
    with refused("model.unreachable", kind=RunFailed) as caught:
        found += await played(here(fleet_of(Failing(first=9999), models()), of), of, DICE, 50)
    assert str(caught.value).startswith("10 ")
    assert not found


async def test_scripts_are_nobody_who_can_be_reached() -> None:
    of, found = house(scripts={"d": "random"}), list[Any]()
    with refused("model.unreachable", kind=RunFailed):
        found += await played(here(fleet_of(Failing(first=9999), models()), of), of, DICE, 50)
    assert not found


async def test_a_few_matches_that_nobody_could_play_are_an_outage_too() -> None:
    of = house()
    with refused("model.unreachable", kind=RunFailed) as caught:
        await played(here(fleet_of(Failing(first=9999), models()), of), of, DICE, 4)
    assert str(caught.value).startswith("4 ")


async def test_who_plays_does_not_judge_and_all_others_do() -> None:
    """And what jurors are asked is counted, too."""
    of, counted = house(jurors=[*ABILITIES]), Counter[str]()

    def count(model: str, completion: Completion) -> None:
        counted[model] += 1

    engine = Limited("", 1)
    found = await played(here(fleet_of(engine, models()), of), of, {"debate": 2}, 12, count=count)
    assert counted.total() == engine.replies
    for record in found:
        moves = [it["move"] for it in record["turns"] if it["role"] == games.MANAGER]
        assert record["void"] is None and moves
        for move in moves:
            judging = [vote["juror"] for vote in json.loads(move)["votes"]]
            assert judging == sorted({*ABILITIES} - {*record["seats"].values()})


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


@pytest.mark.ray
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


async def test_what_matches_were_drawn_with_is_recorded() -> None:
    games, many = {"chess": 2, "liars_dice": 2}, house(greedy=frozenset("ab"))
    found = await played(here(fleet_of(SimulatedEngine(), models()), many), many, games, 60)
    by_table: dict[str, set[int]] = {}
    for record in found:
        models_of, table = {*record["seats"].values()}, records.kept(record).drawn_with
        if record["game"] == "chess" and models_of == {"a", "b"}:
            assert table.startswith("chess: a, b: ")
            by_table.setdefault(table, set()).add(record["seed"])
        else:
            assert table == str(record["seed"])
    assert by_table, "they have met"
