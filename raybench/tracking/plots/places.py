"""Ranks of the same models in several ways: a line for each model from way to way."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from raybench.tracking.plots.ends import name_ends
from raybench.tracking.plots.style import COLOURS, DASHES, WIDTH, drawing, named

Ranks = Mapping[str, tuple[float, tuple[float, float]]]
"""By model: its rank, and between which ranks it is."""
_ROW = 0.36
_LABELS = 1.2
_NAME = 20
"""Characters of a name, which stands on both sides."""
End = tuple[str, float, float, str]


def places(ways: Mapping[str, Ranks], order: Sequence[str], raised: Collection[str] = ()) -> str:
    """Return ranks by way, one at least, the best on top, with their intervals as bars.

    `order` has the models, best first: each has a line of its own colour and dash, with its rank
    and name at both ends; those of models that are `raised` are bold.
    """
    with drawing(WIDTH, _LABELS + _ROW * max(len(order), 2)) as (figure, svg):
        axes = figure.add_subplot()
        axes.set_xlim(-0.35, len(ways) - 0.65)
        axes.set_ylim(-max(len(order), 2) - 0.5, -0.5)  # the first rank on top
        first: list[End] = []
        last: list[End] = []
        for at, model in enumerate(order):
            colour = COLOURS[at % len(COLOURS)]
            dash = DASHES[at // len(COLOURS) % len(DASHES)]
            offset = (at - (len(order) - 1) / 2) * 0.3 / max(len(order), 1)
            for ends, end in zip(
                (first, last),
                _line(axes, ways, model, colour, dash, offset, strong=model in raised),
                strict=False,
            ):
                ends.append(end)
        axes.set_xticks(range(len(ways)), list(ways))
        axes.xaxis.tick_top()
        axes.set_yticks([])
        for spine in ("left", "bottom"):
            axes.spines[spine].set_visible(False)
        gap = 1.05 / max(len(order), 2)
        name_ends(axes, first, gap, left=True)
        name_ends(axes, last, gap)
        return svg(_said(ways, order))


def _said(ways: Mapping[str, Ranks], order: Sequence[str]) -> str:
    """Return who stands first and last by each way."""
    told = []
    for way, of in ways.items():
        ranked = sorted((it for it in order if it in of), key=lambda it: of[it][0])
        if ranked:
            told.append(f"{way}: first {named(ranked[0])}, last {named(ranked[-1])}")
    return f"Ranks of {len(order)} models, with intervals. {'; '.join(told)}"


def _line(
    axes: Any,
    ways: Mapping[str, Ranks],
    model: str,
    colour: str,
    dash: Any,
    offset: float,
    *,
    strong: bool,
) -> list[End]:
    """Draw a model from way to way; return where its name stands: at its first and last rank."""
    shown = [
        (place + offset, -of[model][0], [-end for end in of[model][1]])
        for place, of in enumerate(ways.values())
        if model in of
    ]
    if not shown:
        return []
    for x, _, both in shown:
        axes.plot([x, x], both, color=colour, lw=1.2, alpha=0.4)
    xs, ys = [x for x, _, _ in shown], [rank for _, rank, _ in shown]
    axes.plot(xs, ys, ls=dash, color=colour, lw=3.0 if strong else 1.6)
    axes.plot(xs, ys, "o", color=colour, ms=7 if strong else 5)
    name = named(model, _NAME)
    return [
        (f"{-ys[0]:g} {name}", xs[0], ys[0], colour),
        (f"{-ys[-1]:g} {name}", xs[-1], ys[-1], colour),
    ]
