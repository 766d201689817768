"""Tasks that come again are no new ones: the same ratings once more make nothing surer."""

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peerage import journal
from statements import values

from raybench.autobench import categories, judges, summary
from raybench.autobench.analysis import estimates
from raybench.autobench.protocol import counted
from raybench.autobench.settings import Settings, Task
from raybench.autobench.sources import OWN, Sources
from raybench.types import Estimate

LIST = Settings(
    ("a", "b", "c", "d"),
    tasks=tuple(Task(f"What is <i>{n}</i>?") for n in range(1, 9)),
    topics=("math", "logic"),
    weights="uniform",
)
ABILITY = {"a": 2.0, "b": 2.6, "c": 3.2, "d": 3.8}


def once() -> list[dict[str, Any]]:
    """Return a journal of every task once; a rating in seven cannot be read."""

    def careless(_judge: str, _contestant: str, quality: float, rng: random.Random) -> float:
        return quality + rng.gauss(0, 1.2)

    records = journal(LIST, 8, rate=careless, ability=ABILITY, seed=3)
    for place, record in enumerate(records):
        for row, gave in enumerate(record["judgments"].values()):
            for column, model in enumerate(gave):
                if (5 * place + 3 * row + column) % 7 == 0 or place == 5:
                    gave[model] = None
    return records


def again(records: list[dict[str, Any]], laps: int = 3) -> list[dict[str, Any]]:
    """Return a journal that goes through the same tasks again, and says the same."""
    many = len(records)
    return [
        it | {"iteration": it["iteration"] + many * lap} for lap in range(laps) for it in records
    ]


def test_only_given_tasks_come_more_than_once() -> None:
    records = [{"task": task} for task in ("x", "y", "x", "z", "y", "x")]
    listed = Sources.of(records, LIST)
    assert listed.numbers(6).tolist() == [0, 1, 0, 2, 1, 0]
    assert (listed.count(6), listed.by) == (3, "task")
    assert listed.over("iterations") != "iterations"
    assert values(listed.again) == {"tasks": 3, "times": "1 to 3"}
    # Generated ones that are alike are found elsewhere; iterations are what repeats.
    for own in (Sources.of(records, Settings(("a",))), Sources.of(records[1:4], LIST)):
        assert own is OWN
        assert own.numbers(3).tolist() == [0, 1, 2]
        assert (own.count(6), own.by, own.over("iterations")) == (6, "iteration", "iterations")
        assert own.again == ""


def test_scores_and_weights_are_as_sure_as_tasks_are_many() -> None:
    for settings in (LIST, replace(LIST, judges=("b", "c"))):
        first = summary.bootstrap(once(), settings)
        thrice = summary.bootstrap(again(once()), settings)
        assert (thrice.ballots.tasks, thrice.ballots.distinct) == (24, 8)
        found, more = estimates.scores(first), estimates.scores(thrice)
        for model in LIST.models:
            assert more[model].n == found[model].n == 7  # of one task nothing could be read
            assert more[model].ci95 == pytest.approx(found[model].ci95)
        above, more_above = estimates.above(first), estimates.above(thrice)
        assert more_above["a"]["b"] == pytest.approx(above["a"]["b"])
    weights = estimates.weights(
        summary.bootstrap(again(once()), replace(LIST, weights="consensus"))
    )
    assert {it.n for it in weights.values()} == {8}


def test_judges_are_as_sure_as_tasks_are_many() -> None:
    first = judges.statistics(list(counted(once(), LIST)), LIST)
    thrice = judges.statistics(list(counted(again(once()), LIST)), LIST)
    for name, judge in first.items():
        for what in ("severity", "agreement", "same", "within_one", "own", "own_by_others"):
            found, more = (getattr(it[name], what) for it in (first, thrice))
            assert found.ci95
            assert more.value == pytest.approx(found.value)
            assert more.ci95 == pytest.approx(found.ci95)
            assert "by iteration" in found.method
            assert "by task" in more.method
        for it in ("over_tasks", "among_leanings"):
            found, more = (getattr(of[name].self_preference, it) for of in (first, thrice))
            assert found.ci95
            assert more.ci95 == pytest.approx(found.ci95)
        assert judge.used[3] * 3 == thrice[name].used[3]


def test_what_is_read_is_as_sure_as_tasks_are_many() -> None:
    first, thrice = (summary.parse_rates(it, LIST) for it in (once(), again(once())))
    assert thrice["a"].ci95 == pytest.approx(first["a"].ci95, abs=0.002)
    assert values(thrice["a"].method)["by"] == "task"
    together = [summary.parse_rate(it, LIST) for it in (once(), again(once()))]
    assert together[1].ci95 == pytest.approx(together[0].ci95, abs=0.002)


def test_categories_are_as_sure_as_tasks_are_many() -> None:
    def scores(records: list[dict[str, Any]]) -> dict[str, Estimate]:
        (_, logic) = categories.categories(counted(records, LIST), LIST)
        return dict(logic.scores)

    first, thrice = scores(once()), scores(again(once()))
    for model, found in first.items():
        assert thrice[model].ci95 == pytest.approx(found.ci95)
        assert thrice[model].n == 3 * found.n


@given(st.lists(st.sampled_from("vwxyz"), max_size=20))
def test_numbers_tell_tasks_apart_from_0_on(tasks: list[str]) -> None:
    sources = Sources.of(({"task": task} for task in tasks), LIST)
    numbers = sources.numbers(len(tasks))
    assert sources.count(len(tasks)) == len(set(tasks))
    assert np.unique(numbers).tolist() == list(range(len(set(tasks))))
    assert len(set(zip(tasks, numbers.tolist(), strict=True))) == len(set(tasks))
