import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.stats import composite, intervals, repeats
from raybench.stats.asked import Asked
from raybench.stats.composite import weighted
from raybench.types import Estimate

HALF = Fraction(1, 2)
MATH = {"aime_2024": HALF, "math_500": HALF}
AIME = Estimate(0.4, 0.08, (0.25, 0.55), 30, "one way")
MATH_500 = Estimate(0.9, 0.01, (0.88, 0.92), 500, "another")

estimates = st.integers(1, 40).flatmap(
    lambda n: st.integers(0, n).map(lambda right: intervals.share(right, n, over="questions"))
)
indices = st.lists(st.tuples(estimates, st.integers(1, 9)), min_size=1, max_size=6)


def made_of(parts: list[tuple[Estimate, int]]) -> tuple[dict[str, Estimate], dict[str, Fraction]]:
    whole = sum(weight for _, weight in parts)
    return (
        {f"b{place}": score for place, (score, _) in enumerate(parts)},
        {f"b{place}": Fraction(weight, whole) for place, (_, weight) in enumerate(parts)},
    )


def test_an_index_of_worked_numbers() -> None:
    found = weighted({"aime_2024": AIME, "math_500": MATH_500}, MATH)
    assert found.value == pytest.approx(0.65)
    assert found.stderr == pytest.approx(math.sqrt(0.08**2 + 0.01**2) / 2)
    # ½√(0.15² + 0.02²) = 0.075664 to either side
    assert found.ci95 == pytest.approx((0.574336, 0.725664), abs=1e-6)
    assert (found.n, values(found.method)["many"]) == (530, 2)


def test_a_score_of_0_keeps_the_error_its_interval_tells() -> None:
    zero = Estimate(0.0, 0.0, (0.0, 0.1135), 30, "Wilson")
    found = weighted(
        {"aime_2024": zero, "math_500": Estimate(0.0, 0.0, (0, 0.0076), 500, "")}, MATH
    )
    assert found.ci95 == pytest.approx((0.0, math.hypot(0.1135, 0.0076) / 2))


def test_what_is_missing_refuses_the_index_and_is_named() -> None:
    weights = {name: Fraction(1, 4) for name in ("hle", "mmlu_pro", "scicode", "math_500")}
    withheld = Estimate(None, None, None, 9, "not computed: 3 units await review")
    found = weighted({"math_500": MATH_500, "mmlu_pro": withheld}, weights)
    assert (found.value, found.stderr, found.ci95, found.n) == (None, None, None, 0)
    why = values(found.method)
    assert (why["missing"], why["refused"]) == (["hle", "scicode"], {"mmlu_pro": withheld.method})
    one = weighted({"math_500": MATH_500}, MATH)
    assert values(one.method)["missing"] == ["aime_2024"]


def test_a_partial_index_is_weighed_anew_and_says_how() -> None:
    weights = {"hle": HALF, "aime_2024": Fraction(1, 3), "math_500": Fraction(1, 6)}
    found = weighted({"aime_2024": AIME, "math_500": MATH_500}, weights, partial=True)
    assert found.value == pytest.approx(0.4 * 2 / 3 + 0.9 / 3)
    assert found.stderr == pytest.approx(math.hypot(0.08 * 2 / 3, 0.01 / 3))
    how = values(found.method)
    assert code(found.method) == "method.partial_mean"
    assert how["weights"] == {"aime_2024": Fraction(2, 3), "math_500": Fraction(1, 3)}
    assert how["missing"] == ["hle"]


def test_a_partial_index_of_everything_is_none_and_of_nothing_is_refused() -> None:
    parts = {"aime_2024": AIME, "math_500": MATH_500}
    assert weighted(parts, MATH, partial=True) == weighted(parts, MATH)
    refused = weighted({}, MATH, partial=True)
    assert refused.value is None
    assert values(refused.method)["missing"] == ["aime_2024", "math_500"]


def test_a_score_without_an_interval_leaves_the_index_without() -> None:
    bare = Estimate(0.4, None, None, 1, "one")
    found = weighted({"aime_2024": bare, "math_500": MATH_500}, MATH)
    assert found.value == pytest.approx(0.65)
    assert (found.stderr, found.ci95) == (None, None)
    assert values(found.method)["bare"] == ["aime_2024"]


def test_weights_that_do_not_sum_to_one_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="5/6"):
        weighted({}, {"a": HALF, "b": Fraction(1, 3)})


@given(indices)
def test_an_index_lies_among_its_scores_and_inside_its_interval(
    parts: list[tuple[Estimate, int]],
) -> None:
    scores, weights = made_of(parts)
    found = weighted(scores, weights)
    values = [score.value or 0.0 for score in scores.values()]
    assert found.value is not None
    assert found.ci95 is not None
    assert min(values) - 1e-12 <= found.value <= max(values) + 1e-12
    assert -1e-12 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1 + 1e-12


@given(indices)
def test_the_order_of_benchmarks_does_not_matter(parts: list[tuple[Estimate, int]]) -> None:
    scores, weights = made_of(parts)
    other = weighted(dict(reversed(scores.items())), dict(reversed(weights.items())))
    found = weighted(scores, weights)
    assert (other.value, other.n) == (found.value, found.n)
    assert other.ci95 == pytest.approx(found.ci95)


@given(indices, st.data())
def test_the_weights_of_a_partial_index_sum_to_one(
    parts: list[tuple[Estimate, int]], data: st.DataObject
) -> None:
    scores, weights = made_of(parts)
    kept = data.draw(st.sets(st.sampled_from(sorted(scores)), min_size=1))
    there = {name: scores[name] for name in kept}
    used = composite.constituents(there, weights, partial=True)
    assert sum(used.values()) == 1
    assert all(used[a] * weights[b] == used[b] * weights[a] for a in used for b in used)
    assert bool(composite.constituents(there, weights)) == (kept == scores.keys())


def test_the_intelligence_index_covers_its_truth() -> None:
    """A weak model's: three of its benchmarks lie near 0, where ± 1.96 SE would miss."""
    generator = np.random.default_rng(7)
    sixth, eighth = Fraction(1, 6), Fraction(1, 8)
    suite = {  # weight, questions, repeats, accuracy
        "mmlu_pro": (sixth, 500, 1, 0.11),
        "hle": (sixth, 100, 1, 0.02),
        "gpqa_diamond": (sixth, 198, 5, 0.25),
        "math_500": (eighth, 100, 3, 0.03),
        "aime_2024": (eighth, 30, 10, 0.01),
        "scicode": (eighth, 100, 3, 0.02),
        "livecodebench": (eighth, 100, 3, 0.01),
    }
    weights = {name: weight for name, (weight, *_) in suite.items()}
    truth = sum(float(weight) * p for weight, _, _, p in suite.values())
    covered = []
    for _ in range(600):
        scores = {}
        for name, (_, n, times, p) in suite.items():
            right = generator.binomial(times, generator.beta(p, 1 - p, size=(1, n)))
            scores[name] = repeats.accuracy(Asked(right, np.full((1, n), times)))
        low, high = weighted(scores, weights).ci95 or (1, 0)
        covered.append(low <= truth <= high)
    assert 0.92 < np.mean(covered) < 0.98
