"""Random tables at which everybody sits equally often."""

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from tournament.playing import models, seat_counts

from raybench.tournament.pairing import matchmaking
from raybench.tournament.pairing.random_balanced import RandomBalanced
from raybench.tournament.pairing.seats import met


@given(count=st.integers(2, 12), seats=st.integers(2, 10), seed=st.integers(0, 99))
def test_nobody_sits_at_more_than_one_table_more_than_others(
    count: int, seats: int, seed: int
) -> None:
    chooser = RandomBalanced(count, seats, Random(seed))
    sat: Counter[int] = Counter(dict.fromkeys(range(count), 0))
    for _ in range(5 * count):
        table = chooser.draw()
        at_table = Counter(table)
        assert len(table) == seats
        if seats <= count:
            assert max(at_table.values()) == 1
        else:  # as evenly as it can be
            assert len(at_table) == count
            assert max(at_table.values()) - min(at_table.values()) <= 1
        sat.update(table)
        assert max(sat.values()) - min(sat.values()) <= 1


@given(count=st.integers(2, 12), seats=st.integers(2, 6), seed=st.integers(0, 99))
def test_every_prefix_is_balanced_by_seat(count: int, seats: int, seed: int) -> None:
    names = models(count)
    seats = min(seats, count)
    pairing = matchmaking("random", names, {"game": seats}, seed=seed, size=10 * count)
    fixtures = pairing.round(1, [], [])
    for end in range(1, len(fixtures) + 1):
        counts = seat_counts(fixtures[:end], names)
        for sat in counts.values():
            # Two only inside a table that spans two deals.
            allowed = 1 if count % seats == 0 or end % seats == 0 else 2
            assert max(sat) - min(sat) <= allowed


def test_all_pairs_come_about_equally_often() -> None:
    chooser = RandomBalanced(7, 3, Random(5))
    pairs = Counter(pair for _ in range(7000) for pair in met(chooser.draw()))
    assert len(pairs) == 21
    assert all(900 < often < 1100 for often in pairs.values())  # 1000 ± 3.3 standard deviations
