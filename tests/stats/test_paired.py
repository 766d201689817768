import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statements import code, values

from raybench.stats.asked import Asked
from raybench.stats.paired import compare, holm

FIRST = Asked.of([(1, 1), (1, 1), (0, 1), (1, 1), (0, 1)])
SECOND = Asked.of([(0, 1), (1, 1), (0, 1), (0, 1), (1, 1)])

replies = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


def test_differences_of_worked_numbers() -> None:
    # d = 1, 0, 0, 1, −1: mean 0.2, s² = 0.7, SE² = 0.14; t(0.975; 4) = 2.776445, cut at 1.
    found = compare(FIRST, SECOND)
    assert found.difference.value == pytest.approx(0.2)
    assert found.difference.stderr == pytest.approx(math.sqrt(0.14))
    assert found.difference.ci95 == pytest.approx((-0.838850, 1.0), abs=1e-6)
    assert found.difference.n == 5
    # One model only was right on 2 and on 1: 2·(1 + 3)/8.
    assert (found.p, found.test) == (1.0, "McNemar, exact")
    # At 5 % nothing that only five were asked can be shown.
    assert found.detectable == pytest.approx(6 / 5)


def test_averaged_repeats_are_compared_by_students_t() -> None:
    first = Asked.of([(3, 3), (2, 3), (1, 3), (3, 3)])
    second = Asked.of([(1, 3), (2, 3), (0, 3), (1, 3)])
    found = compare(first, second)
    peer = stats.ttest_rel([1, 2 / 3, 1 / 3, 1], [1 / 3, 2 / 3, 0, 1 / 3])
    # Four questions: Student's t with 3 degrees, as the interval and p go by it.
    reach = stats.t.ppf(0.975, 3) + stats.t.ppf(0.8, 3)
    assert found.detectable == pytest.approx(reach * (found.difference.stderr or 0))
    assert found.test == "paired Student's t"
    assert found.p == pytest.approx(peer.pvalue)
    low, high = peer.confidence_interval()
    assert found.difference.ci95 == pytest.approx((low, high))


def test_one_reply_is_no_mcnemar_against_several() -> None:
    assert compare(FIRST, Asked.of([(1, 2)] * 5)).test == "paired Student's t"
    assert compare(Asked.of([(1, 2)] * 5), FIRST).test == "paired Student's t"


def test_only_questions_that_both_were_asked_are_paired() -> None:
    first = Asked.of([(1, 1), (0, 0), (1, 1)], [(0, 0), (0, 0), (0, 0)])
    second = Asked.of([(0, 1), (1, 1), (0, 0)], [(1, 1), (0, 0), (0, 0)])
    found = compare(first, second)
    assert (found.difference.value, found.difference.n) == (1.0, 1)
    assert values(found.test)["sources"] == 1
    nothing = compare(Asked.of([(1, 1), (0, 0)]), Asked.of([(0, 0), (1, 1)]))
    assert code(nothing.difference.method) == "refused.no_pairs"
    assert (nothing.p, nothing.detectable) == (None, None)
    with pytest.raises(ValueError, match="same questions"):
        compare(FIRST, Asked.of([(1, 1)]))


def test_a_question_in_eight_languages_is_one_pair() -> None:
    one = compare(Asked.of(*[[(1, 1), (0, 1), (1, 1)]] * 8), Asked.of(*[[(0, 1)] * 3] * 8))
    single = compare(Asked.of([(2, 2), (0, 2), (2, 2)]), Asked.of([(0, 2)] * 3))
    assert one.difference.stderr == pytest.approx(single.difference.stderr)
    assert one.difference.ci95 == pytest.approx(single.difference.ci95)
    assert one.test == "paired Student's t"


def test_models_that_never_differ_may_still_differ_elsewhere() -> None:
    found = compare(Asked.of([(1, 1)] * 20), Asked.of([(1, 1)] * 20))
    # Wilson for 0 of 20 (Newcombe 1998): at most 16.11 % of questions tell them apart.
    assert found.difference.ci95 == pytest.approx((-0.1611, 0.1611), abs=5e-5)
    assert (found.p, found.detectable) == (1.0, None)
    often = compare(Asked.of([(2, 2)] * 20), Asked.of([(1, 2)] * 20))
    assert often.difference.ci95 == pytest.approx(
        (0.5 - 0.1611 * 1.5, 0.5 + 0.1611 * 1.5), abs=1e-4
    )
    assert often.p is None and values(often.test)["sources"] == 20


def test_holm_of_worked_numbers() -> None:
    # 3·0.01, then 2·0.03, then no less than that for 0.04.
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06}
    )
    assert holm({}) == {}


@given(st.dictionaries(st.text(), st.floats(0, 1), min_size=1))
def test_holm_raises_but_keeps_the_order(ps: dict[str, float]) -> None:
    raised = holm(ps)
    assert list(raised) == list(ps)
    assert all(p <= raised[name] <= 1 for name, p in ps.items())
    ordered = sorted(ps, key=lambda name: ps[name])
    assert [raised[name] for name in ordered] == sorted(raised.values())
    smallest = ordered[0]
    assert raised[smallest] == min(1.0, len(ps) * ps[smallest])


@given(replies)
def test_the_other_way_round_only_the_sign_changes(pairs: list[tuple[int, int]]) -> None:
    first = Asked.of([(right, 3) for right, _ in pairs])
    second = Asked.of([(right, 3) for _, right in pairs])
    there, back = compare(first, second), compare(second, first)
    assert there.difference.value == pytest.approx(-(back.difference.value or 0.0), abs=1e-12)
    assert there.difference.stderr == pytest.approx(back.difference.stderr)
    low, high = back.difference.ci95 or (math.nan, math.nan)
    assert there.difference.ci95 == pytest.approx((-high, -low))
    assert there.p == (None if back.p is None else pytest.approx(back.p))


def test_the_interval_covers_and_the_detectable_effect_is_found_in_four_of_five() -> None:
    generator = np.random.default_rng(8)
    n, covered, found = 200, [], []
    for _ in range(1500):
        own = generator.beta(1, 1, size=n)
        better = np.where(generator.random(n) < 0.15, np.maximum(own, generator.random(n)), own)
        truth = 0.15 / 6  # the larger of two uniform numbers is 1/6 more than one on average
        twice = np.full((1, n), 2)
        first = Asked(generator.binomial(2, better)[None], twice)
        second = Asked(generator.binomial(2, own)[None], twice)
        comparison = compare(first, second)
        low, high = comparison.difference.ci95 or (1, -1)
        covered.append(low <= truth <= high)
        # A shift as large as what is called detectable, of this very standard error:
        shifted = (comparison.difference.value or 0) - truth + (comparison.detectable or 0)
        found.append(shifted - (high - low) / 2 > 0)
    assert 0.92 < np.mean(covered) < 0.98
    assert np.mean(found) == pytest.approx(0.8, abs=0.04)
