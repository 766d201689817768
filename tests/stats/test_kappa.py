"""Cohen's kappa against tables worked by hand, and by coverage."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from statements import values

from raybench.stats import kappa
from raybench.stats.intervals import wilson

Table = tuple[int, int, int, int]
"""How often: both yes, only the first, only the second, both no."""

tables = st.tuples(*[st.integers(0, 15)] * 4)


def verdicts(table: Table) -> tuple[list[bool], list[bool]]:
    both, first, second, neither = table
    return (
        [True] * (both + first) + [False] * (second + neither),
        [True] * both + [False] * first + [True] * second + [False] * neither,
    )


@pytest.mark.parametrize(
    ("table", "value"),
    [
        # Agreed 35/50; by chance (25·30 + 25·20)/50² = 1/2.
        ((20, 5, 10, 15), 0.4),
        # Agreed 60/100; by chance (60·70 + 40·30)/100² = 0.54.
        ((45, 15, 25, 15), 0.06 / 0.46),
        ((5, 0, 0, 95), 1.0),
        # Agreed never; by chance 1/2.
        ((0, 10, 10, 0), -1.0),
        # The second says no to all: as often agreed as by chance.
        ((0, 3, 0, 97), 0.0),
    ],
)
def test_worked_tables(table: Table, value: float) -> None:
    found = kappa.agreement(*verdicts(table))
    n = sum(table)
    assert found.kappa.value == pytest.approx(value)
    assert found.kappa.n == n
    assert found.kappa.ci95 is not None
    assert found.kappa.ci95[0] <= value + 1e-12
    assert found.kappa.ci95[1] >= value - 1e-12
    assert found.kappa.ci95[1] - found.kappa.ci95[0] > 0.01
    agreed = (table[0] + table[3]) / n
    assert found.share.value == agreed
    assert found.share.ci95 == wilson(agreed, n)


def test_the_standard_error_is_that_of_large_samples() -> None:
    # Fleiss, Cohen and Everitt (1969).
    table = np.array([[0.2, 0.05], [0.1, 0.65]])
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    agreed, expected = np.trace(table), rows @ columns
    value = (agreed - expected) / (1 - expected)
    a = sum(table[i, i] * (1 - (rows[i] + columns[i]) * (1 - value)) ** 2 for i in (0, 1))
    b = (1 - value) ** 2 * sum(
        table[i, j] * (columns[i] + rows[j]) ** 2 for i, j in ((0, 1), (1, 0))
    )
    c = (value - expected * (1 - value)) ** 2
    error = math.sqrt((a + b - c) / 4000) / (1 - expected)
    found = kappa.agreement(*verdicts((800, 200, 400, 2600))).kappa
    assert found.value == pytest.approx(value)
    assert found.stderr == pytest.approx(error, rel=0.06)
    assert found.ci95 == pytest.approx((value - 1.96 * error, value + 1.96 * error), abs=0.004)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ((0, 0, 0, 0), {"over": "verdicts"}),
        ((7, 0, 0, 0), {"one": "yes", "other": "yes"}),
        ((0, 0, 0, 7), {"one": "no", "other": "no"}),
        ((0, 7, 0, 0), {"one": "yes", "other": "no"}),
    ],
)
def test_verdicts_that_never_vary_are_refused(table: Table, why: dict[str, str]) -> None:
    found = kappa.agreement(*verdicts(table)).kappa
    assert (found.value, found.stderr, found.ci95, found.n) == (None, None, None, sum(table))
    assert values(found.method) == why


def test_what_is_no_pair_of_judges_is_told() -> None:
    with pytest.raises(ValueError, match="2 and 1"):
        kappa.agreement([True, False], [True])
    with pytest.raises(ValueError, match="2 answers"):
        kappa.agreement([True, False], [True, True], [1])


@given(tables.map(lambda table: table if any(table) else (1, 0, 0, 0)))
def test_judges_are_equals_and_yes_is_as_good_as_no(table: Table) -> None:
    both, first, second, neither = table
    found = kappa.agreement(*verdicts(table), draws=50).kappa
    swapped = kappa.agreement(*verdicts((both, second, first, neither)), draws=50).kappa
    negated = kappa.agreement(*verdicts((neither, second, first, both)), draws=50).kappa
    if found.value is None:
        assert swapped.value is None
        assert negated.value is None
        return
    assert found.value == pytest.approx(swapped.value)
    assert found.value == pytest.approx(negated.value)
    assert found.ci95 is not None
    assert -1 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1


def test_repeats_of_a_question_are_no_new_questions() -> None:
    one, other = verdicts((30, 10, 10, 50))
    once = kappa.agreement(one, other)
    numbers = [number for number in range(100) for _ in range(5)]
    five = kappa.agreement([one[n] for n in numbers], [other[n] for n in numbers], numbers)
    assert five.kappa.value == pytest.approx(once.kappa.value)
    assert five.kappa.stderr == pytest.approx(once.kappa.stderr, rel=0.1)
    assert five.kappa.n == 500
    assert five.share.value == once.share.value == 0.8
    assert once.share.ci95 is not None
    assert five.share.ci95 == pytest.approx(once.share.ci95, abs=0.01)


def table_of(yes: float, true: float) -> NDArray[np.float64]:
    """Return the probabilities of a table with that share of yes from each judge, and kappa."""
    expected = yes**2 + (1 - yes) ** 2
    apart = (1 - expected - true * (1 - expected)) / 2
    return np.array([yes - apart, apart, apart, 1 - yes - apart])


@pytest.mark.parametrize(("yes", "true"), [(0.5, 0.0), (0.1, 0.8), (0.3, 0.95), (0.1, 0.95)])
def test_its_interval_covers_the_truth_as_often_as_it_says(yes: float, true: float) -> None:
    generator = np.random.default_rng(6)
    held = 0
    for seed in range(200):
        counts = generator.multinomial(300, table_of(yes, true))
        one, other = verdicts((int(counts[0]), int(counts[1]), int(counts[2]), int(counts[3])))
        ci95 = kappa.agreement(one, other, draws=300, seed=seed).kappa.ci95
        assert ci95 is not None
        held += ci95[0] <= true <= ci95[1]
    # 300 draws and 200 runs: two and a quarter standard errors below 95 %.
    assert held / 200 >= 0.915
