"""Assessments side by side: draws of iterations, and what differs between two rules."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import held, named, rounded, world
from peerage import journal
from statements import values

from raybench.autobench import summary
from raybench.autobench.analysis.beside import Assessment, authority, beside
from raybench.autobench.analysis.resample import NONE, draw, iterations_of, replay
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.variants import UNIFORM
from raybench.autobench.protocol import Record
from raybench.autobench.settings import Settings, Task

MODELS = named(5)
SETTINGS = Settings(MODELS)
ABILITY = dict(zip(MODELS, (1.5, 2.2, 3.0, 3.8, 4.5), strict=True))
TRUE = Table("truth", ABILITY)


def played(settings: Settings = SETTINGS, seed: int = 0, without: int = 0) -> list[Record]:
    """Play 12 iterations; make the first of them ones that found no task."""
    records = journal(settings, 12, ability=ABILITY, seed=seed)
    return [{**it, "task": None} if it["iteration"] <= without else it for it in records]


@given(st.lists(st.integers(NONE, 5), min_size=1, max_size=12), st.sampled_from(["a", "b"]))
def test_a_draw_of_nothing_changes_nothing(drawn: list[int], kind: str) -> None:
    ballots = held(rounded(world(np.random.default_rng(1), 6, 4)))
    rule = "consensus" if kind == "a" else "uniform"
    whole = replay(ballots, rule, np.array([drawn], dtype=np.int32))  # type: ignore[arg-type]
    some = np.array([[it for it in drawn if it != NONE]], dtype=np.int32)
    without = replay(ballots, rule, some)  # type: ignore[arg-type]
    np.testing.assert_allclose(whole.scores, without.scores)
    np.testing.assert_allclose(whole.weights, without.weights)


def test_the_same_assessment_twice_differs_in_no_draw() -> None:
    records = played(without=3)
    found = beside(
        [Assessment("full", records, SETTINGS), Assessment("again", records, SETTINGS)], [TRUE]
    )
    (_, again) = found.external
    ahead = again.kendall.ahead
    assert ahead is not None
    assert ahead.value == 0.0
    assert ahead.ci95 == (0.0, 0.0)
    (order,) = found.order
    assert order.kendall.iterations.value == 1


def test_a_variant_that_found_other_tasks_is_drawn_with_its_own() -> None:
    records, fewer = played(), played(without=1)
    found = beside(
        [Assessment("full", records, SETTINGS), Assessment("fewer", fewer, SETTINGS)], draws=50
    )
    full, other = (it.found for it in found.played)
    assert (full.ballots.tasks, other.ballots.tasks) == (12, 11)
    # Every draw that takes not the first has the same scores under both.
    drawn = draw(12, 50, seed=0)
    same = np.asarray((drawn >= 1).all(axis=1))
    alike = np.asarray(np.isclose(full.drawn.scores, other.drawn.scores).all(axis=1))
    assert same.any()
    assert alike[same].all()
    assert not alike[~same].any()


def test_a_list_that_is_gone_through_again_is_drawn_by_its_tasks() -> None:
    fixed = replace(SETTINGS, tasks=tuple(Task(f"task {n}") for n in range(5)))
    again = [it | {"task": f"task {n % 5}"} for n, it in enumerate(played(fixed, seed=1))]
    both = [Assessment("full", played(), SETTINGS), Assessment("fixed", again, fixed)]
    found = beside(both, [TRUE], draws=40)
    full, listed = (it.found for it in found.played)
    # Nothing changes for the others.
    alone = beside(both[:1], [TRUE], draws=40).played[0].found
    np.testing.assert_array_equal(full.drawn.scores, alone.drawn.scores)
    # By itself it would be drawn as here, but for the seed.
    assert listed.ballots.distinct == 5
    drawn = draw(5, 40, seed=(0, 1))
    whole = replay(listed.ballots, "consensus", iterations_of(drawn, listed.ballots.sources))
    np.testing.assert_array_equal(listed.drawn.scores, whole.scores)
    ahead = found.external[1].kendall.ahead
    assert ahead is not None
    assert values(ahead.method)["over"].endswith(listed.ballots.sources.over("iterations"))


def test_assessments_of_the_same_list_are_drawn_together() -> None:
    fixed = replace(SETTINGS, tasks=tuple(Task(f"task {n}") for n in range(5)))
    again = [it | {"task": f"task {n % 5}"} for n, it in enumerate(played(fixed))]
    found = beside([Assessment("full", again, fixed), Assessment("again", again, fixed)], [TRUE])
    ahead = found.external[1].kendall.ahead
    assert ahead is not None
    assert ahead.ci95 == (0.0, 0.0)
    assert ", paired" in ahead.method


def test_counterparts_are_replayed_where_there_is_a_table() -> None:
    uniform = replace(SETTINGS, weights="uniform")
    both = [
        Assessment("full", played(), SETTINGS),
        Assessment("uniform_weights", played(uniform), uniform),
    ]
    with_table = beside(both, [TRUE], [UNIFORM])
    assert [it.name for it in with_table.replayed] == [UNIFORM]
    assert {it.variant for it in with_table.external} == {"full", "uniform_weights", UNIFORM}
    # Nothing hangs on acceptance here: played and replayed are the same scores.
    np.testing.assert_allclose(
        with_table.replayed[0].found.scores, with_table.played[1].found.scores
    )
    assert beside(both, (), [UNIFORM]).replayed == ()


def test_authority_is_what_moves_the_weights_where_all_contestants_judge() -> None:
    records = played()
    assert authority(records, MODELS) == pytest.approx(summary.convergence(records, SETTINGS))
    alone = replace(SETTINGS, judges=(MODELS[-1],))
    single = journal(alone, 12, ability=ABILITY)
    assert set(summary.convergence(single, alone)) == {0.0}
    assert all(moved > 0 for moved in authority(single, MODELS)[:5])
