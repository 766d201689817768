"""What a suite says before every number: no more than its intervals bear."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from statements import code, codes, the, values

from raybench.autobench.analysis.tables import Table
from raybench.experiments.suite import conclusion, words
from raybench.experiments.suite.comparison import Compared, compared
from raybench.experiments.suite.parts import Found
from raybench.stats.agreement import Agreement
from raybench.stats.joint import Joint
from raybench.types import Estimate

WAYS = ("Index", "Exam", "Peers", "Games")
BEYOND = "suite.beyond_chance"
NONE = (0.0, (-0.05, 0.05))
SURE, OPEN, AGAINST = (0.8, (0.4, 1.0)), (0.9, (-1.0, 1.0)), (-0.8, (-1.0, -0.2))


def told(pairs: Sequence[Any], ways: int = 4, models: int = 5, p: float = 1.0) -> list[str]:
    """Return the sentences of the answer of a suite with these correlations between its ways."""
    named = [(one, other) for at, one in enumerate(WAYS[:ways]) for other in WAYS[at + 1 : ways]]
    agreements = {
        pair: cast(Agreement, SimpleNamespace(kendall=Estimate(tau, 0.1, ends, models, ""), p=p))
        for pair, (tau, ends) in zip(named, pairs, strict=True)
    }
    found = SimpleNamespace(rankings=dict.fromkeys(WAYS[:ways]), pairs=agreements, shifts=[],
                               tables={})  # fmt: skip
    return words.sentences(cast(Compared, found), {}, models)


def headline(said: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return which headline it is, with its values and whether it may be by chance."""
    first = the("suite.agreement", said)
    by_chance = {"by chance": bool(first["chance"])}
    return code(first["headline"]), values(first["headline"]) | by_chance


def test_where_no_pair_can_be_told_from_0_nothing_is_said_to_agree() -> None:
    said = told([OPEN] * 6)
    found, about = headline(said)
    assert found == "suite.open" and about == {"ways": "four ways", "by chance": False}
    assert "suite.sure" not in codes(said)


def test_a_strength_is_only_of_the_pairs_that_can_be_told() -> None:
    said = told([SURE, *[OPEN] * 5])
    found, about = headline(said)
    assert found == "suite.agree" and about["by chance"]
    assert (about["strength"], about["pairs"]) == ("strongly", 1) and "1 of 6" in about["where"]
    sure = the("suite.sure", said)
    assert sure["agree"] == [("Index", "Exam")] and len(sure["open"]) == 5


def test_where_all_can_be_told_the_ways_agree() -> None:
    said = told([SURE] * 6)
    found, about = headline(said)
    assert (found, about["strength"], about["where"]) == ("suite.agree", "strongly", "")
    assert about["by chance"] and not headline(told([SURE] * 6, p=1e-9))[1]["by chance"]
    assert values(the("suite.agreement", said)["span"])["mean"] == pytest.approx(0.8)
    assert len(the("suite.sure", said)["agree"]) == 6


@pytest.mark.parametrize(
    ("pair", "which", "strength"),
    [
        (SURE, "agree", words._strength(0.8)),
        (NONE, "hardly", words._strength(0.0)),
        (AGAINST, "against", words._strength(-0.8)),
    ],
)
def test_two_ways_are_one_pair(pair: Any, which: str, strength: str) -> None:
    said = told([pair], ways=2)
    assert headline(said)[1]["strength"] == strength
    sure = the("suite.sure", said)
    assert [it for it in ("agree", "against", "hardly", "open") if sure[it]] == [which]
    span = the("suite.agreement", said)["span"]
    assert values(span)["tau"] == pair[0]
    assert all(f"{end:.2f}" in values(span)["interval"] for end in pair[1])


def test_the_strength_has_a_word_of_its_own_at_each_step_and_the_other_way_round() -> None:
    assert len({words._strength(it) for it in (-0.8, -0.5, -0.2, 0.0, 0.2, 0.5, 0.8)}) == 7


def test_of_two_models_it_is_said_how_little_they_tell() -> None:
    assert the("suite.few_models", told([OPEN], ways=2, models=2))["models"] == 2


def test_one_model_has_no_order() -> None:
    assert codes(told([SURE], ways=2, models=1)) == ["suite.one_model"]


def test_more_than_chance_is_said_by_permutations_of_models_and_by_no_interval() -> None:
    """Of five models known exactly, two unrelated orders have a τ above 0 in two of five cases."""
    said = told([SURE], ways=2, p=0.2)
    assert headline(said)[1]["by chance"] and BEYOND not in codes(said)
    assert BEYOND in codes(told([SURE], ways=2, p=0.01))
    assert BEYOND not in codes(told([SURE] * 6, p=0.01))  # six of them are tried
    assert BEYOND not in codes(told([OPEN], ways=2, p=0.01))


def test_ways_that_agree_and_ways_that_contradict_have_no_mean() -> None:
    said = told([SURE, AGAINST, AGAINST], ways=3)
    found, about = headline(said)
    assert (found, about["agree"], about["against"]) == ("suite.mixed", "strongly", "strongly")
    span = the("suite.agreement", said)["span"]
    assert code(span) == "suite.span", "and no mean"
    assert values(span)["least"].startswith("-0.80 (")


def test_one_way_alone_agrees_with_a_table_all_the_same() -> None:
    scores = Joint("m", ("a", "b", "c"), np.array([1.0, 2.0, 3.0]), 1e-6 * np.eye(3))
    part = Found("index", {}, "m", scores, Path())
    other = Table("arena", {"a": 1.0, "b": 2.0, "c": 3.0}, ())
    said = words.sentences(compared([part], [other]), {}, 3)
    assert the("suite.one_way", said) == {"number": "one"}
    found = the("suite.table", said)
    assert (found["way"], found["table"], found["models"]) == ("Index", "arena", 3)
    assert found["tau"] == pytest.approx(1.0)


def test_a_model_alone_is_ranked_by_ways_but_beside_nobody() -> None:
    alone = Joint("m", ("a",), np.array([1.0]), np.eye(1))
    parts = [Found(name, {"models": {}}, "m", alone, Path()) for name in ("index", "hle")]
    of = conclusion._metrics(["a"], compared(parts, []), parts)["a"]["suite/consensus_rank"]
    assert (of.value, of.n, code(of.method)) == (None, 2, "refused.ranked_alone")
