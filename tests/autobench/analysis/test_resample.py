"""The replay along draws is the protocol's own, and intervals from it cover what they should."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import least_share
from numpy.typing import NDArray
from panels import held, record, rounded, world
from scipy import stats
from statements import code

from raybench.autobench.analysis import estimates
from raybench.autobench.analysis.ballots import Ballots, ballots
from raybench.autobench.analysis.resample import (
    NONE,
    draw,
    draws_of,
    iterations_of,
    replay,
    resampled,
)
from raybench.autobench.protocol import replay as replay_protocol
from raybench.autobench.settings import Settings
from raybench.autobench.sources import OWN, Sources
from raybench.stats import ranks

MODELS = ("a", "b", "c")


@st.composite
def journals(data: st.DrawFn) -> tuple[list[dict[str, Any]], Settings]:
    """Journals with everything that may be missing, and panels of all kinds."""
    judges = data(st.sampled_from([(), ("a", "b"), ("b", "x"), ("x", "y"), ("a",), ("x",)]))
    settings = Settings(
        MODELS,
        judges=judges,
        self_judgement=data(st.booleans()),
        weights=data(st.sampled_from(["consensus", "uniform"])),
    )
    rating = st.one_of(st.none(), st.integers(1, 5))
    records = []
    for iteration in range(1, data(st.integers(0, 5)) + 1):
        if data(st.integers(0, 4)) == 0:
            records.append(record(iteration, {}, {}, task=None))
            continue
        answers = {model: data(st.sampled_from(["42", "42", " ", None])) for model in MODELS}
        judgments = {
            judge: {
                model: data(rating) if (answers[model] or "").strip() else None
                for model in MODELS
                if settings.self_judgement or model != judge
            }
            for judge in settings.panel
        }
        records.append(record(iteration, answers, judgments))
    return data(st.permutations(records)), settings


@given(journals())
def test_every_task_once_and_in_order_is_the_protocol_itself(
    journal: tuple[list[dict[str, Any]], Settings],
) -> None:
    records, settings = journal
    standing = replay_protocol(records, settings)
    found = ballots(records, settings)
    once = replay(found, settings.weights, np.arange(found.tasks, dtype=np.int32)[None])
    scores = [np.nan if (s := standing.scores[m]) is None else s for m in MODELS]
    np.testing.assert_allclose(once.scores[0], scores, rtol=1e-12)
    weights = [standing.weights[judge] for judge in settings.panel]
    np.testing.assert_allclose(once.weights[0], weights, rtol=1e-12)
    assert found.scored.tolist() == [standing.scored[model] for model in MODELS]
    assert found.iterations == len(records)


@given(journals(), st.integers(0, 99))
def test_a_draw_is_the_journal_of_its_tasks(
    journal: tuple[list[dict[str, Any]], Settings], seed: int
) -> None:
    records, settings = journal
    found = ballots(records, settings)
    tasks = sorted(
        (r for r in records if r["task"] is not None), key=lambda record: record["iteration"]
    )
    draws = draw(found.tasks, 3, seed=seed)
    replicates = replay(found, settings.weights, draws)
    for row, drawn in enumerate(draws):
        written = [tasks[task] | {"iteration": n} for n, task in enumerate(drawn, start=1)]
        standing = replay_protocol(written, settings)
        scores = [np.nan if (s := standing.scores[m]) is None else s for m in MODELS]
        np.testing.assert_allclose(replicates.scores[row], scores, rtol=1e-12)
        weights = [standing.weights[judge] for judge in settings.panel]
        np.testing.assert_allclose(replicates.weights[row], weights, rtol=1e-12)


def test_other_judges_than_the_panel_do_not_count() -> None:
    rows = {judge: {"a": 5, "b": 1, "c": None} for judge in ("a", "b", "c")}
    rows["b"] = {"a": 1, "b": 3, "c": None}
    records = [record(1, {"a": "42", "b": "42", "c": None}, rows)]
    alone = ballots(records, Settings(MODELS, judges=("b",)))
    assert alone.ratings[0, 0, :2].tolist() == [1, 3]
    assert np.isnan(alone.ratings[0, 0, 2])
    assert np.array_equal(
        ballots(records, Settings(MODELS)).by(["b"]).ratings, alone.ratings, equal_nan=True
    )
    own = ballots(records, Settings(MODELS, judges=("b",), self_judgement=False))
    assert np.array_equal(own.ratings, alone.without_self().ratings, equal_nan=True)
    assert np.isnan(own.ratings[0, 0, 1])


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = held(rounded(world(np.random.default_rng(0), 7, 4)))
    draws = draw(7, 150, seed=3)
    whole = replay(found, "consensus", draws)
    monkeypatch.setattr("raybench.autobench.analysis.resample._CHUNK", 11)
    parts = replay(found, "consensus", draws)
    np.testing.assert_array_equal(parts.scores, whole.scores)
    np.testing.assert_array_equal(parts.weights, whole.weights)


def test_no_tasks_have_no_scores_and_equal_weights() -> None:
    found = held(np.empty((0, 2, 2)))
    for rule in ("consensus", "uniform"):
        none = replay(found, rule, draw(0, 4))
        assert np.isnan(none.scores).all()
        assert none.weights.tolist() == [[0.5, 0.5]] * 4


def test_few_iterations_carry_no_interval() -> None:
    said = rounded(world(np.random.default_rng(1), 3, 3))
    two = estimates.scores(resampled(held(said[:2]), "consensus", draw(2, 50)))["m00"]
    assert (two.stderr, two.ci95, two.n) == (None, None, 2)
    three = resampled(held(said), "consensus", draw(3, 50))
    assert all(found.ci95 for found in estimates.weights(three).values())
    nothing = estimates.scores(resampled(held(said[:0]), "consensus", draw(0, 5)))["m00"]
    assert code(nothing.method) == "refused.empty"


def test_equal_iterations_carry_no_interval() -> None:
    found = resampled(held(np.full((5, 2, 2), 4.0)), "consensus", draw(5, 20))
    assert code(estimates.scores(found)["m00"].method) == "no_interval.all_equal"


def test_who_stands_above_whom() -> None:
    said = np.full((4, 3, 3), 3.0)
    said[:, :, 0] = np.array([5, 5, 4, 5])[:, None]
    found = resampled(held(said), "consensus", draw(4, 200))
    above = estimates.above(found)
    # Four tasks: a gap of 1.75, of which the draws' spread, raised by √(4/3), is 0.25.
    assert above["m00"]["m01"] == pytest.approx(float(stats.t.cdf(1.75 / 0.25, 3)), abs=1e-3)
    assert above["m01"]["m00"] == pytest.approx(1 - (above["m00"]["m01"] or 0))
    # The other two never differ: that says nothing of tasks of which these are none.
    assert above["m01"] == {"m00": above["m01"]["m00"], "m01": None, "m02": None}
    unscored = replace(found, ballots=held(said[:2]))
    assert estimates.above(unscored)["m00"]["m01"] is None


def test_a_gap_without_spread_is_not_sure() -> None:
    said = np.full((4, 2, 2), 3.0)
    said[:, :, 0] = 5
    found = resampled(held(said), "consensus", draw(4, 30))
    assert estimates.above(found)["m00"] == {"m00": None, "m01": None}
    assert estimates.surely(found) == {"m00": (), "m01": ()}


def test_the_orders_that_hold_are_those_of_holms_steps() -> None:
    # Of three pairs p is 0.015, 0.03 and 0.04: raised to 0.045, 0.06 and 0.06.
    sure = np.array([[np.nan, 0.9925, 0.985], [0.0075, np.nan, 0.02], [0.015, 0.98, np.nan]])
    assert ranks.holds(sure).tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]
    # Pairs of which nothing is told count as pairs: 0.02 is raised to 0.06.
    sure[:, 2] = sure[2] = np.nan
    sure[0, 1], sure[1, 0] = 0.99, 0.01
    assert not ranks.holds(sure).any()


def test_models_far_apart_surely_stand_above_each_other() -> None:
    found = resampled(
        held(rounded(world(np.random.default_rng(3), 40, 5))), "consensus", draw(40, 200)
    )
    surely = estimates.surely(found)
    assert surely["m04"] == ("m00", "m01", "m02", "m03")
    assert surely["m00"] == ()


def test_models_that_nobody_scored_stand_nowhere() -> None:
    said = rounded(world(np.random.default_rng(3), 12, 3))
    said[:, :, 1] = np.nan
    found = resampled(held(said), "consensus", draw(12, 50))
    assert np.isnan(estimates.confidence(found)[1]).all()
    assert estimates.surely(found)["m02"] == ("m00",)


def coverage(tasks: int, runs: int) -> float:
    """Return how often intervals hold the scores and weights of ever more tasks."""
    rng = np.random.default_rng(tasks)
    many = held(rounded(world(rng, 10_000, 6)))
    once = np.arange(many.tasks, dtype=np.int32)[None]
    true = replay(many, "consensus", once)
    hits = []
    for seed in range(runs):
        found = resampled(
            held(rounded(world(rng, tasks, 6))), "consensus", draw(tasks, 300, seed=seed)
        )
        for which, truth in (
            (estimates.scores(found), true.scores[0]),
            (estimates.weights(found), true.weights[0]),
        ):
            hits += [
                e.ci95 is not None and e.ci95[0] <= t <= e.ci95[1]
                for e, t in zip(which.values(), truth, strict=True)
            ]
    return float(np.mean(hits))


@pytest.mark.parametrize("tasks", [3, 30])
def test_intervals_cover_the_scores_of_ever_more_tasks(tasks: int) -> None:
    assert coverage(tasks, runs=20) >= 0.85


@pytest.mark.long(
    short="tests/autobench/analysis/test_resample.py"
    "::test_intervals_cover_the_scores_of_ever_more_tasks"
)
@pytest.mark.parametrize(("tasks", "least"), [(3, 0.90), (10, 0.90), (30, 0.92)])
def test_intervals_cover_the_scores_of_ever_more_tasks_as_often_as_they_say(
    tasks: int, least: float
) -> None:
    assert coverage(tasks, runs=120) >= least


def equals(rng: np.random.Generator, tasks: int, models: int) -> NDArray[np.float64]:
    """Return ratings of models of one quality, whose answers to a task differ, by all of them."""
    quality = rng.normal(3, 0.7, (tasks, 1, models))
    return rounded(quality + rng.normal(0, 0.5, (tasks, models, models)))


def test_a_task_is_drawn_with_all_its_iterations() -> None:
    shared = np.array([0, 1, 2, 0, 1, 0])
    draws = iterations_of(np.array([[2, 0, 0], [1, 1, 1]], dtype=np.int32), Sources(shared))
    # Lap by lap, as they came.
    assert draws.tolist() == [
        [2, 0, 0, NONE, 3, 3, NONE, 5, 5],
        [1, 1, 1, 4, 4, 4, NONE, NONE, NONE],
    ]
    own = draw(6, 4, seed=1)
    assert iterations_of(own, OWN) is own


def test_those_of_a_task_count_once() -> None:
    ratings = np.full((5, 2, 3), 4.0)
    ratings[[0, 2], :, 0] = np.nan  # both iterations of the first task
    ratings[[1], :, 1] = np.nan
    found = replace(held(ratings), sources=Sources(np.array([0, 1, 0, 1, 2])))
    assert (found.tasks, found.distinct) == (5, 3)
    assert found.scored.tolist() == [2, 3, 3]
    assert draws_of(found, 7).shape == (7, 6)


def listed(rng: np.random.Generator, tasks: int, iterations: int) -> Ballots:
    """Return ballots of a list that is gone through: seven tenths of a model's luck is the task's.

    Six models and their judges, whose care differs.
    """
    lasting = np.linspace(2.6, 3.8, 6) + rng.normal(0, 0.6, (tasks, 1))
    lasting = lasting + rng.normal(0, 0.8 * 0.7**0.5, (tasks, 6))
    at = np.arange(iterations) % tasks
    said = lasting[at] + rng.normal(0, 0.8 * 0.3**0.5, (iterations, 6))
    care = np.linspace(1.0, 0.4, 6)[:, None]
    said = said[:, None] + rng.normal(0, 1, (iterations, 6, 6)) * care
    return replace(held(rounded(said)), sources=Sources(at) if iterations > tasks else OWN)


def coverage_of_lists(tasks: int, iterations: int, runs: int) -> tuple[float, float]:
    """Return how often intervals hold the truth that know of repeated tasks, and others."""
    many = listed(np.random.default_rng(1), 10_000, 10_000)
    once = np.arange(many.tasks, dtype=np.int32)[None]
    true = replay(many, "consensus", once)
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for seed in range(runs):
        repeated = listed(np.random.default_rng([seed, iterations]), tasks, iterations)
        for known, rated in ((True, repeated), (False, replace(repeated, sources=OWN))):
            found = resampled(rated, "consensus", draws_of(rated, 200, seed=seed))
            for which, truth in (
                (estimates.scores(found), true.scores[0]),
                (estimates.weights(found), true.weights[0]),
            ):
                hits[known] += [
                    e.ci95 is not None and bool(e.ci95[0] <= t <= e.ci95[1])
                    for e, t in zip(which.values(), truth, strict=True)
                ]
    return float(np.mean(hits[True])), float(np.mean(hits[False]))


def test_intervals_cover_the_scores_of_other_tasks_than_a_list_repeats() -> None:
    known, unknown = coverage_of_lists(tasks=10, iterations=50, runs=9)
    assert known >= 0.85
    assert unknown < 0.85  # as if every iteration had a task of its own


@pytest.mark.long(
    short="tests/autobench/analysis/test_resample.py"
    "::test_intervals_cover_the_scores_of_other_tasks_than_a_list_repeats"
)
@pytest.mark.parametrize(("tasks", "iterations"), [(10, 50), (30, 120)])
def test_intervals_cover_the_scores_of_other_tasks_as_often_as_they_say(
    tasks: int, iterations: int
) -> None:
    known, unknown = coverage_of_lists(tasks, iterations, runs=36)
    assert known >= 0.92
    assert unknown < 0.8


def told_apart(tasks: int, runs: int) -> float:
    """Return how often two equals are told apart."""
    rng = np.random.default_rng(tasks)
    told = []
    for seed in range(runs):
        found = resampled(held(equals(rng, tasks, 4)), "consensus", draw(tasks, 200, seed=seed))
        chance = estimates.above(found)["m00"]["m01"]
        assert chance is not None
        told.append(not 0.025 < chance < 0.975)
    return float(np.mean(told))


@pytest.mark.parametrize("tasks", [3, 20])
def test_equals_are_seldom_told_apart(tasks: int) -> None:
    assert told_apart(tasks, runs=40) <= 1 - least_share(40)


@pytest.mark.long(
    short="tests/autobench/analysis/test_resample.py::test_equals_are_seldom_told_apart"
)
@pytest.mark.parametrize("tasks", [3, 5, 10, 20])
def test_equals_are_told_apart_as_seldom_as_it_says(tasks: int) -> None:
    assert told_apart(tasks, runs=140) <= 0.09


def orders_of_equals(tasks: int, runs: int) -> tuple[float, float]:
    """Return how often a pair of equals seems sure, and how often an order of them holds."""
    rng = np.random.default_rng(tasks)
    lucky, holding = [], []
    for seed in range(runs):
        found = resampled(held(equals(rng, tasks, 8)), "consensus", draw(tasks, 200, seed=seed))
        sure = estimates.confidence(found)
        lucky.append(bool((sure > 0.975).any()))
        holding.append(any(estimates.surely(found).values()))
    return float(np.mean(lucky)), float(np.mean(holding))


@pytest.mark.parametrize("tasks", [3, 20])
def test_among_equals_hardly_any_order_holds(tasks: int) -> None:
    lucky, holding = orders_of_equals(tasks, runs=25)
    assert lucky > 0.2
    assert holding <= 1 - least_share(25)


@pytest.mark.long(
    short="tests/autobench/analysis/test_resample.py::test_among_equals_hardly_any_order_holds"
)
@pytest.mark.parametrize("tasks", [3, 6, 20])
def test_among_equals_an_order_holds_as_seldom_as_it_says(tasks: int) -> None:
    lucky, holding = orders_of_equals(tasks, runs=90)
    assert lucky > 0.3
    assert holding <= 0.09
