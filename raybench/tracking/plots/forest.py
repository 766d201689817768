"""Points with their intervals, one below the other."""

from collections.abc import Mapping
from typing import Any

from raybench.tracking.plots.style import COLOURS, WIDTH, drawing, extremes, finite, named

Estimates = Mapping[str, Mapping[str, Any]]
_ROW = 0.3
_AXIS = 0.75
"""Inches of a row, and of what a panel has beside its rows."""


def forest(estimates: Estimates, xlabel: str) -> str:
    """Return a point with its 95 % whisker for each name, first on top; refused ones say so.

    Of an interval with one end alone, an arrow goes from there to the open side.
    """
    return forests({xlabel: estimates}, f"{xlabel} with 95 % intervals: {extremes(estimates)}")


def forests(panels: Mapping[str, Estimates], label: str) -> str:
    """Return panels, one at least, by what they show, each with a scale of its own."""
    rows = [max(len(them), 1) for them in panels.values()]
    with drawing(WIDTH, _AXIS * len(rows) + _ROW * sum(rows)) as (figure, svg):
        several = figure.subplots(
            len(rows), 1, squeeze=False,
            height_ratios=rows, gridspec_kw={"hspace": _AXIS * len(rows) / (_ROW * sum(rows))},
        )[:, 0]  # fmt: skip
        for axes, (xlabel, estimates) in zip(several, panels.items(), strict=True):
            _panel(axes, estimates, xlabel)
        return svg(label)


def _panel(axes: Any, estimates: Estimates, xlabel: str) -> None:
    for place, estimate in enumerate(estimates.values()):
        value, ci95 = finite(estimate.get("value")), estimate.get("ci95")
        low, high = (finite(end) for end in ci95 or (None, None))
        if value is None and (low is None) != (high is None):
            _arrow(axes, place, low, high)
            continue
        if value is None:
            axes.text(
                0.02, place, "not computed", transform=axes.get_yaxis_transform(), va="center",
                style="italic", alpha=0.7,
            )  # fmt: skip
            continue
        if ci95 is not None and None not in ci95:
            axes.plot(ci95, [place, place], color=COLOURS[0], lw=2, solid_capstyle="butt")
            axes.plot(ci95, [place, place], "|", color=COLOURS[0], ms=8, mew=1.5)
        axes.plot([value], [place], "o", color=COLOURS[0], ms=6)
    axes.set_yticks(range(len(estimates)), [named(name) for name in estimates])
    axes.set_ylim(max(len(estimates), 1) - 0.5, -0.5)
    if all(finite(it.get("value")) is None and not it.get("ci95") for it in estimates.values()):
        axes.set_xticks([])  # numbers below nothing would be a scale of nothing
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")
    axes.set_xlabel(xlabel)


def _arrow(axes: Any, place: int, low: float | None, high: float | None) -> None:
    """Draw from the known end to the margin on the open side."""
    end, sign, edge = (low, "≥", 1.0) if low is not None else (high, "≤", 0.0)
    axes.plot([end], [place], "|", color=COLOURS[0], ms=8, mew=1.5)
    axes.annotate(
        "", xy=(edge, place), xycoords=axes.get_yaxis_transform(), xytext=(end, place),
        textcoords="data", annotation_clip=False,
        arrowprops={"arrowstyle": "->", "color": COLOURS[0], "lw": 2, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    axes.annotate(
        # Above the arrow: beside its end are the models' names, or nothing of the figure is left.
        f"{sign} {end:.0f}", xy=(end, place), xytext=(3 if sign == "≥" else -3, 2),
        textcoords="offset points", va="bottom", ha="left" if sign == "≥" else "right",
        fontsize=8,
    )  # fmt: skip
