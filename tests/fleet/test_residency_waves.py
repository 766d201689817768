"""Swaps of a peer assessment on one slot: they grow with its waves, not with its iterations."""

from perf.residency import ours, peers, played
from raybench.fleet.turns import Rules


def swaps(iterations: int, at_once: int) -> int:
    trace = peers(iterations, at_once, models=6)
    outcome = played(trace, ours(trace, Rules(host_gib=128.0)))
    assert outcome.swaps >= trace.bound
    return outcome.swaps


def test_all_at_once_four_times_the_iterations_take_hardly_more_swaps() -> None:
    assert swaps(40, at_once=40) <= 1.5 * swaps(10, at_once=10)


def test_one_after_the_other_four_times_the_iterations_take_four_times_the_swaps() -> None:
    few, many = swaps(10, at_once=1), swaps(40, at_once=1)
    assert 3.2 * few <= many <= 4.8 * few
    assert many >= 5 * swaps(40, at_once=40)


def test_waves_of_ten_take_as_many_swaps_each_however_many_there_are() -> None:
    few, many = swaps(20, at_once=10), swaps(40, at_once=10)
    assert 1.2 * few <= many <= 2.6 * few
