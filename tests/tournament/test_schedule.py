"""The same matches whatever the order in which they end, each once, and no more than wanted."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values
from tournament.playing import finish, models, play, wanted

from raybench.tournament.fixtures import Fixture, Result, derived
from raybench.tournament.pairing import WAYS, Pairing, matchmaking
from raybench.tournament.schedule import Progress, Schedule
from raybench.tournament.stopping import Budget, Narrow, Stop

NAMES = models(5)
STRENGTHS = {name: i / 2 for i, name in enumerate(NAMES)}
GAMES = {"chess": 2, "dice": 3}


def pairing(way: str = "information", *, seed: int = 1, size: int = 4) -> Pairing:
    return matchmaking(way, NAMES, GAMES, seed=seed, size=size)


def in_order(schedule: Schedule, seed: int = 0) -> dict[int, Result | None]:
    """Play one match at a time."""
    ended: dict[int, Result | None] = {}
    while not schedule.over:
        for number, fixture in wanted(schedule, 1):
            void = derived(seed, "void", number) % 11 == 0  # as `finish` has it
            ended[number] = None if void else play(fixture, STRENGTHS, seed)
            schedule.done(number, ended[number])
    return ended


def fifty(results: Sequence[Result]) -> float | None:
    """Say a width that is reached with about fifty results, whoever won."""
    return 1000 / max(1, len(results)) - sum(result.scores[0] for result in results) / 100


STOPS = [Stop(matches=61), Stop(narrow=Narrow(20, fifty)), Stop(90, narrow=Narrow(25, fifty))]
NEARLY = Stop(90, narrow=Narrow(20, lambda results: 21.0))
"""Seems to end soon again and again, so that all that is under way is waited for."""


@pytest.mark.parametrize("stop", STOPS, ids=["matches", "narrow", "both"])
@pytest.mark.parametrize("way", WAYS)
@examples(25)
@given(seed=st.integers(0, 2**32))
def test_any_order_of_ends_gives_the_same_matches(way: str, stop: Stop, seed: int) -> None:
    one = Schedule(pairing(way), stop)
    other = Schedule(pairing(way), stop)
    expected = in_order(one)
    assert finish(other, STRENGTHS, Random(seed)) == expected
    assert other.stopped == one.stopped
    assert sorted(expected) == [*range(1, len(expected) + 1)]


@pytest.mark.parametrize("stop", STOPS, ids=["matches", "narrow", "both"])
@pytest.mark.parametrize("way", WAYS)
@examples(25)
@given(seed=st.integers(0, 2**32), killed=st.integers(0, 60))
def test_killed_anywhere_it_goes_on_as_if_nothing_had_been(
    way: str, stop: Stop, seed: int, killed: int
) -> None:
    rng = Random(seed)
    expected = in_order(Schedule(pairing(way), stop))
    first = Schedule(pairing(way), stop)
    begun: dict[int, Fixture] = {}
    ended: dict[int, Result | None] = {}
    while len(ended) < killed and not first.over:
        begun |= dict(wanted(first, rng.randint(1, 9)))
        if under_way := [number for number in begun if number not in ended]:
            number = rng.choice(under_way)
            ended[number] = expected[number]
            first.done(number, ended[number])
    left = [number for number in begun if number not in ended]

    second = Schedule(pairing(way), stop, begun)
    for number in rng.sample(list(ended), len(ended)):
        second.done(number, ended[number])
    assert [number for number, _ in second.take(len(left))] == sorted(left)
    third = Schedule(pairing(way), stop, begun)  # killed again, before anything was done
    for number in rng.sample(list(ended), len(ended)):
        third.done(number, ended[number])
    assert ended | finish(third, STRENGTHS, rng) == expected


@pytest.mark.parametrize("stop", STOPS, ids=["matches", "narrow", "both"])
@pytest.mark.parametrize("way", WAYS)
def test_that_a_journal_has_all_matches_is_known_before_anything_is_taken(
    way: str, stop: Stop
) -> None:
    first = Schedule(pairing(way), stop)
    begun: dict[int, Fixture] = {}
    ended: dict[int, Result | None] = {}
    while not first.over:
        begun |= (taken := dict(wanted(first, 3)))
        ended |= (here := {number: play(it, STRENGTHS) for number, it in taken.items()})
        for number in taken:
            first.done(number, here[number])
    again, lacking = Schedule(pairing(way), stop, begun), Schedule(pairing(way), stop, begun)
    for number, result in ended.items():
        again.done(number, result)
        if number < len(ended):
            lacking.done(number, result)
    assert not again.unfinished() and again.over
    assert again.stopped == first.stopped
    assert lacking.unfinished()
    assert [number for number, _ in lacking.take(9)] == [len(ended)]


@pytest.mark.parametrize("way", ["information", "swiss"])
@pytest.mark.parametrize("stop", [*STOPS, NEARLY], ids=["matches", "narrow", "both", "nearly"])
@examples(25)
@given(seed=st.integers(0, 2**32))
def test_a_round_is_told_what_counts_and_what_is_to_come(way: str, stop: Stop, seed: int) -> None:
    """All that was drawn is one or the other, but for what came to nothing."""
    told: list[tuple[int, list[Fixture], list[Fixture]]] = []
    fixtures: list[Fixture] = []
    drawing = pairing(way)
    rounds = drawing.round

    def drawn(number: int, results: Sequence[Result], to_come: Sequence[Fixture]) -> list[Fixture]:
        told.append((len(fixtures), [it.fixture for it in results], list(to_come)))
        fixtures.extend(found := rounds(number, results, to_come))
        return found

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drawing, "round", drawn)
        ended = finish(Schedule(drawing, stop), STRENGTHS, Random(seed))
    for before, results, to_come in told:
        counts = before - len(to_come)
        assert to_come == fixtures[counts:before]
        assert results == [fixtures[i] for i in range(counts) if ended[i + 1] is not None]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("stop", STOPS, ids=["matches", "narrow", "both"])
def test_what_learns_from_results_is_slow_when_they_are_there(way: str, stop: Stop) -> None:
    """Whatever is looked at or learnt, `slow` has said so before."""
    learnt: list[bool] = []
    drawing = pairing(way)
    schedule = Schedule(drawing, stop)
    rounds, looks = drawing.round, Stop.width

    def drawn(number: int, results: Sequence[Result], to_come: Sequence[Fixture]) -> list[Fixture]:
        learnt.append(drawing.adaptive)
        return rounds(number, results, to_come)

    def looked(self: Stop, results: Sequence[Result]) -> float | None:
        learnt.append(self.narrow is not None)
        return looks(self, results)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(drawing, "round", drawn)
        patched.setattr(Stop, "width", looked)
        while not schedule.over:
            slow = schedule.slow(1)
            learnt.clear()
            taken = wanted(schedule, 1)
            assert slow or not any(learnt)
            for number, fixture in taken:
                assert not schedule.slow(0)
                schedule.done(number, play(fixture, STRENGTHS))


@pytest.mark.parametrize("matches", [1, 2, 7, 8, 9, 100])
def test_exactly_so_many_matches_are_played(matches: int) -> None:
    schedule = Schedule(pairing(), Stop(matches=matches))
    assert len(finish(schedule, STRENGTHS, Random(3))) == matches
    assert code(schedule.stopped) == "stopped.matches"
    assert values(schedule.stopped)["matches"] == matches
    assert schedule.take(5) == []


def test_the_next_round_begins_while_the_last_one_is_under_way_and_no_further_one() -> None:
    schedule = Schedule(pairing(size=6), Stop(matches=1000))
    first = schedule.take(1000)
    # Two rounds: for the third one the results of the first are wanted.
    assert schedule.take(1) == []
    size = len(first) // 2
    for number, fixture in first[: size - 1]:
        schedule.done(number, play(fixture, STRENGTHS))
    assert schedule.take(1) == []
    schedule.done(size, None)
    assert len(schedule.take(1000)) > 0
    assert schedule.progress == Progress(
        drawn=3, complete=1, under_way=schedule.progress.under_way, ended=size, void=1
    )


@pytest.mark.parametrize("way", ["random", "round_robin"])
def test_nothing_waits_where_nothing_depends_on_results(way: str) -> None:
    schedule = Schedule(pairing(way), Stop(matches=1000))
    assert len(schedule.take(2000)) == 1000


def test_where_only_the_end_depends_on_results_looks_alone_are_waited_for() -> None:
    never = Narrow(1, lambda results: None, least=1000)
    schedule = Schedule(pairing("random"), Stop(narrow=never))
    drawn = []
    for _ in range(8):
        begun = schedule.take(1000)
        drawn.append(schedule.progress.drawn)
        for number, fixture in begun:
            schedule.done(number, play(fixture, STRENGTHS))
    # All that was drawn has ended each time. Looks come after rounds 1 to 8, 10, 12, 15, 18, and
    # are wanted by the next round but one.
    assert drawn == [2, 4, 6, 8, 11, 13, 16, 19]


def root(results: Sequence[Result]) -> float | None:
    """Say a width that falls as widths do: 50 by 400 results."""
    return 1000 / math.sqrt(len(results)) if results else None


@pytest.mark.parametrize("points", [50, 30, 100])
@pytest.mark.parametrize("way", WAYS)
def test_hardly_more_begin_than_narrow_intervals_take(way: str, points: float) -> None:
    """However many could be under way at once: two rounds of 512 here."""
    looks: list[int] = []

    def look(results: Sequence[Result]) -> float | None:
        looks.append(len(results))
        return root(results)

    drawing = pairing(way, size=256)
    schedule = Schedule(drawing, Stop(narrow=Narrow(points, look, least=10)))
    played = 0
    while not schedule.over:
        begun = schedule.take(1000)
        played += len(begun)
        for number, fixture in begun:
            schedule.done(number, play(fixture, STRENGTHS))
    assert (1000 / points) ** 2 <= played <= (1000 / points) ** 2 + 10
    assert looks == sorted({*looks}), "nothing is looked at twice"
    stopped = values(schedule.stopped)
    assert (stopped["results"], stopped["matches"]) == (played, played)


def test_what_a_round_leaves_of_those_drawn_is_played_next() -> None:
    narrow = Stop(matches=200, narrow=Narrow(1, root, least=10))
    drawn = Schedule(pairing("round_robin", size=40), Stop(matches=200)).take(200)
    assert in_order(Schedule(pairing("round_robin", size=40), narrow)) == in_order(
        Schedule(pairing("round_robin", size=40), Stop(matches=200))
    )
    schedule = Schedule(pairing("round_robin", size=40), narrow)
    first = schedule.take(200)
    assert 10 <= len(first) < 40 and first == drawn[: len(first)]
    # The seatings of a table share a seed, and a round.
    assert drawn[len(first)][1].seed != first[-1][1].seed


def test_nothing_begins_once_the_budget_is_spent_and_what_is_under_way_is_finished() -> None:
    spent = [0.0]
    stop = Stop(matches=500, budgets=(Budget(10, "calls", lambda: spent[0]),))
    schedule = Schedule(pairing("random"), stop)
    begun = schedule.take(12)
    spent[0] = 11
    assert schedule.take(5) == []
    assert code(schedule.stopped) == "stopped.spent" and values(schedule.stopped)["spent"] == 11
    assert schedule.progress.under_way == 12
    for number, fixture in begun:
        schedule.done(number, play(fixture, STRENGTHS))
    assert schedule.over
    assert schedule.progress.ended == 12


@pytest.mark.parametrize("way", ["random", "information"])
def test_a_spent_budget_still_finishes_what_a_killed_run_had_begun(way: str) -> None:
    begun = dict(Schedule(pairing(way), Stop(matches=500)).take(14))
    schedule = Schedule(pairing(way), Stop(budgets=(Budget(10, "calls", lambda: 10),)), begun)
    schedule.done(3, play(begun[3], STRENGTHS))
    ended = finish(schedule, STRENGTHS, Random(1))
    assert sorted([3, *ended]) == sorted(begun)
    assert code(schedule.stopped) == "stopped.spent" and values(schedule.stopped)["spent"] == 10


def test_a_budget_that_ends_with_the_last_match_is_not_the_reason() -> None:
    spent = [0.0]
    stop = Stop(matches=6, budgets=(Budget(6, "calls", lambda: spent[0]),))
    schedule = Schedule(pairing("random"), stop)
    begun = schedule.take(6)
    spent[0] = 6
    assert schedule.take(1) == []
    assert code(schedule.stopped) == "stopped.matches"
    for number, fixture in begun:
        schedule.done(number, play(fixture, STRENGTHS))
    assert schedule.over


def test_a_round_robin_of_one_cycle_ends_by_itself() -> None:
    whole = matchmaking("round_robin", NAMES, GAMES, seed=1, size=10, cycles=1)
    schedule = Schedule(whole, Stop())
    assert len(finish(schedule, STRENGTHS, Random(1))) == 5 * 4 + 5 * 4 * 3
    assert code(schedule.stopped) == "stopped.all_met"


def test_matches_that_came_to_nothing_count_as_played_and_not_as_results() -> None:
    seen: list[int] = []

    def widest(results: Sequence[Result]) -> None:
        seen.append(len(results))

    narrow = Narrow(1, widest, least=1000)
    schedule = Schedule(pairing("random", size=10), Stop(60, narrow=narrow))
    while not schedule.over:
        for number, fixture in wanted(schedule, 1):
            schedule.done(number, None if number % 2 else play(fixture, STRENGTHS))
    assert schedule.progress.ended == 60
    assert schedule.progress.void == 30
    # After the first round: ten matches of chess, four tables of three at dice, half of them void.
    assert seen[0] == 11


def test_a_journal_of_another_configuration_is_refused() -> None:
    begun = dict(Schedule(pairing(seed=1), Stop(matches=20)).take(8))
    with pytest.raises(ValueError, match="match 1 "):
        Schedule(pairing(seed=2), Stop(matches=20), begun).take(1)
    begun[5] = replace(begun[5], game="poker")
    with pytest.raises(ValueError, match=r"match 5 .* poker"):
        Schedule(pairing(seed=1), Stop(matches=20), begun).take(1)


def test_fewer_matches_than_have_begun_are_refused_and_more_are_played() -> None:
    begun = dict(Schedule(pairing("random"), Stop(matches=50)).take(50))
    with pytest.raises(ValueError, match=r" 50\..* 40 "):
        Schedule(pairing("random"), Stop(matches=40), begun).take(50)
    longer = Schedule(pairing("random"), Stop(matches=70), begun)
    assert [number for number, _ in longer.take(100)] == [*range(1, 71)]


def test_results_that_cannot_be_are_refused() -> None:
    schedule = Schedule(pairing(), Stop(matches=20))
    (one, first), (two, second) = schedule.take(2)
    with pytest.raises(ValueError, match="is chess"):
        schedule.done(one, play(second, STRENGTHS))
    with pytest.raises(ValueError, match=r"2 seats.* 3 scores"):
        schedule.done(one, Result(first, (1, 0, -1)))
    schedule.done(two, play(second, STRENGTHS))
    with pytest.raises(ValueError, match="match 2 "):
        schedule.done(two, None)
    for number in (3, 4000):
        with pytest.raises(ValueError, match=f"match {number} "):
            schedule.done(number, None)


def test_without_any_end_it_does_not_begin() -> None:
    with pytest.raises(ValueError, match="nothing ends"):
        Schedule(pairing(), Stop())


@pytest.mark.parametrize("way", WAYS)
def test_a_match_takes_no_more_work_when_there_are_many(way: str) -> None:
    """Counted in calls, so that no clock decides; the last rounds against the first."""
    schedule = Schedule(pairing(way, size=20), Stop(matches=8_000))
    taken = []
    for _ in range(8):
        calls = 0

        def count(frame: object, event: str, argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        sys.setprofile(count)
        try:
            _play_thousand(schedule)
        finally:
            sys.setprofile(None)
        taken.append(calls)
    assert schedule.over
    assert taken[-1] < 1.5 * taken[1]


def _play_thousand(schedule: Schedule) -> None:
    for _ in range(1000):
        for number, fixture in schedule.take(1):
            scores = tuple(float(derived(number, name) % 7) for name in fixture.seats)
            schedule.done(number, Result(fixture, scores))
