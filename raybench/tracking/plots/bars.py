"""Shares as bars with whiskers: a row for each model, a panel for each measure."""

from collections.abc import Mapping, Sequence
from typing import Any

from raybench.tracking.plots.forest import Estimates
from raybench.tracking.plots.style import (
    COLOURS,
    INK,
    draw_whiskers,
    drawing,
    extremes,
    finite,
    named,
)

_COLUMNS = 4
_PANEL, _ALONE = 1.55, 4.0
"""Inches of a panel's width, and of one that has no neighbours."""
_NAMES = 1.6
_ROW, _TIGHT = 0.24, 0.19
"""Inches of a row, and of one among many."""
_MANY = 20
_AXIS = 0.85
_PARTIAL = " (partial)"
"""Ends a title on a line of its own: panels are narrow."""
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def bars(
    panels: Mapping[str, Estimates],
    xlabel: str,
    *,
    chances: Mapping[str, float | None] | None = None,
) -> str:
    """Return panels, one at least, of shares from 0; all have their scale and rows in common.

    Refused ones say so; those of which only a part is there are hollow. A dashed line stands at
    what guessing would score.
    """
    models = list(dict.fromkeys(name for of in panels.values() for name in of))
    rows = -(-len(panels) // _COLUMNS)
    columns = -(-len(panels) // rows)
    wide = _PANEL * columns if columns > 1 else _ALONE
    tall = max(len(models), 2) * (_ROW if len(models) <= _MANY else _TIGHT)
    with drawing(_NAMES + wide, rows * (tall + _AXIS)) as (figure, svg):
        several = figure.subplots(
            rows, columns, squeeze=False, sharey=True,
            gridspec_kw={"hspace": _AXIS / tall, "wspace": 0.12},
        )  # fmt: skip
        top = _top(panels, chances or {})
        for place, axes in enumerate(several.flat):
            if place >= len(panels):
                axes.set_visible(False)
        for place, (title, estimates) in enumerate(panels.items()):
            axes = several[place // columns][place % columns]
            _panel(axes, [estimates.get(name, {}) for name in models], top)
            if (chance := (chances or {}).get(title)) is not None:
                axes.axvline(chance, color=COLOURS[1], lw=1.2, ls=(0, (3, 2)), zorder=1)
            axes.set_title(named(title, 30).replace(_PARTIAL, f"\n{_PARTIAL.strip()}"), fontsize=10)
            axes.set_yticks(range(len(models)), [named(name) for name in models])
            axes.set_ylim(max(len(models), 2) - 0.5, -0.5)
            if place + columns >= len(panels):
                axes.set_xlabel(xlabel, fontsize=9)
        said = "; ".join(f"{title}: {extremes(of)}" for title, of in panels.items())
        return svg(f"{xlabel} with 95 % intervals. {said}")


def _panel(axes: Any, estimates: Sequence[Mapping[str, Any]], top: float) -> None:
    whiskers: list[tuple[float, float, int]] = []
    for place, estimate in enumerate(estimates):
        value, ci95 = finite(estimate.get("value")), estimate.get("ci95")
        if value is None:
            if estimate:
                axes.text(
                    0.03 * top, place, "not computed", va="center", style="italic", alpha=0.75,
                    fontsize=9,
                )  # fmt: skip
            continue
        partial = str(estimate.get("method", "")).startswith("partial")
        axes.barh(
            [place], [value], height=0.68, edgecolor=COLOURS[0], lw=1.0,
            color="none" if partial else COLOURS[0], alpha=0.9 if partial else 0.55,
        )  # fmt: skip
        if ci95 is not None and None not in ci95:
            whiskers.append((*ci95, place))
    draw_whiskers(axes, whiskers, colour=INK, lw=1.3, cap=5)
    axes.set_xlim(0, top)
    ticks = [0, top / 2, top]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=9)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _top(panels: Mapping[str, Estimates], chances: Mapping[str, float | None]) -> float:
    """Return where the scale ends that all panels share: at 1 unless all is far below."""
    reached = [value for value in chances.values() if value is not None]
    for estimate in (it for of in panels.values() for it in of.values()):
        reached.append(finite(estimate.get("value")) or 0.0)
        reached += [end for end in estimate.get("ci95") or () if end is not None]
    highest = max(reached, default=1.0)
    return next((top for top in _TOPS if highest <= top), 1.0)
