"""Plots of one model and of forty, of parts, of nothing: right, small, the same twice, and safe."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from figures import DRAWN, MANY, NASTY, estimate, shares, sound

from raybench.tracking import plots
from raybench.tracking.plots.style import COLOURS

_MOST_BYTES = 500_000


def widest(svg: str) -> tuple[float, float]:
    """Return a plot's own width and the least that it is shown at, in points."""
    root = ET.fromstring(svg)
    least = re.search(r"min-width: (\d+)pt", root.get("style") or "")
    assert least
    return float((root.get("width") or "").removesuffix("pt")), float(least[1])


def test_bars_have_a_panel_for_each_measure_and_their_rows_in_common() -> None:
    panels = {
        "Intelligence Index": {NASTY: estimate(0.5, [0.4, 0.6]), "two": estimate(None)},
        "Math Index": {NASTY: estimate(0.25), "two": estimate(0.125, [0.1, 0.2])},
    }
    svg = plots.bars(panels, "accuracy")
    text = sound(svg)
    assert "<script>al" in text and text.count("two") == 1
    assert text.count("not computed") == 1
    assert text.count("accuracy") == 2
    assert svg.count(f"fill: {COLOURS[0]}; opacity: 0.55") == 3  # a bar for each number
    label = ET.fromstring(svg).get("aria-label") or ""
    assert "highest" in label and "0.50" in label and "1 without a number" in label


def test_the_order_of_bars_is_that_given() -> None:
    svg = plots.bars({"i": {"b": estimate(0.1), "a": estimate(0.9)}}, "accuracy")
    texts = [node.text for node in ET.fromstring(svg).iter() if node.tag.endswith("text")]
    assert texts.index("b") < texts.index("a")


def test_partial_indices_are_hollow() -> None:
    partial = {**estimate(0.5), "method": "partial: 2 of 3"}
    svg = plots.bars({"i": {"whole": estimate(0.5), "part": partial}}, "accuracy")
    assert svg.count(f"fill: {COLOURS[0]}; opacity: 0.55") == 1


def test_a_line_stands_at_chance_where_there_is_one() -> None:
    panels = {"guessed": shares(["a"]), "worked out": shares(["a"])}
    with_chance = plots.bars(panels, "accuracy", chances={"guessed": 0.25, "worked out": None})
    assert with_chance.count("stroke-dasharray") == 1
    assert "stroke-dasharray" not in plots.bars(panels, "accuracy")


@pytest.mark.parametrize(("value", "top"), [(0.9, "1"), (0.04, "0.05"), (0.0, "0.01")])
def test_the_scale_of_bars_ends_where_they_can_be_read(value: float, top: str) -> None:
    text = sound(plots.bars({"i": {"a": estimate(value, [0.0, value])}}, "accuracy"))
    assert text.split().count(top) == 1


def test_profiles_have_a_panel_for_each_model() -> None:
    models = {
        NASTY: {"algebra (3)": estimate(0.5, [0.4, 0.6]), "logic (2)": estimate(None)},
        "two": {"algebra (3)": estimate(0.75, [0.5, 1.0])},
    }
    svg = plots.profiles(models, ["algebra (3)", "logic (2)"], {NASTY: 0.5, "two": None}, "score")
    text = sound(svg)
    assert "<script>al" in text and "two" in text
    assert text.count("algebra (3)") == 1  # rows are named once
    assert text.count("score") == 2
    # A marker for each number, and none for what is refused.
    assert len(re.findall(rf'<use [^>]*style="fill: {COLOURS[0]}', svg)) == 2


def test_profiles_hold_intervals_with_one_end() -> None:
    bounded = {"value": None, "ci95": [1200.0, None]}
    open_ended = plots.profiles({"a": {"x": bounded, "y": estimate(1000.0)}}, ["x", "y"], {}, "r")
    without = plots.profiles({"a": {"x": {}, "y": estimate(1000.0)}}, ["x", "y"], {}, "r")
    sound(open_ended)
    assert open_ended.count(COLOURS[0]) > without.count(COLOURS[0])


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("names", [["a"], ["a", NASTY], MANY], ids=["1", "2", "40"])
def test_plots_of_one_model_and_of_forty(kind: str, names: list[str]) -> None:
    svg = DRAWN[kind](names)
    sound(svg)
    assert len(svg) < _MOST_BYTES
    assert svg == DRAWN[kind](names)  # the same bytes for the same numbers
    own, least = widest(svg)
    assert 0.9 * own < least <= own


def test_of_many_points_every_so_manieth_is_drawn_and_the_last() -> None:
    svg = plots.lines({"a": [0.0] * 1999 + [1.0]}, "iteration", "weight")
    assert " 4. " in sound(svg)
    low = plots.lines({"a": [0.0] * 2000}, "iteration", "weight")
    assert svg != low  # the last point is where the line ends
    assert "every" not in sound(plots.lines({"a": [0.0] * 500}, "iteration", "weight"))


def test_a_large_heatmap_says_what_its_colours_mean() -> None:
    text = sound(plots.heatmap([[0.25] * 30, [0.75] * 30], ["a", "b"], MANY[:30], "share"))
    assert text.count("0.25 (dark)") == text.count("0.75 (bright)") == text.count("0.25") == 1


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plots.lines({"a": [None], "b": []}, "iteration", "weight"),
        lambda: plots.heatmap([[None]], ["a"], ["a"], "share"),
        lambda: plots.heatmap([], [], [], "share"),
    ],
)
def test_where_there_is_no_number_a_sentence_says_so(draw: Callable[[], str]) -> None:
    svg = draw()
    said = sound(svg).partition(":")[0].casefold()
    assert said and said in (ET.fromstring(svg).get("aria-label") or "")


def test_one_point_has_a_scale_of_whole_steps() -> None:
    text = sound(plots.lines({"a": [0.5]}, "iteration", "weight"))
    assert "0.960" not in text
    assert "1" in text.split()
