"""Accuracy over the tokens a reply took, a line for each model."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from raybench.tracking.plots.ends import name_ends
from raybench.tracking.plots.style import COLOURS, DASHES, WIDTH, drawing, named

if TYPE_CHECKING:  # numpy comes with it, which the plan of a run need not wait for
    from raybench.stats.budgets import Budget

_MOST_TICKS = 8
_BAND = 0.5
"""How much of a bin's width the points of all models share, side by side."""


def budgets(models: "Mapping[str, Sequence[Budget]]") -> str:
    """Return accuracy with 95 % whiskers over tokens, from each power of two to the next.

    A length that no reply has leaves a gap. Points of few replies are hollow, and their whiskers
    may run off the top, so that they do not flatten the others.
    """
    from raybench.stats.budgets import ENOUGH

    height = max(3.2, 0.6 + 0.2 * len(models))
    every = [budget for found in models.values() for budget in found]
    starts = sorted({budget.low for budget in every})
    with drawing(WIDTH, height) as (figure, svg):
        axes = figure.add_subplot()
        ends: list[tuple[str, float, float, str]] = []
        nothing = min((math.log2(low) for low in starts if low), default=1.0) - 1.2
        for number, (name, found) in enumerate(models.items()):
            aside = ((number + 0.5) / len(models) - 0.5) * _BAND
            colour = COLOURS[number % len(COLOURS)]
            xs = [aside + 0.5 + (math.log2(b.low) if b.low else nothing) for b in found]
            ys = [math.nan if b.accuracy.value is None else b.accuracy.value for b in found]
            # Nothing said is no length beside the others.
            line = slice(1 if found and found[0].low == 0 else 0, None)
            axes.plot(
                xs[line], ys[line], color=colour, lw=1.6,
                ls=DASHES[number // len(COLOURS) % len(DASHES)],
            )  # fmt: skip
            for x, y, budget in zip(xs, ys, found, strict=True):
                few = budget.n < ENOUGH
                if budget.accuracy.ci95 is not None:
                    axes.plot(
                        [x, x], budget.accuracy.ci95, color=colour, lw=1.1,
                        alpha=0.25 if few else 0.75,
                    )  # fmt: skip
                axes.plot([x], [y], "o", color=colour, ms=4, mfc="none" if few else colour)
            known = [(x, y) for x, y in zip(xs, ys, strict=True) if not math.isnan(y)]
            if known:
                ends.append((named(name), *known[-1], colour))
        # A point at 0 is seen whole.
        top = _top(every)
        axes.set_ylim(-0.02 * top, top)
        _ticks(axes, starts, nothing)
        axes.grid(axis="y")
        axes.set_xlabel(f"tokens of the reply (hollow: fewer than {ENOUGH} replies)")
        axes.set_ylabel("accuracy")
        name_ends(axes, ends, gap=0.24 / height)
        said = "; ".join(f"{named(name)}: {_said(found)}" for name, found in models.items())
        return svg(f"Accuracy over tokens of the reply. {said}")


def _said(found: "Sequence[Budget]") -> str:
    """Return at which lengths a model is right most and least often, of enough replies."""
    from raybench.stats.budgets import ENOUGH

    known = [(v, it) for it in found if it.n >= ENOUGH and (v := it.accuracy.value) is not None]
    if not known:
        return f"no length has {ENOUGH} replies"
    best, least = max(known, key=lambda it: it[0]), min(known, key=lambda it: it[0])
    told = f"{best[0]:.2f} from {best[1].low:,} tokens"
    if best[1] is least[1]:
        return told
    return f"highest {told}, lowest {least[0]:.2f} from {least[1].low:,}"


def _top(every: "Sequence[Budget]") -> float:
    """Return how high the plot reaches: over all points, and all whiskers of enough replies."""
    from raybench.stats.budgets import ENOUGH

    reached = [budget.accuracy.value or 0.0 for budget in every]
    reached += [b.accuracy.ci95[1] for b in every if b.accuracy.ci95 and b.n >= ENOUGH]
    return max(reached, default=0.0) * 1.06 or 1.0


def _ticks(axes: Any, starts: Sequence[int], nothing: float) -> None:
    """Write the powers of two where bins begin and end, every other one where they are many."""
    powers = [low.bit_length() - 1 for low in starts if low]
    ticks: dict[float, str] = {}
    if powers:
        shown = range(powers[0], powers[-1] + 2)
        step = -(-len(shown) // _MOST_TICKS)
        ticks = {float(power): f"{1 << power:,}" for power in shown[::step]}
    if 0 in starts:
        ticks[nothing + 0.5] = "0"
    axes.set_xticks(list(ticks), list(ticks.values()), fontsize=9)
