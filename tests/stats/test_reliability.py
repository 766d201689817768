"""Ten bins of confidence: what falls where, and what was right."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code

from raybench.stats import reliability
from raybench.stats.intervals import wilson

items = st.lists(st.tuples(st.integers(0, 100), st.booleans()), max_size=60)


def test_worked_bins() -> None:
    found = reliability.reliability([0.9, 1.0, 0.95, 0.3, 0.2999], [1, 0, 1, 0, 1])
    assert len(found) == 10
    assert [(bin.low, bin.high) for bin in found[:2]] == [(0.0, 0.1), (0.1, 0.2)]
    assert [bin.n for bin in found] == [0, 0, 1, 1, 0, 0, 0, 0, 0, 3]
    last = found[-1]
    assert (last.low, last.high) == (0.9, 1.0)
    assert last.confidence == pytest.approx(0.95)
    assert last.accuracy.value == pytest.approx(2 / 3)
    assert last.accuracy.ci95 == wilson(2 / 3, 3)
    assert found[0].confidence is None
    assert found[0].accuracy.value is None
    assert code(found[0].accuracy.method) == "refused.empty"


def test_no_items_leave_ten_empty_bins() -> None:
    assert [bin.n for bin in reliability.reliability([], [])] == [0] * 10
    assert reliability.histogram([]) == [0] * 10


@pytest.mark.parametrize("stated", [[1.01], [-0.1], [math.nan], [90.0]])
def test_what_is_no_confidence_is_told(stated: list[float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability.histogram(stated)
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability.reliability(stated, [1])


def test_as_many_verdicts_as_confidences() -> None:
    with pytest.raises(ValueError, match="2 confidences"):
        reliability.reliability([0.5, 0.5], [1])
    with pytest.raises(ValueError, match="1, or not"):
        reliability.reliability([0.5, 0.5], [1, math.nan])


@given(items)
def test_a_whole_percentage_is_in_the_bin_that_it_says(some: list[tuple[int, bool]]) -> None:
    stated, right = [percent / 100 for percent, _ in some], [answer for _, answer in some]
    counts = [0] * 10
    hits = [0] * 10
    for percent, answer in some:
        counts[min(percent // 10, 9)] += 1
        hits[min(percent // 10, 9)] += answer
    assert reliability.histogram(stated) == counts
    found = reliability.reliability(stated, right)
    assert [bin.n for bin in found] == counts
    assert [round((bin.accuracy.value or 0) * bin.n) for bin in found] == hits
