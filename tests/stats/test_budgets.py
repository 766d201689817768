"""Accuracy over tokens: where bins begin and end, and when a peak is named."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.stats import budgets
from raybench.stats.budgets import Budget
from raybench.stats.intervals import wilson

replies = st.lists(st.tuples(st.integers(0, 2**20), st.booleans()), max_size=60)


def made(*counts: tuple[int, int], first: int = 256) -> list[Budget]:
    """Return bins of so many right of so many replies, from `first` tokens on."""
    tokens: list[int] = []
    right: list[int] = []
    for place, (hits, n) in enumerate(counts):
        tokens += [first << place] * n
        right += [1] * hits + [0] * (n - hits)
    return budgets.bins(tokens, right)


def test_bins_reach_from_a_power_of_two_to_the_next() -> None:
    found = budgets.bins([1, 2, 3, 4, 7, 8, 15, 32], [1, 1, 0, 1, 0, 0, 0, 1])
    assert [(bin.low, bin.high, bin.n, bin.right) for bin in found] == [
        (1, 2, 1, 1),
        (2, 4, 2, 1),
        (4, 8, 2, 1),
        (8, 16, 2, 0),
        (16, 32, 0, 0),
        (32, 64, 1, 1),
    ]
    assert found[1].accuracy.value == 0.5
    assert found[1].accuracy.ci95 == wilson(0.5, 2)
    assert found[4].accuracy.value is None
    assert code(found[4].accuracy.method) == "refused.empty"


def test_replies_of_no_tokens_have_a_bin_of_their_own() -> None:
    found = budgets.bins([0, 1024, 0], [0, 1, 1])
    assert [(bin.low, bin.high, bin.n, bin.right) for bin in found] == [
        (0, 1, 2, 1),
        (1024, 2048, 1, 1),
    ]
    assert [bin.n for bin in budgets.bins([0], [1])] == [1]
    assert budgets.bins([], []) == []


@pytest.mark.parametrize(
    ("tokens", "right", "says"),
    [
        ([1, 2], [1], "2 lengths, but 1 verdicts"),
        ([-1], [1], "from 0 on"),
        ([1.5], [1], "whole numbers"),
        ([1], [0.5], "right, 1, or not, 0"),
    ],
)
def test_what_cannot_be_binned_is_told(
    tokens: list[int], right: Sequence[float], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        budgets.bins(tokens, right)


@given(replies, st.randoms(use_true_random=False))
def test_every_reply_is_in_one_bin_in_whatever_order(
    some: list[tuple[int, bool]], random: Random
) -> None:
    found = budgets.bins([t for t, _ in some], [right for _, right in some])
    assert sum(bin.n for bin in found) == len(some)
    for bin in found:
        inside = [right for tokens, right in some if bin.low <= tokens < bin.high]
        assert (bin.n, bin.right) == (len(inside), sum(inside))
    said = [bin for bin in found if bin.low]
    assert all(bin.high == 2 * bin.low for bin in said)
    assert all(one.high == other.low for one, other in pairwise(said))
    mixed = random.sample(some, len(some))
    assert budgets.bins([t for t, _ in mixed], [right for _, right in mixed]) == found


def test_a_peak_is_named() -> None:
    found = made((10, 400), (40, 400), (120, 400), (40, 400), (10, 400))
    peak = budgets.peak(found)
    assert peak.budget == found[2]
    why = values(peak.why)
    assert (why["range"], why["lengths"]) == ("1,024 to 2,047 tokens", 5)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ([], {"lengths": "none"}),
        (made((1, 30)), {"lengths": 1}),
        # The highest is not compared: 29 replies.
        (made((3, 300), (29, 29), (3, 300)), {"lengths": 2}),
        (
            made((3, 300), (30, 300), (120, 300)),
            {"end": "longest", "range": "1,024 to 2,047 tokens", "still": "rises"},
        ),
        (
            made((120, 300), (30, 300), (3, 300)),
            {"end": "shortest", "range": "256 to 511 tokens", "still": "falls"},
        ),
        (made((30, 300), (33, 300), (30, 300)), {"range": "512 to 1,023 tokens"}),
        # Beside a bin that is not compared, the longest that is.
        (made((3, 300), (30, 300), (120, 300), (0, 5)), {"end": "longest"}),
        (made((0, 300), (0, 300), (0, 300)), {"least": 0.975}),
    ],
)
def test_why_no_peak_is_named(found: list[Budget], says: dict[str, object]) -> None:
    peak = budgets.peak(found)
    assert peak.budget is None
    assert says.items() <= values(peak.why).items()


def test_replies_of_no_tokens_are_no_length_to_compare() -> None:
    none = budgets.bins([0] * 300, [1] * 300)
    found = none + made((3, 300), (30, 300), (3, 300))
    assert budgets.peak(found).budget == found[2]


def named(accuracy: Sequence[float], n: Sequence[int], runs: int) -> list[Budget | None]:
    generator = np.random.default_rng(9)
    hits = generator.binomial(n, accuracy, size=(runs, len(n)))
    return [
        budgets.peak(made(*zip(row.tolist(), n, strict=True)), seed=seed).budget
        for seed, row in enumerate(hits)
    ]


@pytest.mark.parametrize("accuracy", [0.03, 0.2, 0.6])
@pytest.mark.parametrize("n", [[300] * 3, [60, 200, 500, 500, 200, 60], [30] * 5])
def test_flat_accuracy_seldom_has_a_peak(accuracy: float, n: list[int]) -> None:
    found = named([accuracy] * len(n), n, 200)
    assert sum(budget is not None for budget in found) / 200 <= 0.05


def test_of_two_lengths_equally_good_one_is_seldom_named() -> None:
    # The worst case: 5 % by design, and in 200 runs three standard errors more at most.
    found = named([0.05, 0.2, 0.2, 0.05], [400] * 4, 200)
    assert sum(budget is not None for budget in found) / 200 <= 0.095


def test_rising_accuracy_has_none() -> None:
    found = named([0.05, 0.1, 0.15, 0.2], [300] * 4, 100)
    assert sum(budget is not None for budget in found) <= 5


def test_a_real_peak_is_found() -> None:
    found = named([0.05, 0.12, 0.2, 0.12, 0.05], [200, 600, 900, 600, 200], 100)
    right = sum(budget is not None and budget.low == 1024 for budget in found)
    assert right >= 95
    assert sum(budget is not None for budget in found) == right
