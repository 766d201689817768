"""Reliability diagrams: what models stated, and what came true, a panel for each model."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raybench.tracking.plots.style import COLOURS, INK, WIDTH, drawing, named

if TYPE_CHECKING:  # numpy comes with it, which the plan of a run need not wait for
    from raybench.stats.reliability import Bin

MOST = 12
"""Panels; of more models, who draws says that these are not all."""
_COLUMNS = 3
_ALONE = 4.2
_AREA = 220.0
"""Of the point of a bin that has all items, in square points."""
_TICKS = (0, 0.5, 1)
_PERCENT = ("0", "50", "100")


def reliability(models: "Mapping[str, Sequence[Bin]]") -> str:
    """Return accuracy over stated confidence with 95 % whiskers, and how often each was stated.

    On the diagonal confidence is met, below it is too high. A point's area is its share of items.
    """
    rows = -(-max(len(models), 1) // _COLUMNS)
    columns = -(-max(len(models), 1) // rows)  # four stand two by two
    width = WIDTH if columns > 1 else _ALONE
    height = width / columns * (1.28 if columns > 1 else 1.15) + 0.15
    with drawing(width, height * rows) as (figure, svg):
        panels = figure.add_gridspec(rows, columns, wspace=0.16, hspace=0.34)
        for place, (name, bins) in enumerate(models.items()):
            row, column = divmod(place, columns)
            pair = panels[row, column].subgridspec(2, 1, height_ratios=(3, 1), hspace=0.1)
            above, below = figure.add_subplot(pair[0]), figure.add_subplot(pair[1])
            _diagram(above, bins)
            _histogram(below, bins)
            above.set_title(named(name, (40, 30, 20)[columns - 1]), fontsize=10)
            # The last panel of a column need not stand in the last row.
            lowest = place + columns >= len(models)
            below.set_xticks(_TICKS, _PERCENT if lowest else [""] * len(_TICKS))
            if lowest:
                below.set_xlabel("stated confidence, %")
            if column == 0:
                above.set_yticks(_TICKS, _PERCENT)
                above.set_ylabel("right, %")
                below.set_ylabel("stated,\nshare")
        said = "; ".join(f"{named(name)} {_said(bins)}" for name, bins in models.items())
        return svg(f"Share of right answers over stated confidence. On average: {said}")


def _said(bins: "Sequence[Bin]") -> str:
    """Return what a model states on average, and how often it is right."""
    known = [
        (bin.n, bin.confidence, right)
        for bin in bins
        if bin.n and bin.confidence is not None and (right := bin.accuracy.value) is not None
    ]
    total = sum(n for n, _, _ in known)
    if not total:
        return "has no answers"
    stated = sum(n * confidence for n, confidence, _ in known) / total
    right = sum(n * right for n, _, right in known) / total
    return f"states {stated:.0%} and is right in {right:.0%}"


def _diagram(axes: Any, bins: "Sequence[Bin]") -> None:
    total = max(sum(bin.n for bin in bins), 1)
    axes.plot([0, 1], [0, 1], color=INK, lw=0.9, ls=(0, (4, 3)), alpha=0.5)
    for bin in bins:
        if bin.confidence is None or bin.accuracy.value is None:
            continue
        if bin.accuracy.ci95 is not None:
            axes.plot([bin.confidence] * 2, bin.accuracy.ci95, color=COLOURS[0], lw=1.4)
        # Whiskers are wide where points are small: no point vanishes.
        area = max(_AREA * bin.n / total, 5.0)
        axes.scatter(
            [bin.confidence], [bin.accuracy.value], s=area, color=COLOURS[0], alpha=0.8,
            lw=0, zorder=3,
        )  # fmt: skip
    axes.set_xlim(-0.03, 1.03)
    axes.set_ylim(-0.03, 1.03)
    axes.set_xticks(_TICKS, [""] * len(_TICKS))
    axes.set_yticks(_TICKS, [""] * len(_TICKS))
    axes.grid()


def _histogram(axes: Any, bins: "Sequence[Bin]") -> None:
    total = max(sum(bin.n for bin in bins), 1)
    shares = [bin.n / total for bin in bins]
    axes.bar(
        [bin.low for bin in bins], shares, [bin.high - bin.low for bin in bins],
        align="edge", color=INK, alpha=0.45, edgecolor="none",
    )  # fmt: skip
    axes.set_xlim(-0.03, 1.03)
    axes.set_yticks([])
    highest = max(shares, default=0.0)
    if highest > 0:
        # One number is enough to read the others by.
        tall = bins[shares.index(highest)]
        axes.text(
            min(max((tall.low + tall.high) / 2, 0.12), 0.9), highest * 1.06,
            f"{100 * highest:.0f} %", ha="center", va="bottom", fontsize=9,
        )  # fmt: skip
    axes.set_ylim(0, highest * 1.45 or 1.0)
