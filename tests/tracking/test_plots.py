import re
from itertools import pairwise
from typing import Any

import pytest
from figures import NASTY, estimate, sound
from hypothesis import given
from hypothesis import strategies as st

from raybench.stats import budgets, reliability
from raybench.tracking import plots
from raybench.tracking.plots.ends import spread
from raybench.tracking.plots.style import COLOURS


def test_forest() -> None:
    svg = plots.forest(
        {NASTY: estimate(0.5, [0.4, 0.6]), "two": estimate(0.3), "three": estimate(None)}, "score"
    )
    text = sound(svg)
    assert "<script>al" in text  # shown as text, cut to its room
    assert "two" in text
    assert "not computed" in text
    assert "currentColor" in svg


def test_forest_of_bounds() -> None:
    low = {"value": None, "ci95": [1313.4, None]}
    text = sound(plots.forest({"top": low, "b": estimate(1000.0, [900.0, 1100.0])}, "rating"))
    assert "≥ 1313" in text
    assert "not computed" not in text
    panels = {"one": {"b": estimate(1.0)}, "two": {"z": {"value": None, "ci95": [None, 7.0]}}}
    text = sound(plots.forests(panels, "both"))
    assert "≤ 7" in text
    assert {"one", "two", "b", "z"} <= {*text.split()}


def test_versus() -> None:
    both = {
        "with": {NASTY: estimate(0.5, [0.4, 0.6]), "two": estimate(None)},
        "without": {"two": estimate(-1.5), "three": estimate(0.1, [0.0, 0.2])},
    }
    svg = plots.versus({"places": both, "points": {"with": {}}})
    text = sound(svg)
    assert "<script>al" in text
    for word in ("places", "points", "with", "without"):
        assert text.split().count(word) == 1  # one legend for both panels
    assert text.count("three") == 1  # nor are the rows named twice
    # A marker for each of three values, of its series' colour, and one in the legend.
    assert [svg.count(f'style="fill: {colour}; stroke: {colour}') for colour in COLOURS[:2]] == [
        2,
        3,
    ]


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


def colours(svg: str) -> list[str]:
    """Return the fills of a plot's cells, by how they come first."""
    return [*dict.fromkeys(re.findall(r"fill: (#[0-9a-f]{6}); stroke: #", svg))]


def test_a_heatmaps_colours_can_be_fixed() -> None:
    def drawn(*row: float) -> list[str]:
        return colours(plots.heatmap([row], ["a"], [*"bc"], "share", ends=(0.0, 1.0)))

    assert drawn(0.5, 0.6)[0] == drawn(0.5, 0.9)[0]
    assert drawn(0.4, 0.6) != drawn(0.0, 1.0)
    assert len({*drawn(0.4, 0.6), *drawn(0.0, 1.0)}) == 4


def test_words_stand_in_a_heatmap() -> None:
    text = sound(plots.heatmap([[None, ">"], ["<", 0.25]], ["a", "b"], ["a", "b"], "chance"))
    assert ">" in text and "<" in text and "0.25" in text


def test_reliability() -> None:
    stated = [0.95] * 30 + [0.1] * 10
    found = reliability.reliability(stated, [1] * 15 + [0] * 25)
    svg = plots.reliability({NASTY: found, "two": found, "three": found, "four": found})
    text = sound(svg)
    assert "<script>al" in text
    assert text.count("75 %") == 4  # the highest of each histogram
    assert "stated confidence, %" in text
    # Two points and two whiskers a panel, none for the eight empty bins.
    assert svg.count(f"stroke: {COLOURS[0]}; stroke-width: 1.4") == 8
    assert svg.count("stroke: currentColor; stroke-opacity: 0.5") == 4  # the diagonals


def test_points_of_many_items_are_larger() -> None:
    svg = plots.reliability({"a": reliability.reliability([0.05] * 90 + [0.95] * 10, [0] * 100)})
    # A circle's path begins at its lowest point: 0, and its radius.
    radii = [float(radius) for radius in re.findall(r'<path id="\w+" d="M 0 ([1-9][\d.]*)', svg)]
    assert len(radii) == 2
    assert max(radii) / min(radii) == pytest.approx(3, rel=0.01)  # nine times the area


def test_budgets() -> None:
    tokens = [0] * 3 + [300] * 40 + [5000] * 10
    found = budgets.bins(tokens, [0] * 3 + [1, 0] * 20 + [1] * 10)
    svg = plots.budgets({NASTY: found, "two": found})
    text = sound(svg)
    for tick in ("256", "512", "1,024", "8,192", "accuracy", "hollow: fewer than 30 replies"):
        assert tick in text
    assert "<script>al" in text
    assert re.search(r"\b0 ", text)


@pytest.mark.parametrize(
    "svg",
    [
        lambda: plots.reliability({}),
        lambda: plots.reliability({"a": []}),
        lambda: plots.reliability({"a": reliability.reliability([], [])}),
        lambda: plots.reliability({"a": reliability.reliability([0.0, 1.0], [1, 0])}),
        lambda: plots.reliability(
            {f"model {i}": reliability.reliability([i / 20], [1]) for i in range(20)}
        ),
        lambda: plots.budgets({}),
        lambda: plots.budgets({"a": []}),
        lambda: plots.budgets({"a": budgets.bins([0], [0])}),
        lambda: plots.budgets({"a": budgets.bins([1, 2**20], [0, 1]), "b": []}),
        lambda: plots.budgets({f"{i}": budgets.bins([2**i], [1]) for i in range(40)}),
        lambda: plots.forest({}, "score"),
        lambda: plots.forest({"a": estimate(None)}, "score"),
        lambda: plots.versus({"x": {}}),
        lambda: plots.versus({"x": {"a": {}}, "y": {"b": {"c": estimate(None)}}}),
        lambda: plots.versus({"x": {f"{i}": {"a": estimate(1.0)} for i in range(9)}}),
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
            plots.versus({"x": {"a": {"b": estimate(0.5, [0.4, 0.6])}}}),
            plots.lines({"a": [1.0, 2.0]}, "x", "y"),
            plots.heatmap([[1.0, 2.0]], ["a"], ["b", "c"], "z"),
            plots.reliability({"a": reliability.reliability([0.5, 0.9], [1, 0])}),
            plots.budgets({"a": budgets.bins([100, 5000], [1, 0])}),
        ]

    assert draw() == draw()


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.01, 0.05))
def test_names_at_line_ends_keep_apart_and_stay_inside(wanted: list[float], gap: float) -> None:
    wanted.sort()
    places = spread(wanted, gap)
    assert len(places) == len(wanted)
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    assert all(b - a >= gap - 1e-9 for a, b in pairwise(places))
    if all(b - a >= gap for a, b in pairwise(wanted)):
        assert places == pytest.approx(wanted)


def test_across() -> None:
    svg = plots.across(
        {
            "before": {NASTY: [estimate(1000, [990, 1010]), estimate(None)], "two": []},
            "after": {"two": [estimate(980), estimate(990)]},
        },
        ["0", "mine:words"],
        "phrasing",
        "rating",
    )
    text = sound(svg)
    for shown in ("before", "after", "phrasing", "rating", "mine:words", "two"):
        assert shown in text


@pytest.mark.parametrize("panels", [{"only": {}}, {"only": {"a": [estimate(None)]}}])
def test_across_draws_what_there_is(panels: Any) -> None:
    assert "only" in sound(plots.across(panels, ["0"], "phrasing", "rating"))


def label(svg: str) -> str:
    """Return what a reader of screens is told."""
    found = re.search(r'aria-label="([^"]*)"', svg)
    assert found is not None
    return found[1]


def told(svg: str) -> list[str]:
    """Return the names and numbers in it, in their order."""
    return re.findall(r"\b(?:one|two|before|after|Index|Exam)\b|\d+(?:\.\d+)?%?", label(svg))


def test_lines_are_told_by_where_they_end() -> None:
    of: dict[str, list[float | None]]
    of = {"one": [0.9, 0.1], "two": [0.2, 0.6], "none": [None, None]}
    found = told(plots.lines(of, "iteration", "score"))
    assert found == ["2", "two", "0.60", "one", "0.10", "2", "1"]


def test_conditions_are_told_by_who_moves_most_and_least() -> None:
    moves = {"one": [estimate(1000), estimate(1010)], "two": [estimate(900), estimate(1100)]}
    of = {"before": {**moves, "none": []}, "after": {"one": [estimate(1)]}}
    found = told(plots.across(of, ["0", "1"], "words", "rating"))
    before = ["before", "two", "900", "1100", "one", "1000", "1010", "3"]
    assert found[:8] == before and found[8] == "after" and found[-1] == "1"
    assert not {"one", "900", "1000"} & {*found[9:]}


def test_measures_are_told_by_their_extremes_in_each_series() -> None:
    svg = plots.versus({"worth": {"before": {"one": estimate(0.2), "two": estimate(0.4)}}})
    assert told(svg) == ["95", "before", "two", "0.40", "one", "0.20", "2"]


def test_budgets_are_told_by_where_enough_replies_are_right_most_and_least() -> None:
    tokens = [10] * 40 + [300] * 40 + [5000] * 2
    found = budgets.bins(tokens, [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30 + [1] * 2)
    svg = plots.budgets({"one": found, "two": budgets.bins([9], [1])})
    assert told(svg) == ["one", "0.75", "8", "0.25", "256", "two", "30"]


def test_reliability_is_told_by_what_is_stated_and_what_is_right() -> None:
    found = reliability.reliability([0.9] * 30 + [0.5] * 10, [1] * 10 + [0] * 30)
    svg = plots.reliability({"one": found, "two": []})
    assert told(svg) == ["one", "80%", "25%", "two"]


def test_ranks_are_told_by_who_is_first_and_last_each_way() -> None:
    ranks = {"one": (1.0, (1.0, 2.0)), "two": (2.0, (1.0, 2.0))}
    of = {"Index": ranks, "Exam": {"two": (1.0, (1.0, 1.0))}}
    svg = plots.places(of, ["one", "two"], ["two"])
    assert told(svg) == ["2", "Index", "one", "two", "Exam", "two", "two"]
    text = sound(svg)
    assert text.split() == ["Index", "Exam", "2", "two", "1", "one", "1", "one", "1", "two"]


def test_every_model_has_a_line_of_its_own_in_a_chart_of_ranks() -> None:
    names = [f"m{at}" for at in range(12)]
    one = {name: (at + 1.0, (at + 1.0, at + 1.0)) for at, name in enumerate(names)}
    svg = plots.places({"x": one, "y": one}, names)
    drawn = re.findall(r'<path d="M [^"]+L [^"]+"[^>]*style="fill: none; ([^"]*)"', svg)
    lines = {it for it in drawn if "stroke-width: 1.6" in it}
    assert len(lines) == 12
