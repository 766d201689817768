"""Names at the ends of lines, instead of a legend."""

from collections.abc import Sequence
from typing import Any


def name_ends(
    axes: Any, ends: Sequence[tuple[str, float, float, str]], gap: float, *, left: bool = False
) -> None:
    """Write each line's name at its end, or on the left, pushed apart where they would overlap."""
    at, side, near = (-0.03, "right", 1) if left else (1.03, "left", 0)
    low, high = axes.get_ylim()
    order = sorted(ends, key=lambda end: end[2])
    places = spread([(y - low) / (high - low) for _, _, y, _ in order], gap)
    for (name, x, y, colour), place in zip(order, places, strict=True):
        axes.annotate(
            name, xy=(x, y), xycoords="data", xytext=(at, place), textcoords="axes fraction",
            va="center", ha=side, color=colour, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "alpha": 0.45, "lw": 0.8,
                        "shrinkA": 2, "shrinkB": 2, "relpos": (near, 0.5)},
        )  # fmt: skip


def spread(wanted: Sequence[float], gap: float) -> list[float]:
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
