"""What a suite says before every number: no more than its intervals bear."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from raybench.autobench.analysis.tables import Table
from raybench.experiments.suite import conclusion, words
from raybench.experiments.suite.comparison import Compared, compared
from raybench.experiments.suite.parts import Found
from raybench.stats.agreement import Agreement
from raybench.stats.joint import Joint
from raybench.types import Estimate

WAYS = ("Index", "Exam", "Peers", "Games")
NONE = (0.0, (-0.05, 0.05))
SURE, OPEN, AGAINST = (0.8, (0.4, 1.0)), (0.9, (-1.0, 1.0)), (-0.8, (-1.0, -0.2))


def told(pairs: Sequence[Any], ways: int = 4, models: int = 5, p: float = 1.0) -> str:
    """Return the answer of a suite with these correlations between its ways."""
    named = [(one, other) for at, one in enumerate(WAYS[:ways]) for other in WAYS[at + 1 : ways]]
    agreements = {
        pair: cast(Agreement, SimpleNamespace(kendall=Estimate(tau, 0.1, ends, models, ""), p=p))
        for pair, (tau, ends) in zip(named, pairs, strict=True)
    }
    found = SimpleNamespace(rankings=dict.fromkeys(WAYS[:ways]), pairs=agreements, shifts=[],
                               tables={})  # fmt: skip
    return words.answer(cast(Compared, found), {}, models)


def test_where_no_pair_can_be_told_from_0_nothing_is_said_to_agree() -> None:
    said = told([OPEN] * 6)
    assert said.startswith("Whether the four ways agree cannot be told from so little data:")
    assert "strongly" not in said and "surely" not in said


def test_a_strength_is_only_of_the_pairs_that_can_be_told() -> None:
    said = told([SURE, *[OPEN] * 5])
    assert said.startswith(
        "The four ways agree strongly in the 1 of 6 pairs where that can be told, as unrelated "
    )
    assert "Index and Exam surely have more pairs of these models alike than not" in said
    assert "the other 5 pairs cannot be told from 0 with so little data" in said


def test_where_all_can_be_told_the_ways_agree() -> None:
    said = told([SURE] * 6)
    assert said.startswith("The four ways agree strongly, as unrelated orders of so few ")
    assert "by chance: Kendall's τ is 0.80 on average, from" in said
    assert told([SURE] * 6, p=1e-9).startswith("The four ways agree strongly: Kendall's τ is 0.80")
    assert "All intervals lie above 0" in said


@pytest.mark.parametrize(
    ("pair", "models", "says"),
    [
        (SURE, 5, "above 0: of these models more pairs stand alike than not."),
        (NONE, 5, "The two ways agree hardly at all: Kendall's τ is 0.00, 95 % interval -0.05"),
        (AGAINST, 5, "The two ways agree strongly, but the other way round, as"),
        (OPEN, 2, "two orders are the same or the opposite"),
    ],
)
def test_two_ways_are_one_pair(pair: Any, models: int, says: str) -> None:
    assert says in told([pair], ways=2, models=models)


def test_one_model_has_no_order() -> None:
    assert told([SURE], ways=2, models=1).startswith("One model has no order to agree on")


def test_more_than_chance_is_said_by_permutations_of_models_and_by_no_interval() -> None:
    """Of five models known exactly, two unrelated orders have a τ above 0 in two of five cases."""
    said = told([SURE], ways=2, p=0.2)
    assert said.startswith("The two ways agree strongly, as unrelated orders of so few models may")
    assert "more than unrelated" not in said
    assert "Index and Exam agree more than unrelated orders do by chance" in told(
        [SURE], ways=2, p=0.01
    )
    assert "more than unrelated" not in told([SURE] * 6, p=0.01)  # six of them are tried
    assert "more than unrelated" not in told([OPEN], ways=2, p=0.01)


def test_ways_that_agree_and_ways_that_contradict_have_no_mean() -> None:
    said = told([SURE, AGAINST, AGAINST], ways=3)
    assert said.startswith(
        "Some of the three ways agree strongly, others contradict each other strongly, as "
    )
    assert "Kendall's τ is from -0.80 (Index and Peers" in said
    assert "on average" not in said


def test_one_way_alone_agrees_with_a_table_all_the_same() -> None:
    scores = Joint("m", ("a", "b", "c"), np.array([1.0, 2.0, 3.0]), 1e-6 * np.eye(3))
    part = Found("index", {}, "m", scores, Path())
    other = Table("arena", {"a": 1.0, "b": 2.0, "c": 3.0}, ())
    said = words.answer(compared([part], [other]), {}, 3)
    assert "There is one ranking" in said and "; 3 models in both)" in said
    assert "Between Index and the table 'arena' τ is 1.00 (95 % interval" in said


def test_a_model_alone_is_ranked_by_ways_but_beside_nobody() -> None:
    alone = Joint("m", ("a",), np.array([1.0]), np.eye(1))
    parts = [Found(name, {"models": {}}, "m", alone, Path()) for name in ("index", "hle")]
    of = conclusion._metrics(["a"], compared(parts, []), parts)["a"]["suite/consensus_rank"]
    assert (of.value, of.n) == (None, 2) and "no way ranks another model with it" in of.method
