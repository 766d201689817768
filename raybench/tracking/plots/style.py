"""What all plots share: their colours, their figure, and how it becomes a part of a page."""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from raybench.tracking.text import one_line, short_name

# Okabe and Ito's palette, told apart by colour-blind readers, without its black and its yellow,
# which vanish on a dark and on a light page, and with its blue a little lighter.
# Seven and more lines differ in their dashes too.
COLOURS = ("#2f86c5", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
INK = "#010203"
"""Stands for the page's text colour while matplotlib draws, and becomes currentColor."""
_STROKES = "stroke-linejoin: round; stroke-linecap: butt"
WIDTH = 6.4
_MARGIN = 0.04
"""Inches around a plot."""
_LEAST = 0.92
"""Of its own width, how much a plot keeps however narrow the page: 9 points are 11 pixels then."""
_LABEL = 1000
"""Characters that a reader of screens is told of a plot."""
_NAME = 28
"""Longer names are cut: the table has them in full."""

Number = float | None


@contextmanager
def drawing(width: float, height: float) -> Iterator[tuple[Any, Callable[[str], str]]]:
    """Yield a figure of our style and the function that ends it as SVG; pyplot is not involved."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    style = {
        "svg.hashsalt": "raybench",
        "svg.fonttype": "none",
        "text.parse_math": False,  # a model may be called $x$
        "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same measures everywhere
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.titlelocation": "left",
        "grid.alpha": 0.2,
        "grid.linewidth": 0.8,
        **dict.fromkeys(
            ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color",
             "grid.color"), INK
        ),
    }  # fmt: skip
    with rc_context(style), warnings.catch_warnings():
        # A name in letters that the measuring font lacks is only measured a little wrong.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height))
        yield figure, lambda label: _svg(figure, label)


def named(name: str, most: int = _NAME) -> str:
    """Return a model's name as plots have room for it."""
    return short_name(name, most)


def finite(value: Number) -> Number:
    """Return a number that can be drawn, or None."""
    return None if value is None or not math.isfinite(value) else float(value)


def nothing(label: str) -> str:
    """Return a figure that says in a sentence that there is nothing to draw."""
    with drawing(WIDTH, 0.4) as (figure, svg):
        figure.text(0.0, 0.5, "Nothing to draw: there is no number.", style="italic", alpha=0.75)
        return svg(f"{label}: nothing to draw, there is no number")


def draw_whiskers(
    axes: Any,
    whiskers: Sequence[tuple[float, float, int]],
    *,
    colour: str,
    lw: float,
    cap: float = 0.0,
    alpha: float = 1.0,
) -> None:
    """Draw intervals, each from here to there in its row, as one line with gaps: it stays small."""
    if not whiskers:
        return
    xs = [x for low, high, _ in whiskers for x in (low, high, math.nan)]
    ys = [float(row) for *_, row in whiskers for _ in range(3)]
    axes.plot(xs, ys, color=colour, lw=lw, alpha=alpha, solid_capstyle="butt")
    if cap:
        ends = [(x, row) for low, high, row in whiskers for x in (low, high)]
        axes.plot(*zip(*ends, strict=True), "|", color=colour, ms=cap, mew=1.2)


def extremes(estimates: Mapping[str, Mapping[str, Any]]) -> str:
    """Return in words which names have the highest and the lowest number, for who sees no plot."""
    known = {
        name: v for name, it in estimates.items() if (v := finite(it.get("value"))) is not None
    }
    refused = len(estimates) - len(known)
    without = f", {refused} without a number" if refused else ""
    if not known:
        return f"no number for any of {len(estimates)}"
    best, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    if len(known) == 1:
        return f"{named(best)} {number(known[best])}{without}"
    return (
        f"highest {named(best)} {number(known[best])}, lowest {named(least)} "
        f"{number(known[least])}, of {len(known)}{without}"
    )


def number(value: float) -> str:
    """Return a number as somebody reads it off a plot."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _svg(figure: Any, label: str) -> str:
    """Return the figure for a page's inside: no prolog, no ids that could clash, no own ink."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.StringIO()
    dpi = figure.dpi
    FigureCanvasSVG(figure)  # text is measured as it is drawn
    # With bbox_inches="tight" matplotlib draws the whole figure before it measures it.
    box = figure.get_tightbbox().padded(_MARGIN)
    figure.dpi = dpi  # measuring has set another one
    figure.savefig(out, format="svg", transparent=True, bbox_inches=box, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # matplotlib's style sheet would count for the whole page; its rules are inherited as well.
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", text)
    text = text.replace(INK, "currentColor").replace("'DejaVu Sans'", "system-ui, sans-serif")
    # Quotes in a label would end the attribute, and names in it are anybody's.
    name = re.sub(r"[<>&\"]", " ", one_line(label, _LABEL))
    # Letters are never smaller than people read: a page narrower than that pushes the plot.
    wide = re.search(r'width="([\d.]+)pt"', text)
    least = f"min-width: {_LEAST * float(wide[1]) if wide else 0:.0f}pt"
    return text.replace(
        "<svg", f'<svg role="img" aria-label="{name}" style="{_STROKES}; {least}"', 1
    ).strip()
