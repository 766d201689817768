"""What models are good at: a panel for each model, a row for each part, its overall as a line."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.tracking.plots.forest import Estimates
from raybench.tracking.plots.style import (
    COLOURS,
    INK,
    Number,
    draw_whiskers,
    drawing,
    extremes,
    finite,
    named,
)

MOST_MODELS = 8
MOST_PARTS = 20
"""More are not drawn: who draws says so, and has a table of all."""
_COLUMNS = 4
_PANEL, _ALONE = 1.55, 4.0
_NAMES = 1.6
_ROW = 0.22
_AXIS = 0.75


def profiles(
    models: Mapping[str, Estimates],
    parts: Sequence[str],
    overall: Mapping[str, Number],
    xlabel: str,
) -> str:
    """Return a panel for each model, one at least: points with 95 % whiskers, parts from the top.

    All panels have one scale. The line in each is the model's own overall number. What is refused
    leaves its row empty; of an interval with one end alone, the whisker runs off the open side.
    """
    rows = -(-len(models) // _COLUMNS)
    columns = -(-len(models) // rows)
    wide = _PANEL * columns if columns > 1 else _ALONE
    tall = _ROW * max(len(parts), 2)
    low, high = _scale(models, overall)
    with drawing(_NAMES + wide, rows * (tall + _AXIS)) as (figure, svg):
        several = figure.subplots(
            rows, columns, squeeze=False, sharex=True, sharey=True,
            gridspec_kw={"hspace": _AXIS / tall * 0.6, "wspace": 0.12},
        )  # fmt: skip
        for axes in several.flat[len(models) :]:
            axes.set_visible(False)
        for place, (model, estimates) in enumerate(models.items()):
            axes = several[place // columns][place % columns]
            mean = finite(overall.get(model))
            if mean is not None:
                axes.axvline(mean, color=INK, lw=1.1, alpha=0.6)
            _points(axes, [estimates.get(part, {}) for part in parts], low, high)
            axes.set_title(named(model, 22), fontsize=10)
            axes.set_yticks(range(len(parts)), [named(part) for part in parts])
            axes.set_ylim(max(len(parts), 2) - 0.5, -0.5)
            axes.set_xlim(low, high)
            axes.tick_params(axis="y", length=0)
            axes.tick_params(axis="x", labelsize=9)
            axes.locator_params(axis="x", nbins=3)
            axes.grid(axis="x")
            if place + columns >= len(models):
                axes.set_xlabel(xlabel, fontsize=9)
                axes.tick_params(labelbottom=True)
        said = "; ".join(f"{model}: {extremes(of)}" for model, of in models.items())
        return svg(f"{xlabel} by part, with 95 % intervals, a panel for each model. {said}")


def _points(axes: Any, estimates: Sequence[Mapping[str, Any]], low: float, high: float) -> None:
    whiskers: list[tuple[float, float, int]] = []
    shown: list[tuple[float, int]] = []
    for row, estimate in enumerate(estimates):
        start, end = estimate.get("ci95") or (None, None)
        if start is not None or end is not None:
            whiskers.append((low if start is None else start, high if end is None else end, row))
        if (value := finite(estimate.get("value"))) is not None:
            shown.append((value, row))
    draw_whiskers(
        axes, [(low, high, row) for row in range(len(estimates))], colour=INK, lw=0.8, alpha=0.12
    )
    draw_whiskers(axes, whiskers, colour=COLOURS[0], lw=1.6)
    axes.plot(
        [value for value, _ in shown], [row for _, row in shown], "o", color=COLOURS[0], ms=4.5
    )


def _scale(models: Mapping[str, Estimates], overall: Mapping[str, Number]) -> tuple[float, float]:
    """Return the ends of the scale, which holds every point and whisker."""
    held = [value for it in overall.values() if (value := finite(it)) is not None]
    for estimate in (it for of in models.values() for it in of.values()):
        ends = [estimate.get("value"), *(estimate.get("ci95") or ())]
        held += [value for end in ends if (value := finite(end)) is not None]
    low, high = min(held, default=0.0), max(held, default=1.0)
    aside = 0.04 * (high - low) or 0.5
    return low - aside, high + aside
