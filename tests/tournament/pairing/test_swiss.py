"""Who has done alike meets next, and nobody meets again while that can be helped."""

from collections import Counter
from itertools import combinations, pairwise
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.tournament.pairing.contract import Seated, Table
from raybench.tournament.pairing.seats import met
from raybench.tournament.pairing.swiss import Swiss, pairs


def passes(count: int, seats: int, number: int, seed: int = 0) -> list[list[Table]]:
    """Return passes in which the lower number always wins; results come one pass later."""
    chooser = Swiss(count, seats, Random(seed))
    drawn: list[list[Table]] = []
    for i in range(number):
        late = drawn[i - 2] if i >= 2 else []
        results: list[Seated] = [
            (table, tuple(-float(member) for member in table)) for table in late
        ]
        chooser.learn(results, [])
        drawn.append([chooser.draw() for _ in range(count // seats)])
    return drawn


@given(count=st.integers(2, 13), seats=st.integers(2, 5), seed=st.integers(0, 99))
def test_everybody_sits_once_in_a_pass_and_sitting_out_goes_round(
    count: int, seats: int, seed: int
) -> None:
    seats = min(count, seats)
    out: Counter[int] = Counter(dict.fromkeys(range(count), 0))
    for tables in passes(count, seats, 6, seed):
        sitting = [member for table in tables for member in table]
        assert len(set(sitting)) == len(sitting) == count - count % seats
        out.update(set(range(count)) - set(sitting))
        assert max(out.values()) - min(out.values()) <= 1


@pytest.mark.parametrize(("count", "seats"), [(6, 4), (8, 5), (10, 4), (7, 3)])
def test_it_is_not_always_the_same_who_sit_out_together(count: int, seats: int) -> None:
    meetings = Counter(
        pair for tables in passes(count, seats, 60) for table in tables for pair in met(table)
    )
    assert len(meetings) == count * (count - 1) // 2
    assert max(meetings.values()) <= 1.4 * min(meetings.values())


@pytest.mark.parametrize("count", [4, 6, 8, 7])
@pytest.mark.parametrize("seed", range(5))
def test_nobody_meets_twice_before_it_has_to_be(count: int, seed: int) -> None:
    met_before: set[tuple[int, int]] = set()
    for tables in passes(count, 2, count, seed):
        now = {pair for table in tables for pair in met(table)}
        playing = [member for table in tables for member in table]
        if now & met_before:
            assert not _possible(playing, met_before)
            break
        met_before |= now
    assert len(met_before) >= count // 2 * 3  # three passes at least go without


def _possible(left: list[int], met_before: set[tuple[int, int]]) -> bool:
    """Tell whether all can be paired with somebody new, by trying everything."""
    if not left:
        return True
    first, *others = sorted(left)
    return any(
        (first, other) not in met_before
        and _possible([it for it in others if it != other], met_before)
        for other in others
    )


@given(st.data())
def test_pairs_are_found_wherever_there_are_some(data: st.DataObject) -> None:
    every = list(combinations(range(8), 2))
    known = data.draw(st.sets(st.sampled_from(every)))
    found = pairs(range(8), Counter(known))
    again = {pair for table in found for pair in met(table)} & known
    assert sorted(it for table in found for it in table) == list(range(8))
    assert bool(again) is not _possible(list(range(8)), known)


def test_those_who_did_alike_meet() -> None:
    drawn = passes(64, 2, 8)
    apart = [fmean(abs(a - b) for a, b in tables) for tables in drawn]
    assert apart[0] > 15  # at random
    assert fmean(apart[5:]) < apart[0] / 1.5  # near ones have met before, so not ever less


def test_larger_tables_seat_those_who_did_alike_and_have_met_least() -> None:
    drawn = passes(60, 4, 10)
    apart = [fmean(max(table) - min(table) for table in tables) for tables in drawn]
    assert apart[0] > 30
    assert fmean(apart[5:]) < apart[0] / 1.5
    meetings = Counter(pair for tables in drawn for table in tables for pair in met(table))
    assert max(meetings.values()) <= 2


def test_standings_do_not_depend_on_how_results_come_in_rounds() -> None:
    table: Seated = ((0, 1), (1.0, -1.0))
    once, twice = Swiss(4, 2, Random(1)), Swiss(4, 2, Random(1))
    once.learn([table, table], [])
    twice.learn([table], [])
    twice.learn([table], [])
    assert [once.draw() for _ in range(9)] == [twice.draw() for _ in range(9)]


def test_many_models_are_paired_fast_even_when_nearly_all_have_met() -> None:
    chooser = Swiss(40, 2, Random(2))
    chooser.learn([], [])
    tables = [chooser.draw() for _ in range(20 * 60)]
    meetings = Counter(pair for table in tables for pair in met(table))
    assert max(meetings.values()) - min(meetings.get(p, 0) for p in combinations(range(40), 2)) <= 3
    assert all(len(set(a) & set(b)) == 0 for a, b in pairwise(tables[:20]))
