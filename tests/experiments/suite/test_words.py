"""What a suite says before every number: no more than its intervals bear."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from raybench.experiments.suite import words
from raybench.experiments.suite.comparison import Compared
from raybench.stats.agreement import Agreement
from raybench.types import Estimate

WAYS = ("Index", "Exam", "Peers", "Games")
SURE, OPEN, AGAINST = (0.8, (0.4, 1.0)), (0.9, (-1.0, 1.0)), (-0.8, (-1.0, -0.2))


def told(pairs: Sequence[Any], ways: int = 4, models: int = 5) -> str:
    """Return the answer of a suite with these correlations between its ways."""
    named = [(one, other) for at, one in enumerate(WAYS[:ways]) for other in WAYS[at + 1 : ways]]
    agreements = {
        pair: cast(Agreement, SimpleNamespace(kendall=Estimate(tau, 0.1, ends, models, "")))
        for pair, (tau, ends) in zip(named, pairs, strict=True)
    }
    compared = SimpleNamespace(rankings=dict.fromkeys(WAYS[:ways]), pairs=agreements, shifts=[],
                               tables={})  # fmt: skip
    return words.answer(cast(Compared, compared), {}, models)


def test_where_no_pair_can_be_told_from_0_nothing_is_said_to_agree() -> None:
    said = told([OPEN] * 6)
    assert said.startswith("Whether the four ways agree cannot be told from so little data:")
    assert "strongly" not in said and "surely" not in said


def test_a_strength_is_only_of_the_pairs_that_can_be_told() -> None:
    said = told([SURE, *[OPEN] * 5])
    assert said.startswith(
        "The four ways agree strongly in the 1 of 6 pairs where that can be told:"
    )
    assert "Index and Exam surely agree more than chance" in said
    assert "the other 5 pairs cannot be told from 0 with so little data" in said


def test_where_all_can_be_told_the_ways_agree() -> None:
    said = told([SURE] * 6)
    assert said.startswith("The four ways agree strongly: Kendall's τ is 0.80 on average, from")
    assert "All intervals lie above 0" in said


@pytest.mark.parametrize(
    ("pair", "models", "says"),
    [
        (SURE, 5, "The interval lies above 0: more than chance."),
        (AGAINST, 5, "The two ways agree strongly, but the other way round:"),
        (OPEN, 2, "two orders are the same or the opposite"),
    ],
)
def test_two_ways_are_one_pair(pair: Any, models: int, says: str) -> None:
    assert says in told([pair], ways=2, models=models)


def test_one_model_has_no_order() -> None:
    assert told([SURE], ways=2, models=1).startswith("One model has no order to agree on")
