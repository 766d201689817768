"""Figures of every kind for tests, and what every figure promises."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

from raybench.stats import reliability
from raybench.tracking import plots

MANY = [f"model-{number:02d}" for number in range(40)]
NASTY = "<script>alert(1)</script> & $x^2$"


def estimate(value: float | None, ci95: list[float] | None = None) -> dict[str, Any]:
    return {"value": value, "stderr": None, "ci95": ci95, "n": 3, "method": "t"}


def sound(svg: str) -> str:
    """Check what every figure promises, and return its visible text."""
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label")
    assert "<script" not in svg
    assert "#010203" not in svg
    assert "DejaVu" not in svg
    assert "<metadata" not in svg
    assert "<style" not in svg
    ids = re.findall(r' id="([^"]+)"', svg)
    assert all(f"#{name}" in svg for name in ids)
    return " ".join("".join(node.itertext()) for node in root.iter() if node.tag.endswith("text"))


def shares(names: list[str]) -> dict[str, dict[str, Any]]:
    values = [(number + 1) / (len(names) + 1) for number in range(len(names))]
    return {
        name: estimate(value, [value / 2, value]) for name, value in zip(names, values, strict=True)
    }


DRAWN: dict[str, Callable[[list[str]], str]] = {
    "bars": lambda names: plots.bars({f"index {i}": shares(names) for i in range(4)}, "accuracy"),
    "forest": lambda names: plots.forest(shares(names), "score"),
    "heatmap": lambda names: plots.heatmap(
        [[None if row == column else 0.5 for column in names] for row in names],
        names, names, "share", ends=(0.0, 1.0),
    ),
    "lines": lambda names: plots.lines(
        {name: [number % 7 / 7 for number in range(100 * len(names))] for name in names},
        "iteration", "weight",
    ),
    "profiles": lambda names: plots.profiles(
        {name: shares([f"part {i}" for i in range(20)]) for name in names[:8]},
        [f"part {i}" for i in range(20)], {}, "accuracy",
    ),
    "reliability": lambda names: plots.reliability(
        {name: reliability.reliability([0.9] * 30, [1] * 20 + [0] * 10) for name in names[:12]}
    ),
}  # fmt: skip
