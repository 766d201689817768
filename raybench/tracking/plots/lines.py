"""A line for each model over steps."""

import math
from collections.abc import Mapping, Sequence

from raybench.tracking.plots.ends import name_ends
from raybench.tracking.plots.style import (
    COLOURS,
    DASHES,
    WIDTH,
    Number,
    drawing,
    extremes,
    finite,
    named,
    nothing,
)

_MOST = 500
"""Points of a line; of more, every second is drawn, or every third …"""


def lines(series: Mapping[str, Sequence[Number]], xlabel: str, ylabel: str) -> str:
    """Return a line for each name over 1, 2, 3 …, named at its end; None leaves a gap."""
    longest = max(map(len, series.values()), default=0)
    step = -(-longest // _MOST)
    if not any(finite(value) is not None for values in series.values() for value in values):
        return nothing(f"{ylabel} over {xlabel}")
    height = max(3.2, 0.6 + 0.2 * len(series))
    with drawing(WIDTH, height) as (figure, svg):
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_subplot()
        ends: list[tuple[str, float, float, str]] = []
        for place, (name, values) in enumerate(series.items()):
            # Of many points the last is drawn in any case: it is where things came to.
            drawn = [it for it in range(len(values)) if not (len(values) - 1 - it) % step]
            points = [math.nan if (v := finite(values[it])) is None else v for it in drawn]
            colour = COLOURS[place % len(COLOURS)]
            axes.plot(
                [it + 1 for it in drawn], points, color=colour, lw=1.8,
                ls=DASHES[place // len(COLOURS) % len(DASHES)],
                marker="o" if len(points) <= 30 else "", ms=3,
            )  # fmt: skip
            known = [(it + 1, y) for it, y in zip(drawn, points, strict=True) if not math.isnan(y)]
            if known:
                ends.append((named(name), float(known[-1][0]), known[-1][1], colour))
        axes.margins(x=0.01)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if longest == 1:
            axes.set_xticks([1])  # else the scale would be of thousandths
        axes.grid(axis="y")
        axes.set_xlabel(f"{xlabel} (every {step}. is drawn)" if step > 1 else xlabel)
        axes.set_ylabel(ylabel)
        name_ends(axes, ends, gap=0.24 / height)
        last = {name: {"value": values[-1]} for name, values in series.items() if values}
        return svg(f"{ylabel} over {xlabel}. At the end, {longest:,}: {extremes(last)}")
