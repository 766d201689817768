"""Verdicts and their words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statements import code, values

from raybench.compare import judging
from raybench.compare.found import Compared, Pair, Score, Side
from raybench.compare.runs import Stored
from raybench.types import Estimate

OPEN = "not distinguishable"


def made(
    name: str,
    p: float | None,
    value: float | None = 0.1,
    *,
    stderr: float | None = 0.02,
    n: int = 100,
    higher: bool = True,
    changed: tuple[int, int] | None = (20, 10),
) -> Score:
    there = Estimate(0.5, 0.02, (0.4, 0.6), n, "mean")
    ends = None if value is None or stderr is None else (value - 2 * stderr, value + 2 * stderr)
    method = "paired" if value is not None else "not computed: nothing"
    gained, lost = changed or (None, None)
    return Score(
        name, name.upper(), there, there, Estimate(value, stderr, ends, n, method), p, "test", n,
        gained, lost, higher_is_better=higher,
    )  # fmt: skip


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Pair:
    monkeypatch.setattr(Pair, "titles", ("old", "new"))
    run = Stored.__new__(Stored)
    return Pair(Side(run, "old"), Side(run, "new"))


def words(pair: Pair, *scores: Score) -> list[str]:
    (found,) = judging.concluded([Compared(pair, scores)])
    return [it.words for it in found.scores]


def said(pair: Pair, score: Score) -> tuple[str, dict[str, Any]]:
    (text,) = words(pair, score)
    return code(text), values(text)


def test_holm_by_hand_over_all_tests_of_all_pairs(pair: Pair) -> None:
    # Sorted: .010 × 4, .014 × 3, .03 × 2, and .04 × 1, which is not below the one before.
    first = Compared(pair, [made("a", 0.01), made("b", 0.04), made("refused", None, None)])
    second = Compared(pair, [made("a", 0.03), made("b", 0.014)])
    found = judging.concluded([first, second])
    raised = [it.p_holm for pair_ in found for it in pair_.scores]
    assert raised == [pytest.approx(0.04), pytest.approx(0.06), None, pytest.approx(0.06),
                      pytest.approx(0.042)]  # fmt: skip
    verdicts = [it.verdict for pair_ in found for it in pair_.scores]
    assert verdicts == ["better", "not distinguishable", "refused", "not distinguishable", "better"]
    assert {it.tests for it in found} == {4}


def test_the_words_of_each_verdict(pair: Pair) -> None:
    differs, of = "verdict.differs", {"items": "questions"}
    assert said(pair, made("a", 0.0004, 0.12)) == (
        differs, {"verdict": "better", "amount": "0.120", "p": "< 0.001"},
    )  # fmt: skip
    assert said(pair, made("a", 0.02, -0.042)) == (
        differs, {"verdict": "worse", "amount": "0.042", "p": "= 0.020"},
    )  # fmt: skip
    assert said(pair, made("a", 0.3, 0.02)) == (
        "verdict.would_have_shown", of | {"n": 100, "least": "0.057"},
    )  # fmt: skip
    alike = made("a", 1.0, 0.0, stderr=0.0, changed=(0, 0))
    assert said(pair, alike) == ("verdict.identical", of | {"n": 100})
    assert words(pair, made("a", None, None, changed=None)) == ["nothing"]
    assert said(pair, made("a", None, 0.1, stderr=None, n=4)) == (
        "verdict.no_test", of | {"n": 4, "why": "too few questions, or all alike"},
    )  # fmt: skip
    assert said(pair, made("a", 0.9, 0.1, stderr=0.6, n=5)) == (
        "verdict.too_few", of | {"n": 5},
    )  # fmt: skip


def test_where_less_is_better_less_is_better(pair: Pair) -> None:
    (found,) = judging.concluded([Compared(pair, [made("a", 0.001, -0.1, higher=False)])])
    assert (found.verdict, found.scores[0].verdict) == ("better", "better")


@pytest.mark.parametrize(
    ("differences", "verdict", "by"),
    [
        ((0.1, 0.1), "better", {"better": ["A", "B"]}),
        ((0.1, -0.1), "mixed", {"better": ["A"], "worse": ["B"]}),
        ((-0.1, 0.0), "worse", {"worse": ["A"], OPEN: ["B"]}),
        ((0.0, 0.0), OPEN, {OPEN: ["A", "B"]}),
    ],
)
def test_the_sentence_over_all(
    pair: Pair, differences: tuple[float, float], verdict: str, by: dict[str, list[str]]
) -> None:
    scores = [
        made(name, 0.0001 if value else 1.0, value)
        for name, value in zip("ab", differences, strict=True)
    ]
    (found,) = judging.concluded([Compared(pair, scores)])
    assert found.verdict == verdict
    assert code(found.sentence) == f"comparison.{'open' if verdict == OPEN else 'verdict'}"
    told = values(found.sentence)
    assert (told["baseline"], told["candidate"], told["by"]) == ("old", "new", by)
    if verdict != OPEN:
        assert all(f"{word} in {len(of)} ({', '.join(of)})" in told["told"]
                   for word, of in by.items())  # fmt: skip


@pytest.mark.parametrize(
    ("differences", "verdict", "brief", "counts"),
    [
        ((0.1, *[0.0] * 10), "better", "better in 1 of 11", (1, 0, 10)),
        ((-0.1, -0.1, 0.0), "worse", "worse in 2 of 3", (0, 2, 1)),
        ((0.1, 0.1), "better", "better", (2, 0, 0)),
        ((0.1, -0.1, 0.0), "mixed", "mixed", (1, 1, 1)),
    ],
)
def test_the_headline_says_in_how_many_scores_a_verdict_holds(
    pair: Pair,
    differences: tuple[float, ...],
    verdict: str,
    brief: str,
    counts: tuple[int, int, int],
) -> None:
    scores = [
        made(f"m{at}", 0.00001 if value else 1.0, value) for at, value in enumerate(differences)
    ]
    (found,) = judging.concluded([Compared(pair, scores)])
    assert (found.verdict, found.brief) == (verdict, brief)
    headline = values(found.headline)
    assert code(found.headline) == "comparison.headline"
    assert (headline["improved"], headline["worsened"], headline["open"]) == counts
    assert headline["scores"] == len(differences)


def test_the_headline_counts_scores_where_none_moved(pair: Pair) -> None:
    scores = [made("a", 0.9), made("b", 0.8), made("c", None, 0.1, stderr=None)]
    (found,) = judging.concluded([Compared(pair, scores)])
    assert found.verdict == OPEN
    headline = values(found.headline)
    assert (headline["improved"], headline["scores"]) == (0, 3)
    assert (headline["open"], headline["untested"]) == (2, 1), "no test found it uncertain"
    assert scores[2].no_test in headline["rest"]
    assert scores[2].no_test in values(found.sentence)["untested"]


@pytest.mark.parametrize(("open_", "verb"), [(1, "is"), (2, "are"), (0, "are")])
def test_one_score_is_uncertain_and_several_are(pair: Pair, open_: int, verb: str) -> None:
    scores = [made(f"o{at}", 0.9) for at in range(open_)]
    scores += [made(f"m{at}", 0.00001, 0.1) for at in range(2)]
    (found,) = judging.concluded([Compared(pair, scores)])
    assert values(found.headline)["rest"].split()[:2] == [str(open_), verb]


def test_a_score_without_a_test_is_shown_with_the_reason(pair: Pair) -> None:
    score = replace(made("a", None, 0.1, stderr=None, n=1), of="matches")
    (found,) = judging.concluded([Compared(pair, [score])])
    why = score.no_test
    assert (code(why), values(why)) == ("no_test.too_few", {"items": "matches"})
    assert (found.verdict, found.scores[0].verdict) == (OPEN, OPEN), "public values stay"
    assert (found.scores[0].shown, found.brief) == (f"no test: {why}", "no test")
    assert found.headline == f"No test: {why}"
    assert code(found.sentence) == "comparison.no_test"
    assert values(found.sentence)["why"] == why
    (tested,) = judging.concluded([Compared(pair, [made("a", 0.9)])])
    assert (tested.scores[0].shown, tested.brief, tested.no_test) == (OPEN, OPEN, "")


def test_the_headline_of_one_score_is_its_verdict(pair: Pair) -> None:
    (found,) = judging.concluded([Compared(pair, [made("a", 0.0001, 0.1)])])
    assert (found.headline, found.brief) == ("Better", "better")


def test_what_is_identical_is_not_said_to_be_not_distinguishable(pair: Pair) -> None:
    same = made("c", 1.0, 0.0, stderr=0.0, changed=(0, 0))
    for first, by in (
        (made("a", 0.0001), {"better": ["A"], OPEN: ["B"], "identical": ["C"]}),
        (made("a", 0.9), {OPEN: ["A", "B"], "identical": ["C"]}),
    ):
        (found,) = judging.concluded([Compared(pair, [first, made("b", 0.9), same])])
        assert values(found.sentence)["by"] == by and "1 (C)." in found.sentence


def test_the_smallest_difference_that_would_show_is_28_standard_errors_alone() -> None:
    score = made("a", 0.5, stderr=0.01, n=100_000)
    assert judging.detectable(score, 1) == pytest.approx(0.028, abs=1e-4)
    among = judging.detectable(score, 10)
    assert among is not None and among > 0.035  # z of 0.9975 and of 0.8
    assert judging.detectable(made("a", 1.0, 0.0, stderr=0.0), 1) is None


def test_so_many_questions_would_have_shown_it() -> None:
    # sd of one question's difference: 0.02 · √100 = 0.2; ((1.96 + 0.84) · 0.2 / 0.02)² = 785,
    # and two for Student's t.
    assert judging.needed(made("a", 0.5), 1, 0.02) == 787
    assert judging.needed(made("a", 0.5), 1, 1e-9) is None


@given(n=st.integers(2, 3000), stderr=st.floats(1e-3, 1), tests=st.integers(1, 40))
def test_as_many_questions_as_there_are_would_show_what_would_have_shown(
    n: int, stderr: float, tests: int
) -> None:
    """Of 14 questions it was said that one would show what they showed."""
    score = made("a", 0.5, stderr=stderr, n=n)
    shown = judging.detectable(score, tests)
    assert shown is not None
    needed = judging.needed(score, tests, shown * (1 + 1e-9))
    assert needed == n


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(-1, 1), st.one_of(st.just(0.0), st.floats(1e-6, 1))),
        min_size=1,
        max_size=8,
    )
)
def test_no_words_claim_that_two_models_are_equally_good(
    scores: list[tuple[float, float, float]],
) -> None:
    run = Stored.__new__(Stored)
    object.__setattr__(run, "folder", Path("runs/x"))
    pair = Pair(Side(run, "old"), Side(run, "new"))
    made_ = [
        made(f"s{number}", p, value, stderr=stderr)
        for number, (p, value, stderr) in enumerate(scores)
    ]
    (found,) = judging.concluded([Compared(pair, made_)])
    for it in found.scores:
        assert it.verdict != "identical"
        assert (it.verdict in ("better", "worse")) <= (it.p_holm is not None and it.p_holm < 0.05)
    assert "equivalent" not in found.sentence + " ".join(it.words for it in found.scores)
    assert code(found.sentence) != "comparison.identical"


def test_scores_in_which_nothing_differs_take_nothing_from_the_tests(pair: Pair) -> None:
    changed = Compared(pair, [made("a", 0.011), made("b", 0.125)])
    same = Compared(pair, [made(name, 1.0, 0.0, stderr=0.0, changed=(0, 0)) for name in "abcdef"])
    alone = judging.concluded([changed])
    *_, beside = judging.concluded([same, same, changed])
    assert [it.p_holm for it in beside.scores] == [it.p_holm for it in alone[0].scores]
    assert (beside.verdict, beside.tests) == ("better", 2)
    assert len(judging.worse([beside])) == len(judging.worse(alone))


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(-1, 1)), min_size=1, max_size=6),
    st.integers(0, 9),
)
def test_the_gate_says_the_same_with_and_without_unchanged_models(
    scores: list[tuple[float, float]], unchanged: int
) -> None:
    run = Stored.__new__(Stored)
    object.__setattr__(run, "folder", Path("runs/x"))
    of = Pair(Side(run, "old"), Side(run, "new"))
    asked = Compared(of, [made(f"s{at}", p, value) for at, (p, value) in enumerate(scores)])
    same = Compared(of, [made("s", 1.0, 0.0, stderr=0.0, changed=(0, 0))])
    alone = judging.worse(judging.concluded([asked]))
    beside = judging.worse(judging.concluded([asked, *[same] * unchanged]))
    assert [it for _, it in alone] == [it for _, it in beside]
