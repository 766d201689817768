"""The same things measured in several ways: intervals side by side, a panel for each measure."""

from collections.abc import Mapping
from typing import Any

from raybench.tracking.plots.style import COLOURS, WIDTH, drawing, extremes, finite, named

_APART = 0.3
"""Between the points of one row, in rows."""
_MARKERS = "osD^"

Estimates = Mapping[str, Mapping[str, Any]]


def versus(panels: Mapping[str, Mapping[str, Estimates]]) -> str:
    """Return panels, one at least, by what they measure; in each, series of estimates by names.

    All share their rows, first on top. What has no value leaves its place empty.
    """
    rows = list(dict.fromkeys(row for of in panels.values() for it in of.values() for row in it))
    with drawing(WIDTH, 1.1 + 0.34 * max(len(rows), 1)) as (figure, svg):
        several = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (xlabel, series) in zip(several, panels.items(), strict=True):
            for place, (name, estimates) in enumerate(series.items()):
                offset = (place - (len(series) - 1) / 2) * _APART
                _points(axes, place, name, [estimates.get(row, {}) for row in rows], offset)
            axes.axvline(0, color=axes.spines["bottom"].get_edgecolor(), lw=0.8, alpha=0.5)
            axes.set_yticks(range(len(rows)), [named(row) for row in rows])
            axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
            axes.tick_params(axis="y", length=0)
            axes.spines["left"].set_visible(False)
            axes.grid(axis="x")
            axes.set_xlabel(xlabel)
        handles, labels = several[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="lower center", bbox_to_anchor=(0.5, 0.9), ncols=len(labels),
            frameon=False,
        )  # fmt: skip
        said = "; ".join(
            f"{what}, {name}: {extremes(of)}"
            for what, series in panels.items()
            for name, of in series.items()
        )
        return svg(f"With 95 % intervals. {said}")


def _points(
    axes: Any, place: int, name: str, estimates: list[Mapping[str, Any]], offset: float
) -> None:
    colour, marker = COLOURS[place % len(COLOURS)], _MARKERS[place % len(_MARKERS)]
    shown: list[tuple[float, float]] = []
    for row, estimate in enumerate(estimates):
        value, ci95 = finite(estimate.get("value")), estimate.get("ci95")
        if value is None:
            continue
        shown.append((value, row + offset))
        if ci95 is not None and None not in ci95:
            axes.plot(ci95, [row + offset] * 2, color=colour, lw=1.8, solid_capstyle="butt")
    axes.plot(
        [x for x, _ in shown], [y for _, y in shown], marker, color=colour, ms=4.5, label=name
    )
