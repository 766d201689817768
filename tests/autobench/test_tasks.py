import math
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from monte_carlo import least_share
from peerage import journal
from statements import code

from raybench.autobench import tasks
from raybench.autobench.settings import Settings, Task

SETTINGS = Settings(("a", "b"))


def attempt(
    task: str | None,
    mean: float | None = None,
    median: float | None = None,
    *,
    faults: list[str] | None = None,
    accepted: bool = False,
) -> dict[str, Any]:
    of: dict[str, Any] = {
        "generator": "a",
        "task": task,
        "ratings": {},
        "mean": mean,
        "median": median,
    }
    of |= {"accepted": accepted} | ({} if faults is None else {"faults": faults})
    return of


def tried(*attempts: dict[str, Any], settings: Settings = SETTINGS) -> list[tasks.Attempt]:
    record = {"iteration": 1, "topic": "math", "difficulty": "hard", "attempts": list(attempts)}
    return list(tasks.attempts([record], settings))


@pytest.mark.parametrize(
    ("given", "fate", "why"),
    [
        (attempt("t", 4.0, 4.0, accepted=True), "accepted", []),
        (attempt("t", 4.0, 4.0, faults=["given away"], accepted=True), "accepted", []),
        (attempt(None), "no reply", []),
        (attempt(" \n"), "empty", []),
        (attempt("", faults=["empty"]), "empty", []),
        (attempt("t", faults=["as 3", "too short"]), "faulty", ["as 3; too short"]),
        (attempt("t"), "unrated", []),
        (attempt("t", 2.5, 3.0), "too low", ["2.50 ", " 2.5"]),
        (
            attempt("t", 2.0, 2.0, faults=[]),
            "too low",
            ["mean 2.00 ", " 2.5 ", "median 2.00 ", " 2"],
        ),
        (attempt("t", 4.0, 4.0), "too low", []),
    ],
)
def test_why_a_task_was_turned_down(given: dict[str, Any], fate: str, why: list[str]) -> None:
    (found,) = tried(given)
    assert (found.fate, bool(found.why)) == (fate, fate != "accepted")
    assert all(part in found.why for part in why)


def test_a_fault_that_is_only_marked_turns_nothing_down() -> None:
    flagging = Settings(("a", "b"), faulty="flag")
    (found,) = tried(attempt("t", 2.0, 3.0, faults=["as 3"]), settings=flagging)
    assert (found.fate, found.faults) == ("too low", ("as 3",))


def test_what_is_not_the_generators_doing_is_not_held_against_it() -> None:
    found = tasks.tally(
        tried(
            attempt(None),
            attempt("t"),
            attempt(""),
            attempt("t", faults=["as 3"]),
            attempt("t", 2.0, 2.0),
            attempt("t", 4.0, 4.0, faults=["as 4"], accepted=True),
        )
    )
    assert (found.proposed, found.faults) == (5, 2)
    assert (found.accepted.value, found.accepted.n) == (0.25, 4)
    assert (found.mean.value, found.mean.n, found.mean.ci95) == (3.0, 2, None)
    assert code(found.mean.method) == "no_interval.one_group"
    assert set(found.fates.values()) == {1}


def test_who_proposed_nothing_has_no_share() -> None:
    found = tasks.tallies(tried(attempt("t", 2.0, 2.0)), lambda it: it.generator, ("b", "a"))
    assert list(found) == ["b", "a"]
    assert code(found["b"].accepted.method) == "refused.empty"
    assert found["b"].mean.value is None
    assert found["a"].accepted.value == 0.0


def test_tries_of_one_iteration_stand_for_one() -> None:
    def of(iterations: int, tries: int) -> tasks.Tally:
        """Half of the iterations have good tasks, the others bad ones."""
        good, bad = attempt("t", 4.0, 4.0, accepted=True), attempt("t", 2.0, 2.0)
        return tasks.tally(
            [
                replace(it, iteration=number)
                for number in range(1, iterations + 1)
                for it in tried(*[good if number % 2 else bad] * tries)
            ]
        )

    once, thrice = of(10, 1), of(10, 3)
    assert thrice.accepted.ci95 == pytest.approx(once.accepted.ci95)
    assert thrice.mean.ci95 == pytest.approx(once.mean.ci95)


def coverage(runs: int) -> tuple[float, float]:
    """Return how often tallies hold the share that is accepted, and the mean of ratings."""
    likely = np.random.default_rng(77).beta(2.1, 0.9, 12)
    bounds = math.sqrt(0.18) * np.array([NormalDist().inv_cdf(it) for it in likely])

    def play(iterations: int, rng: np.random.Generator) -> list[tasks.Attempt]:
        found = []
        for iteration in range(iterations):
            for generator in rng.permutation(12)[:3]:
                kind = rng.normal(0, 0.3)
                for _ in range(3):
                    ill = kind + rng.normal(0, 0.3)
                    fate: tasks.Fate = "accepted" if ill < bounds[generator] else "too low"
                    mean = 3 - float(ill) + float(likely[generator]) - 0.7
                    found.append(
                        tasks.Attempt(
                            iteration, str(generator), "t", "d", "x", mean, 3.0, (), fate, ""
                        )
                    )
                    if fate == "accepted":
                        break
                if fate == "accepted":
                    break
        return found

    def by_generator(found: list[tasks.Attempt]) -> dict[str, tasks.Tally]:
        return tasks.tallies(found, lambda it: it.generator)

    true = by_generator(play(20_000, np.random.default_rng(5)))
    shares: list[bool] = []
    means: list[bool] = []
    for seed in range(runs):
        for name, tally in by_generator(play(200, np.random.default_rng([seed, 200]))).items():
            for hits, found, truth in (
                (shares, tally.accepted, true[name].accepted.value),
                (means, tally.mean, true[name].mean.value),
            ):
                assert found.ci95 is not None
                assert truth is not None
                hits.append(found.ci95[0] <= truth <= found.ci95[1])
    return float(np.mean(shares)), float(np.mean(means))


def test_tallies_cover_the_shares_of_generators_that_try_again() -> None:
    shares, means = coverage(runs=12)
    assert shares >= least_share(12 * 12)
    assert means >= least_share(12 * 12)


@pytest.mark.long(
    short="tests/autobench/test_tasks.py"
    "::test_tallies_cover_the_shares_of_generators_that_try_again"
)
def test_tallies_cover_as_often_as_they_say() -> None:
    """As many as 19 in 20, or nearly; with every try for itself 88 to 91 % (n = 200)."""
    shares, means = coverage(runs=60)
    assert shares >= 0.94
    assert means >= 0.92


def test_given_tasks_are_not_tried() -> None:
    settings = Settings(("a", "b"), tasks=(Task("What?"),))
    assert not list(tasks.attempts(journal(settings, 3), settings))


def test_every_try_has_one_fate() -> None:
    records = journal(SETTINGS, 9)
    found = tasks.tallies(tasks.attempts(records, SETTINGS), lambda it: it.topic)
    assert sum(sum(it.fates.values()) for it in found.values()) == 12
    assert sum(it.fates["accepted"] for it in found.values()) == 9
