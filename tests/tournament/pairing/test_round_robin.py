"""All ordered seatings, each once in a cycle, drawn one by one."""

from itertools import islice, permutations
from math import perm
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.tournament.pairing import matchmaking
from raybench.tournament.pairing.contract import Table
from raybench.tournament.pairing.round_robin import RoundRobin
from raybench.tournament.pairing.seats import seatings


def cycle(models: int, seats: int, seed: int = 0) -> list[Table]:
    chooser = RoundRobin(models, seats, Random(seed), cycles=1)
    tables = []
    while (table := chooser.draw()) is not None:
        tables.append(table)
    return tables


@given(models=st.integers(2, 7), seats=st.integers(2, 4), seed=st.integers(0, 99))
def test_a_cycle_has_every_ordered_seating_once(models: int, seats: int, seed: int) -> None:
    seats = min(models, seats)
    seated = [it for table in cycle(models, seats, seed) for it in seatings(table)]
    assert len(seated) == perm(models, seats)
    assert set(seated) == set(permutations(range(models), seats))


@given(models=st.integers(2, 24), seed=st.integers(0, 99))
def test_pairs_are_balanced_at_any_time(models: int, seed: int) -> None:
    chooser = RoundRobin(models, 2, Random(seed))
    played = [0] * models
    for _ in range(3 * models * models):  # some cycles
        a, b = chooser.draw() or (0, 0)
        played[a] += 1
        played[b] += 1
        assert max(played) - min(played) <= 1 + models % 2


@given(models=st.integers(3, 16), seats=st.integers(3, 6), seed=st.integers(0, 99))
def test_larger_tables_seat_all_evenly(models: int, seats: int, seed: int) -> None:
    seats = min(models, seats)
    chooser = RoundRobin(models, seats, Random(seed))
    sat = [0] * models
    for _ in range(20 * models):
        for member in chooser.draw() or ():
            sat[member] += 1
        assert max(sat) - min(sat) <= min(seats, 4)


def test_a_short_beginning_brings_everybody_together_with_many() -> None:
    """Not those alone whose numbers are near."""
    chooser = RoundRobin(30, 5, Random(1))
    known: dict[int, set[int]] = {i: set() for i in range(30)}
    for _ in range(60):  # two families of tables, at which all sit ten times
        table = chooser.draw() or ()
        for member in table:
            known[member] |= set(table) - {member}
    assert min(map(len, known.values())) >= 20


def test_the_next_cycle_has_another_order_and_new_seeds() -> None:
    names = [f"m{i}" for i in range(4)]
    pairing = matchmaking("round_robin", names, {"chess": 2}, seed=3, size=12)
    first, second = pairing.round(1, [], []), pairing.round(2, [], [])
    assert {it.seats for it in first} == {it.seats for it in second} == {*permutations(names, 2)}
    assert not {it.seed for it in first} & {it.seed for it in second}


def test_it_ends_after_the_cycles_that_are_wanted() -> None:
    pairing = matchmaking("round_robin", "abc", {"chess": 2}, seed=3, size=4, cycles=2)
    assert [len(pairing.round(number, [], [])) for number in range(1, 5)] == [4, 4, 4, 0]
    assert not pairing.endless


@pytest.mark.parametrize("seats", [2, 5, 10])
def test_it_is_lazy(seats: int) -> None:
    """A thousand models have 10^30 seatings at ten seats: else this would not end."""
    chooser = RoundRobin(1000, seats, Random(1))
    assert len(set(islice(iter(chooser.draw, None), 2000))) == 2000
