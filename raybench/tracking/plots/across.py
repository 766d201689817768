"""The same models measured under several conditions: a line for each, a panel for each setting."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from raybench.tracking.plots.ends import name_ends
from raybench.tracking.plots.style import COLOURS, DASHES, WIDTH, drawing, finite, named, number

_ASIDE = 0.05
"""Between the lines of two models at one condition, so that intervals do not hide each other."""


def across(
    panels: Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]],
    conditions: Sequence[str],
    xlabel: str,
    ylabel: str,
) -> str:
    """Return panels, one at least: in each, models' estimates under the conditions, in their order.

    What has no value leaves a gap.
    """
    models = list(dict.fromkeys(name for of in panels.values() for name in of))
    height = max(3.4, 0.6 + 0.2 * len(models))
    with drawing(WIDTH, height) as (figure, svg):
        several = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, (title, of) in zip(several, panels.items(), strict=True):
            ends = [
                end
                for place, name in enumerate(models)
                if (end := _line(axes, place, name, of.get(name, ()), len(models))) is not None
            ]
            axes.set_xticks(range(len(conditions)), [named(it, 12) for it in conditions])
            axes.set_title(title)
            axes.set_xlabel(xlabel)
            axes.grid(axis="y")
            axes.margins(x=0.04)
        several[0].set_ylabel(ylabel)
        name_ends(several[-1], ends, gap=0.24 / height)
        said = "; ".join(f"{title}: {_said(of, conditions)}" for title, of in panels.items())
        return svg(f"{ylabel} over {xlabel}. {said}")


def _said(of: Mapping[str, Sequence[Mapping[str, Any]]], conditions: Sequence[str]) -> str:
    """Return which model moves most over the conditions and which least, in words."""
    ranges: dict[str, tuple[float, float]] = {}
    for name, estimates in of.items():
        values = [
            v for it in estimates[: len(conditions)] if (v := finite(it.get("value"))) is not None
        ]
        if len(values) > 1:
            ranges[name] = min(values), max(values)
    if not ranges:
        return f"no model has two numbers, of {len(of)}"
    told = [
        f"{named(name)}, between {number(ranges[name][0])} and {number(ranges[name][1])}"
        for name in sorted(ranges, key=lambda it: ranges[it][0] - ranges[it][1])
    ]
    most = f"moves most {told[0]}"
    return most if len(told) == 1 else f"{most}, least {told[-1]}, of {len(of)}"


def _line(
    axes: Any, place: int, name: str, estimates: Sequence[Mapping[str, Any]], models: int
) -> tuple[str, float, float, str] | None:
    """Draw a model's line; return where it ends, None where it has no point."""
    colour = COLOURS[place % len(COLOURS)]
    values = [finite(it.get("value")) for it in estimates]
    xs = [at + (place - (models - 1) / 2) * _ASIDE for at in range(len(values))]
    ys = [math.nan if it is None else it for it in values]
    axes.plot(
        xs, ys, color=colour, lw=1.6, marker="o", ms=3.5,
        ls=DASHES[place // len(COLOURS) % len(DASHES)],
    )  # fmt: skip
    for x, value, estimate in zip(xs, values, estimates, strict=True):
        ci95 = estimate.get("ci95")
        if value is not None and ci95 is not None and None not in ci95:
            axes.plot([x, x], ci95, color=colour, lw=1.0, alpha=0.6, solid_capstyle="butt")
    known = [(x, value) for x, value in zip(xs, values, strict=True) if value is not None]
    return (named(name), *known[-1], colour) if known else None
