"""The distance between successive weights falls by construction; what is left of it does not."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from panels import named

from raybench.autobench.analysis.beside import authority
from raybench.experiments.autobench.report import convergence
from raybench.tracking import plots


def shown(
    distances: Mapping[str, Sequence[float]], monkeypatch: pytest.MonkeyPatch
) -> dict[str, Mapping[str, Sequence[float]]]:
    """Return what the two figures show."""
    seen = {}

    def lines(series: Mapping[str, Sequence[float]], xlabel: str, ylabel: str) -> str:
        seen[ylabel] = series
        return ""

    monkeypatch.setattr(plots, "lines", lines)
    first, _ = convergence.moved("What moves.", distances)
    assert first.text == f"What moves. {convergence.FALLS}"
    return seen


def test_the_distance_stands_beside_itself_times_the_iteration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = shown({"a": [0.6, 0.0, 0.1], "b": []}, monkeypatch)
    assert seen["L1 distance"] == {"a": [0.6, 0.0, 0.1], "b": []}
    assert seen["iteration × L1 distance"]["a"] == pytest.approx([0.6, 0.0, 0.3])
    assert seen["iteration × L1 distance"]["b"] == []


def test_judges_at_random_settle_and_are_as_level_as_at_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = named(6)
    given = np.random.default_rng(0).integers(1, 6, (200, 6, 6)).mean(axis=1)
    means = given.cumsum(axis=0) / np.arange(1, 201)[:, None]
    moved = authority(
        [{"cumulative": dict(zip(models, row, strict=True))} for row in means.tolist()], models
    )
    seen = shown({"random": moved}, monkeypatch)
    falling = np.array(seen["L1 distance"]["random"])
    level = np.array(seen["iteration × L1 distance"]["random"])
    assert falling[150:].mean() < 0.05 * falling[:10].mean()
    assert level[150:].mean() == pytest.approx(level[5:50].mean(), rel=0.25)
