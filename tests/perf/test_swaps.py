"""perf/swaps.py, small: the scheduler of engines stays near the swaps that every schedule needs."""

import pytest

from perf.swaps import Trace, games, hle, new_scheduler, peers, play, rules_of
from perf.swaps_simulation import Listed, OnDemand, Request, simulate

PEERS = peers()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trace", "most"),
    [(PEERS, 1.5), (hle(questions=600), 2.0), (games(models=6, each=4), 1.25)],
    ids=["peers", "hle", "games"],
)
def test_swaps_stay_near_what_no_schedule_can_do_without(trace: Trace, most: float) -> None:
    """The bound of `peers` leaves out generators and unknown weights, that of `hle` the judge.

    The judge is a referee: it comes in between any two of the models that it judges.
    """
    rules = rules_of()
    outcome = play(trace, new_scheduler(trace, rules))
    assert trace.bound <= outcome.swaps <= most * trace.bound
    assert outcome.longest_wait <= rules.patience_s


@pytest.mark.slow
def test_swaps_take_less_time_than_on_demand() -> None:
    raybench = play(PEERS, new_scheduler(PEERS, rules_of()))
    on_demand = play(PEERS, OnDemand())
    assert PEERS.steps is not None
    assert 20 * raybench.swaps < PEERS.steps
    assert 1.5 * raybench.swaps < on_demand.swaps
    assert 2 * raybench.seconds < on_demand.seconds


@pytest.mark.slow
@pytest.mark.parametrize(("patience_s", "feasible_s"), [(3600.0, 3600.0), (1800.0, 2000.0)])
def test_patience_holds_where_nobody_knows_how_many_questions_follow(
    patience_s: float, feasible_s: float
) -> None:
    """Nine engines cannot all have had a turn within 1,800 s; then each waits little longer."""
    trace = hle()
    outcome = play(trace, new_scheduler(trace, rules_of(patience_s)))
    assert outcome.longest_wait <= feasible_s


def swaps(iterations: int, at_once: int) -> int:
    trace = peers(iterations, at_once, models=6)
    outcome = play(trace, new_scheduler(trace, rules_of()))
    assert outcome.swaps >= trace.bound
    return outcome.swaps


@pytest.mark.slow
def test_all_at_once_four_times_the_iterations_take_hardly_more_swaps() -> None:
    assert swaps(40, at_once=40) <= 1.5 * swaps(10, at_once=10)


@pytest.mark.slow
def test_one_after_the_other_four_times_the_iterations_take_four_times_the_swaps() -> None:
    few, many = swaps(10, at_once=1), swaps(40, at_once=1)
    assert 3.2 * few <= many <= 4.8 * few
    assert many >= 5 * swaps(40, at_once=40)


@pytest.mark.slow
def test_waves_of_ten_take_as_many_swaps_each_however_many_there_are() -> None:
    few, many = swaps(20, at_once=10), swaps(40, at_once=10)
    assert 1.2 * few <= many <= 2.6 * few


def test_on_demand_the_engine_that_was_waited_for_longest_comes_next() -> None:
    requests = [Request("a", 10.0), Request("b", 10.0, (0,)), Request("a", 10.0, (1,))]
    work = Listed([*requests, Request("c", 10.0, (0,))])
    scheduler = OnDemand()
    outcome = simulate(work, "abc", scheduler)
    assert (outcome.swaps, scheduler.costs.loads) == (3, 4)
    assert outcome.swapping == pytest.approx(4 * 60 / outcome.seconds)
