"""Differences with their intervals, one below the other, and where none would be."""

import math
from collections.abc import Sequence

from raybench.compare.found import RATING, SCORE, SHARE, Judged, Scale, Word
from raybench.compare.judging import beyond
from raybench.statements import Statement
from raybench.tracking.plots.style import COLOURS, WIDTH, drawing, named

_ROW, _AXIS = 0.32, 0.8
_MARKS: dict[Word, tuple[str, str]] = {"better": (COLOURS[2], "^"), "worse": (COLOURS[1], "v")}
_OTHER = (COLOURS[0], "o")


def differences(scores: Sequence[Judged], label: str) -> str | None:
    """Return the plot of the shares, or else of ratings or other scores; None if no interval.

    Colour and shape say what a verdict is; grey ticks are what would have shown to that side.
    """
    for scale in (SHARE, RATING, SCORE):
        those = [it for it in scores if it.score.scale == scale and not it.score.refused]
        if any(it.score.difference.ci95 is not None for it in those):
            return _drawn(those, scale, label)
    return None


def _drawn(scores: Sequence[Judged], scale: Scale, label: str) -> str:
    with drawing(WIDTH, _AXIS + _ROW * len(scores)) as (figure, svg):
        axes = figure.subplots()
        axes.axvline(0, color="#808080", lw=1)
        for place, it in enumerate(scores):
            colour, mark = _MARKS.get(it.verdict, _OTHER)
            difference = it.score.difference
            assert difference.value is not None
            if it.detectable_here is not None and not beyond(it.score, it.detectable_here):
                # To the side on which it lies: both would make the plot twice as wide.
                end = math.copysign(it.detectable_here, difference.value)
                axes.plot([end], [place], "|", color="#808080", ms=11, mew=1)
            if difference.ci95 is not None and not it.score.identical:
                axes.plot(
                    difference.ci95, [place, place], color=colour, lw=2, solid_capstyle="butt"
                )
            axes.plot([difference.value], [place], mark, color=colour, ms=7)
        axes.set_yticks(range(len(scores)), [named(it.score.title) for it in scores])
        axes.set_ylim(len(scores) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(axis(scores, scale))
        return svg(label)


def axis(scores: Sequence[Judged], scale: Scale) -> str:
    """Return what the axis shows; to which side better is only where that is so of all."""
    told = Statement(
        "compare.axis",
        "candidate less baseline{unit}",
        unit=f", in {scale.unit}" if scale.unit else "",
    )
    higher = {it.score.higher_is_better for it in scores}
    if len(higher) > 1:
        return told
    left, right = ("worse", "better") if higher == {True} else ("better", "worse")
    return Statement(
        "compare.axis_of_sides",
        "← {left} · {what} · {right} →",
        left=left,
        what=told,
        right=right,
    )
