"""A table of numbers as coloured cells."""

import math
from collections.abc import Sequence

from raybench.tracking.plots.style import Number, drawing, finite, named, nothing

_WRITTEN = 24
"""Rows or columns; in cells of more the colour alone speaks; files of the run have the numbers."""


def heatmap(
    matrix: Sequence[Sequence[Number | str]],
    rows: Sequence[str],
    columns: Sequence[str],
    label: str,
    *,
    digits: int = 2,
    ends: tuple[float, float] | None = None,
) -> str:
    """Return coloured cells with their numbers, blank where None; rows from the top.

    Words stand in cells without a colour. The colours go from the least to the largest number, or
    from one of `ends` to the other, whatever the numbers are.
    """
    if not any(isinstance(it, str) or finite(it) is not None for line in matrix for it in line):
        return nothing(label)
    written = max(len(rows), len(columns)) <= _WRITTEN
    size = 0.52 if written else 0.3
    names = [named(name) for name in columns]
    with drawing(size * max(len(columns), 1) + 0.4, size * 0.7 * max(len(rows), 1) + 0.4) as made:
        figure, svg = made
        axes = figure.add_subplot()
        cells = [[_number(value) for value in line] for line in matrix]
        known = [value for line in cells for value in line if not math.isnan(value)]
        low, high = ends or ((min(known), max(known)) if known else (0.0, 1.0))
        if low == high:
            low, high = low - 0.5, high + 0.5
        if rows and columns:
            mesh = axes.pcolormesh(
                cells, cmap="cividis", vmin=low, vmax=high, edgecolors="face", lw=0.4
            )
            for y, said in enumerate(matrix):
                for x, word in enumerate(said):
                    if isinstance(word, str):
                        axes.text(x + 0.5, y + 0.5, word, ha="center", va="center", fontsize=9)
            for y, line in enumerate(cells if written else ()):
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
        axes.set_yticks([y + 0.5 for y in range(len(rows))], [named(r) for r in rows])
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        axes.invert_yaxis()
        for spine in axes.spines.values():
            spine.set_visible(False)
        scale = "" if written else f"; from {low:.{digits}f} (dark) to {high:.{digits}f} (bright)"
        axes.set_xlabel(label + scale * (ends is None))
        span = (
            f", from {min(known):.{digits}f} to {max(known):.{digits}f}" if known else ", in words"
        )
        return svg(f"{label}: {len(rows)} rows, {len(columns)} columns{span}")


def _number(value: Number | str) -> float:
    number = None if isinstance(value, str) else finite(value)
    return math.nan if number is None else number
