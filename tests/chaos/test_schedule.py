"""Schedules are of their seed alone, and have all that they were given happen once."""

from chaos.faults import FAULTS
from chaos.scenarios import SCENARIOS
from chaos.schedule import drawn
from hypothesis import given
from hypothesis import strategies as st


@given(st.integers(0, 2**32), st.lists(st.text(min_size=1), unique=True, max_size=9))
def test_everything_happens_once_along_the_run(seed: int, faults: list[str]) -> None:
    events = drawn(seed, faults)
    assert sorted(it.fault for it in events) == sorted(faults)
    shares = [it.after for it in events]
    assert shares == sorted(shares)
    assert all(0 < share < 1 for share in shares)
    assert events == drawn(seed, faults)


def test_other_seeds_are_other_schedules() -> None:
    assert len({tuple(drawn(seed, ["a", "b", "c"])) for seed in range(20)}) == 20


@given(st.integers(0, 2**32), st.integers(1, 9))
def test_one_of_those_there_is_picked(seed: int, count: int) -> None:
    (event,) = drawn(seed, ["a"])
    assert event.of(range(count)) in range(count)


def test_every_fault_happens_in_some_scenario() -> None:
    assert {name for it in SCENARIOS.values() for name in it.faults} == {*FAULTS}
