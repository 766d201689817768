import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code

from raybench.stats.beyond import LEAST_RELIABILITY, Lines, Points, among, beyond

OVER = "ratings by task"
NONE = Points(np.array([]), np.array([]), np.array([], dtype=int))
Rows = list[tuple[int, int, int]]

rows = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=30
)


def points(x: Any, y: Any, groups: Any) -> Points:
    return Points(np.array(x, dtype=float), np.array(y, dtype=float), np.array(groups))


def line(of: Points, error: float = 0.0, groups: int = 4) -> Lines:
    return Lines.through(of, np.full(len(of.x), error), groups)


# -------------------------------------------------------------------------------- known answers


def test_what_lies_above_the_others_line_is_found() -> None:
    others = points([1, 2, 3, 4], [2, 2.5, 3, 3.5], [0, 1, 2, 3])
    own = points([1, 2, 4], [3, 3.5, 4.4], [0, 1, 3])
    found = beyond(own, line(others), over=OVER)
    assert found.value == pytest.approx((1 + 1 + 0.9) / 3)
    # The line is exact: what is left is the error of the mean of 1, 1 and 0.9.
    assert found.stderr == pytest.approx(float(np.std([1, 1, 0.9], ddof=1)) / math.sqrt(3))
    assert found.n == 3


def test_the_interval_is_that_of_refitting_without_each_group() -> None:
    rng = np.random.default_rng(3)
    x, groups = rng.normal(size=30), np.repeat(np.arange(6), 5)
    y = 0.7 * x + rng.normal(size=30)
    own = points(rng.normal(size=6) + 1, rng.normal(size=6), np.arange(6))
    found = beyond(own, line(points(x, y, groups), groups=6), over=OVER)

    def refitted(kept: Any, mine: Any) -> float:
        slope, intercept = np.polyfit(x[kept], y[kept], 1)
        return float((own.y[mine] - intercept - slope * own.x[mine]).mean())

    value = refitted(groups >= 0, own.groups >= 0)
    each = [refitted(groups != it, own.groups != it) for it in range(6)]
    assert found.value == pytest.approx(value)
    assert found.stderr == pytest.approx(
        math.sqrt(5 / 6 * math.fsum((it - value) ** 2 for it in each))
    )


def test_the_slope_is_steepened_by_what_is_error_in_x() -> None:
    # The variance of x is 2: of it 0.5 is error, and a quarter of the true slope is missing.
    others = points([1, 2, 3, 4, 5], [1, 1.75, 2.5, 3.25, 4], [0, 1, 2, 3, 4])
    found = line(others, 0.5, groups=5)
    assert (found.x[0], found.y[0]) == (3, 2.5)
    assert found.slope[0] == pytest.approx(0.75 / 0.75)
    assert found.above(points([5], [4.5], [0]))[0] == pytest.approx(0)
    # No steeper than this, however uncertain x is.
    assert line(others, 9, groups=5).slope[0] == pytest.approx(0.75 / LEAST_RELIABILITY)


def test_without_a_line_nothing_lies_above_it() -> None:
    own = points([1], [3], [0])
    for others in (NONE, points([2, 2], [1, 5], [0, 1])):
        found = beyond(own, line(others), over=OVER)
        assert found.value is None
        assert code(found.method) == "refused.no_line"
    exact = line(points([1, 2, 3], [1, 5, 9], [0, 1, 2]))
    assert code(beyond(NONE, exact, over=OVER).method) == "refused.empty"


def test_an_interval_that_cannot_be_had_says_why() -> None:
    exact = line(points([1, 2, 3], [1, 5, 9], [0, 1, 2]))
    alone = beyond(points([1], [3], [0]), exact, over=OVER)
    assert alone.value == pytest.approx(2.0)
    assert alone.ci95 is None
    assert code(alone.method) == "no_interval.hangs_on_one"
    # Without the first group nothing differs in x.
    narrow = line(points([1, 2, 2], [1, 5, 9], [0, 1, 2]))
    assert beyond(points([1, 2], [3, 3], [0, 1]), narrow, over=OVER).ci95 is None
    equal = beyond(points([1, 2], [3, 7], [0, 1]), exact, over=OVER)
    assert (equal.value, equal.ci95) == (2.0, None)
    assert code(equal.method) == "no_interval.all_equal"


def test_one_among_others_is_uncertain_by_how_far_they_spread() -> None:
    found = among(0.5, np.array([-0.1, 0.0, 0.1]), over="leanings")
    assert (found.value, found.n) == (0.5, 3)
    assert found.stderr == pytest.approx(0.1 * math.sqrt(4 / 3))
    half = 4.3027 * 0.1 * math.sqrt(4 / 3)
    assert found.ci95 == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)


@pytest.mark.parametrize(
    ("others", "why"),
    [([0.1], "fewer_than_two"), ([], "fewer_than_two"), ([0.2] * 3, "all_equal")],
)
def test_one_among_too_few_has_no_interval(others: list[float], why: str) -> None:
    found = among(0.5, np.array(others), over="leanings")
    assert (found.value, found.ci95) == (0.5, None)
    assert code(found.method) == f"no_interval.{why}"


# ----------------------------------------------------------------------------------- properties


@given(rows, rows, st.floats(0, 2), st.floats(-2, 2))
def test_lifting_all_of_ones_own_lifts_what_is_beyond_by_as_much(
    own: Rows, others: Rows, error: float, lift: float
) -> None:
    mine = points(*zip(*own, strict=True))
    lines = line(points(*zip(*others, strict=True)), error)
    found = beyond(mine, lines, over=OVER)
    lifted = beyond(mine._replace(y=mine.y + lift), lines, over=OVER)
    if found.value is None:
        assert lifted.value is None
    else:
        assert lifted.value == pytest.approx(found.value + lift, abs=1e-8)
        assert (lifted.ci95 is None) == (found.ci95 is None)


@given(rows, rows, st.permutations(range(4)))
def test_what_groups_are_called_does_not_matter(own: Rows, others: Rows, names: list[int]) -> None:
    mine, theirs = (points(*zip(*it, strict=True)) for it in (own, others))
    called = np.array(names)
    found = beyond(mine, line(theirs, 0.2), over=OVER)
    again = beyond(
        mine._replace(groups=called[mine.groups]),
        line(theirs._replace(groups=called[theirs.groups]), 0.2),
        over=OVER,
    )
    assert again.value == (found.value and pytest.approx(found.value, abs=1e-8))
    assert again.ci95 == (found.ci95 and pytest.approx(found.ci95, abs=1e-6))


# ------------------------------------------------------------------------------------- coverage


def _covered(corrected: bool) -> float:
    """Own points at the upper end; x is known to an error of variance 0.5 beside one of 1."""
    rng, held = np.random.default_rng(1), 0
    for _ in range(400):
        shared = 0.4 * rng.normal(size=40)
        groups = np.repeat(np.arange(40), 6)
        true = rng.normal(size=240)
        x = true + math.sqrt(0.5) * rng.normal(size=240)
        y = 0.8 * true + shared[groups] + 0.5 * rng.normal(size=240)
        best = 1.5 + rng.normal(size=40)
        own = points(
            best + math.sqrt(0.5) * rng.normal(size=40),
            0.3 + 0.8 * best + shared + 0.5 * rng.normal(size=40),
            np.arange(40),
        )
        lines = line(points(x, y, groups), 0.5 if corrected else 0.0, groups=40)
        ci95 = beyond(own, lines, over=OVER).ci95
        held += ci95 is not None and ci95[0] <= 0.3 <= ci95[1]
    return held / 400


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    assert 0.92 <= _covered(corrected=True) <= 0.98


def test_a_line_that_takes_x_for_certain_misses_the_truth() -> None:
    assert _covered(corrected=False) < 0.5


def test_one_of_many_alike_is_seldom_told_from_them() -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(2000):
        value, *others = rng.normal(size=6)
        ci95 = among(float(value), np.array(others), over="").ci95
        held += ci95 is not None and ci95[0] <= 0 <= ci95[1]
    # Around 0 itself and not their mean: a little too often, never too seldom.
    assert 0.94 <= held / 2000 <= 0.98
