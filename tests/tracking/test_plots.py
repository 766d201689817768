import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.tracking import plots

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


def test_forest() -> None:
    svg = plots.forest(
        {NASTY: estimate(0.5, [0.4, 0.6]), "two": estimate(0.3), "three": estimate(None)}, "score"
    )
    text = sound(svg)
    assert "<script>alert(1)" in text  # shown as text, cut to its room
    assert "two" in text
    assert "refused" in text
    assert "currentColor" in svg


def test_lines() -> None:
    text = sound(
        plots.lines(
            {NASTY: [0.1, None, 0.3], "gap": [None, 0.2, float("nan")], "never": [None, None]},
            "iteration",
            "score",
        )
    )
    assert "gap" in text
    assert "never" not in text
    assert "iteration" in text


def test_heatmap() -> None:
    text = sound(plots.heatmap([[None, 2.5], [3.25, 1.0]], ["a", NASTY], ["c", "d"], "mean"))
    assert "2.50" in text
    assert "3.25" in text
    assert "nan" not in text


@pytest.mark.parametrize(
    "svg",
    [
        lambda: plots.forest({}, "score"),
        lambda: plots.forest({"a": estimate(None)}, "score"),
        lambda: plots.lines({}, "x", "y"),
        lambda: plots.lines({"a": []}, "x", "y"),
        lambda: plots.lines({"a": [1.0]}, "x", "y"),
        lambda: plots.heatmap([], [], [], "z"),
        lambda: plots.heatmap([[None]], ["a"], ["b"], "z"),
        lambda: plots.heatmap([[1.0]], ["a"], ["b"], "z"),
        lambda: plots.forest({"模型\x00\n二": estimate(1.0)}, 'a "quoted" <label>'),
        lambda: plots.lines({f"model {i}": [1.0, 1.0 + i / 99] for i in range(40)}, "x", "y"),
    ],
)
def test_odd_data_still_make_a_figure(svg: Any, recwarn: pytest.WarningsRecorder) -> None:
    sound(svg())
    assert not [str(w.message) for w in recwarn]


def test_equal_data_give_equal_bytes() -> None:
    def draw() -> list[str]:
        return [
            plots.forest({"a": estimate(0.5, [0.4, 0.6])}, "score"),
            plots.lines({"a": [1.0, 2.0]}, "x", "y"),
            plots.heatmap([[1.0, 2.0]], ["a"], ["b", "c"], "z"),
        ]

    assert draw() == draw()


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.01, 0.05))
def test_names_at_line_ends_keep_apart_and_stay_inside(wanted: list[float], gap: float) -> None:
    wanted.sort()
    places = plots._spread(wanted, gap)
    assert len(places) == len(wanted)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(places))
    if all(b - a >= gap for a, b in pairwise(wanted)):
        assert places == pytest.approx(wanted)
