"""Journals made up for the analysis: ratings from a table, and worlds with planted judges."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raybench.autobench.analysis.ballots import Ballots


def record(
    iteration: int,
    answers: dict[str, str | None],
    judgments: dict[str, dict[str, int | None]],
    *,
    task: str | None = "task",
) -> dict[str, Any]:
    return {
        "iteration": iteration,
        "topic": "logic",
        "task": task,
        "answers": answers,
        "judgments": judgments,
    }


def named(count: int) -> tuple[str, ...]:
    return tuple(f"m{place:02d}" for place in range(count))


def held(ratings: NDArray[Any], judges: Sequence[str] | None = None) -> Ballots:
    """Return ballots of these ratings, tasks by judges by contestants."""
    tasks, panel, contestants = ratings.shape
    return Ballots(
        tuple(judges or named(panel)),
        named(contestants),
        ratings.astype(np.float32),
        np.zeros((tasks, contestants), dtype=bool),
        ("logic",) * tasks,
        tasks,
    )


def world(
    rng: np.random.Generator, tasks: int, models: int, *, worst: float = 1.0, best: float = 0.4
) -> NDArray[np.float64]:
    """Return what judges of unlike care would say of answers, before it is rounded to 1 to 5."""
    truth = np.linspace(2.0, 4.4, models) + rng.normal(0, 0.6, (tasks, 1))
    truth = truth + rng.normal(0, 0.8, (tasks, models))
    noise = rng.normal(0, 1, (tasks, models, models)) * np.linspace(worst, best, models)[:, None]
    severity = np.linspace(-0.4, 0.4, models)[:, None]
    return np.asarray(truth[:, None] + noise + severity)


def rounded(said: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(np.rint(said), 1, 5)
