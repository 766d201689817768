"""The time left of a tournament, by the turns that its matches take."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest
from arena.playing import fleet_of, here, house, models, schedule
from time_left import watched
from virtual_time import now

from raybench.arena.pool import Lines, Pool
from raybench.experiments.games.match_progress import MatchProgress
from raybench.fleet.simulated import SimulatedEngine
from raybench.tournament.fixtures import Fixture
from raybench.tournament.records import Unfinished
from raybench.tournament.turns import Turn
from raybench.tracking.console import Progress
from raybench.types import Completion, ModelSpec, Request

SPEEDS = {"a": 0.5, "b": 1.0, "c": 2.0, "d": 5.0}


class Slow(SimulatedEngine):
    """Takes its time with each turn."""

    def __init__(self) -> None:
        super().__init__()
        self._random = random.Random(5)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        seconds = 4 / SPEEDS[model.name] * self._random.lognormvariate(-0.08, 0.4)
        await asyncio.sleep(seconds)
        return [replace(it, seconds=seconds) for it in await super().complete(model, requests)]


@pytest.mark.virtual_time
@pytest.mark.slow
@pytest.mark.parametrize("games", [{"chess": 2}, {"chess": 2, "liars_dice": 2}])
async def test_the_time_left_of_a_tournament(games: dict[str, int]) -> None:
    """Matches of chess are several times as long as those of liar's dice."""
    of, matches = house(at_once=8, rules={"chess": {"plies": 30}}), 48
    progress = Progress(matches, "matches", clock=now)
    turns = MatchProgress(progress, matches)
    progress.start()

    async def keep(lines: Lines) -> None:
        turns.take(lines)

    pool = Pool(
        schedule(games, matches), here(fleet_of(Slow(), models()), of), of,
        at_once=8, replays=2, keep=keep,
    )  # fmt: skip

    async def run() -> None:
        async with aclosing(pool.matches()) as ended:
            async for some in ended:
                turns.end(some)
                progress.advance(len(some))

    found = await watched(progress, run())
    assert found.error() < 0.3


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def turn(number: int, place: int) -> dict[str, Any]:
    model = "ab"[place % 2]
    return {"match": number, "attempt": 0, "turn": place, "model": model, "seconds": 2.0}


def record(number: int, turns: int) -> dict[str, Any]:
    told = [turn(number, place) for place in range(1, turns + 1)]
    return {"match": number, "game": "chess", "turns": told, "void": None}


def begun(number: int) -> dict[str, Any]:
    return {"match": number, "game": "chess", "seats": ["a", "b"]}


def test_there_is_no_time_left_before_a_match_has_ended() -> None:
    clock = Clock()
    progress = Progress(6, "matches", clock=clock)
    turns = MatchProgress(progress, 6)
    turns.take([begun(1), begun(2)])
    for place in range(1, 20):
        clock.now += 2
        turns.take([turn(1, place)])
    assert progress.eta() is None
    clock.now += 2
    turns.end([record(1, 20)])
    assert progress.eta() == pytest.approx(5 * 20 * 2, rel=0.2)


def test_turns_of_an_earlier_session_are_no_pace() -> None:
    clock = Clock()
    progress = Progress(10, "matches", done=8, clock=clock)
    turns = MatchProgress(progress, 2)
    earlier = [Turn("white", "a", "", "", "e4", "e4", None)] * 16
    turns.resume({9: Unfinished(Fixture("chess", ("a", "b"), 0), turns=earlier)})
    for place in (17, 18, 19):
        clock.now += 10
        turns.take([turn(9, place)])
    clock.now += 10
    turns.end([record(9, 20)])
    turns.take([begun(10)])
    for place in (1, 2):
        clock.now += 10
        turns.take([turn(10, place)])
    assert progress.eta() == pytest.approx(18 * 10, rel=0.2)


def test_matches_that_are_longer_than_all_that_ended_are_no_nearer_to_their_end() -> None:
    """Those that end first are short; the others may be of quite another kind."""
    clock = Clock()
    progress = Progress(4, "matches", clock=clock)
    turns = MatchProgress(progress, 4)
    turns.take([begun(number) for number in (1, 2, 3, 4)])
    for place in range(1, 31):
        clock.now += 2
        turns.take([turn(number, place) for number in (2, 3, 4)])
        if place == 4:
            turns.end([record(1, 4)])
    assert progress.eta() == pytest.approx(60, rel=0.1)
