"""Plots as inline SVG: text stays text, ink is the page's colour, equal data give equal bytes."""

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from raybench.tracking.text import one_line

# Okabe and Ito's palette, told apart by colour-blind readers, without its black and its yellow,
# which vanish on a dark and on a light page, and with its blue a little lighter.
# Seven and more lines differ in their dashes too.
_COLOURS = ("#2f86c5", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
_INK = "#010203"
"""Stands for the page's text colour while matplotlib draws, and becomes currentColor."""
_STROKES = "stroke-linejoin: round; stroke-linecap: butt"
_WIDTH = 6.4
_NAME = 28
"""Longer names are cut: the table has them in full."""

Number = float | None


def forest(estimates: Mapping[str, Mapping[str, Any]], xlabel: str) -> str:
    """Return a point with its 95 % whisker for each name, first on top; refused ones say so."""
    with _figure(_WIDTH, 0.75 + 0.3 * max(len(estimates), 1)) as (figure, svg):
        axes = figure.add_subplot()
        for place, estimate in enumerate(estimates.values()):
            value, ci95 = _finite(estimate.get("value")), estimate.get("ci95")
            if value is None:
                axes.text(
                    0.02, place, "refused", transform=axes.get_yaxis_transform(), va="center",
                    style="italic", alpha=0.7,
                )  # fmt: skip
                continue
            if ci95 is not None and None not in ci95:
                axes.plot(ci95, [place, place], color=_COLOURS[0], lw=2, solid_capstyle="butt")
                axes.plot(ci95, [place, place], "|", color=_COLOURS[0], ms=8, mew=1.5)
            axes.plot([value], [place], "o", color=_COLOURS[0], ms=6)
        axes.set_yticks(range(len(estimates)), [one_line(name, _NAME) for name in estimates])
        axes.set_ylim(max(len(estimates), 1) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        axes.set_xlabel(xlabel)
        return svg(f"{xlabel}: estimate and 95 % interval of each model")


def lines(series: Mapping[str, Sequence[Number]], xlabel: str, ylabel: str) -> str:
    """Return a line for each name over 1, 2, 3 …, named at its end; None leaves a gap."""
    height = max(3.2, 0.6 + 0.2 * len(series))
    with _figure(_WIDTH, height) as (figure, svg):
        from matplotlib.ticker import MaxNLocator

        axes = figure.add_subplot()
        ends: list[tuple[str, float, float, str]] = []
        for place, (name, values) in enumerate(series.items()):
            points = [math.nan if (v := _finite(value)) is None else v for value in values]
            colour = _COLOURS[place % len(_COLOURS)]
            axes.plot(
                range(1, len(points) + 1), points, color=colour, lw=1.8,
                ls=_DASHES[place // len(_COLOURS) % len(_DASHES)],
                marker="o" if len(points) <= 30 else "", ms=3,
            )  # fmt: skip
            known = [(x, y) for x, y in enumerate(points, start=1) if not math.isnan(y)]
            if known:
                ends.append((one_line(name, _NAME), float(known[-1][0]), known[-1][1], colour))
        axes.margins(x=0.01)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y")
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        _name_ends(axes, ends, gap=0.24 / height)
        return svg(f"{ylabel} over {xlabel}")


def heatmap(
    matrix: Sequence[Sequence[Number]],
    rows: Sequence[str],
    columns: Sequence[str],
    label: str,
    *,
    digits: int = 2,
) -> str:
    """Return coloured cells with their numbers, blank where None; rows from the top."""
    size = 0.52
    names = [one_line(name, _NAME) for name in columns]
    with _figure(size * max(len(columns), 1) + 0.4, size * 0.7 * max(len(rows), 1) + 0.4) as made:
        figure, svg = made
        axes = figure.add_subplot()
        cells = [[math.nan if (v := _finite(x)) is None else v for x in line] for line in matrix]
        known = [value for line in cells for value in line if not math.isnan(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        if rows and columns:
            mesh = axes.pcolormesh(
                cells, cmap="cividis", vmin=low, vmax=high, edgecolors="face", lw=0.4
            )
            for y, line in enumerate(cells):
                for x, value in enumerate(line):
                    if not math.isnan(value):
                        red, green, blue, _ = mesh.cmap(mesh.norm(value))
                        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                        axes.text(
                            x + 0.5, y + 0.5, f"{value:z.{digits}f}", ha="center", va="center",
                            color="#ffffff" if dark else "#000000", fontsize=9,
                        )  # fmt: skip
        slant = max(map(len, names), default=0) > 5
        turned = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"} if slant else {}
        axes.set_xticks([x + 0.5 for x in range(len(names))], names, **turned)
        axes.set_yticks([y + 0.5 for y in range(len(rows))], [one_line(r, _NAME) for r in rows])
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_xlabel(label)
        return svg(label)


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple[Any, Callable[[str], str]]]:
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
             "grid.color"), _INK
        ),
    }  # fmt: skip
    with rc_context(style), warnings.catch_warnings():
        # A name in letters that the measuring font lacks is only measured a little wrong.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=(width, height))
        yield figure, lambda label: _svg(figure, label)


def _svg(figure: Any, label: str) -> str:
    """Return the figure for a page's inside: no prolog, no ids that could clash, no own ink."""
    out = io.StringIO()
    figure.savefig(
        out, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.04,
        metadata={"Date": None},
    )  # fmt: skip
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    # matplotlib's style sheet would count for the whole page; its rules are inherited as well.
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>\s*", "", text, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda m: m[0] if m[1] in used else "", text)
    text = text.replace(_INK, "currentColor").replace("'DejaVu Sans'", "system-ui, sans-serif")
    # The label is ours, but quotes in it would end the attribute.
    name = re.sub(r"[<>&\"]", " ", one_line(label))
    return text.replace(
        "<svg", f'<svg role="img" aria-label="{name}" style="{_STROKES}"', 1
    ).strip()


def _name_ends(axes: Any, ends: Sequence[tuple[str, float, float, str]], gap: float) -> None:
    """Write each line's name at its end, pushed apart where they would overlap."""
    low, high = axes.get_ylim()
    order = sorted(ends, key=lambda end: end[2])
    places = _spread([(y - low) / (high - low) for _, _, y, _ in order], gap)
    for (name, x, y, colour), place in zip(order, places, strict=True):
        axes.annotate(
            name, xy=(x, y), xycoords="data", xytext=(1.03, place), textcoords="axes fraction",
            va="center", color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "alpha": 0.45, "lw": 0.8,
                        "shrinkA": 2, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip


def _spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return the places nearest to the wanted, ascending ones that keep the gap and stay in 0..1.

    Less i·gap each, this is isotonic regression: neighbours that clash are pooled at their mean.
    """
    pools: list[tuple[float, int]] = []
    for i, place in enumerate(wanted):
        total, count = place - i * gap, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            total, count = total + pools[-1][0], count + pools[-1][1]
            pools.pop()
        pools.append((total, count))
    highest = max(1 - (len(wanted) - 1) * gap, 0.0)
    free = [min(max(total / count, 0.0), highest) for total, count in pools for _ in range(count)]
    return [place + i * gap for i, place in enumerate(free)]


def _finite(value: Number) -> Number:
    return None if value is None or not math.isfinite(value) else float(value)
