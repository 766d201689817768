"""Equations 1 to 3, and the weighted mean and median."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.settings import Settings
from raybench.autobench.standing import (
    FLOOR,
    Standing,
    advance,
    contestant_scores,
    judging_weights,
    weighted_mean,
    weighted_median,
)

MODELS = ("a", "b", "c")
SETTINGS = Settings(models=MODELS, seed=7)
TWO = Settings(("a", "b"))

ratings = st.one_of(st.none(), st.integers(1, 5))
weights = st.floats(0.01, 1.0)


# Equation 1


def test_equation_1_by_hand() -> None:
    judgments = {"a": {"a": 5, "b": 1}, "b": {"a": 1, "b": 3}}
    scores = contestant_scores({"a": "x", "b": "y"}, judgments, {"a": 0.75, "b": 0.25})
    assert scores == {"a": 0.75 * 5 + 0.25 * 1, "b": 0.75 * 1 + 0.25 * 3}


def test_invalid_ratings_are_left_out_and_weights_renormalised() -> None:
    assert weighted_mean({"a": 5, "b": None, "c": 2}, {"a": 0.5, "b": 0.3, "c": 0.2}) == (
        pytest.approx((0.5 * 5 + 0.2 * 2) / 0.7)
    )


def test_a_contestant_without_a_valid_rating_has_no_score() -> None:
    assert contestant_scores({"a": "x"}, {"a": {"a": None}}, {"a": 1.0}) == {"a": None}


def test_an_empty_answer_scores_the_floor_and_no_reply_scores_nothing() -> None:
    scores = contestant_scores(
        {"a": " \n", "b": None}, {"a": {"a": None, "b": None}}, {"a": 1.0, "b": 1.0}
    )
    assert scores == {"a": FLOOR, "b": None}


@given(st.dictionaries(st.sampled_from("abcde"), st.tuples(ratings, weights), min_size=1))
def test_a_weighted_mean_lies_between_the_ratings_and_ignores_the_weights_scale(
    given_ratings: dict[str, tuple[int | None, float]],
) -> None:
    by_judge = {judge: rating for judge, (rating, _) in given_ratings.items()}
    weight = {judge: weight for judge, (_, weight) in given_ratings.items()}
    mean = weighted_mean(by_judge, weight)
    valid = [rating for rating in by_judge.values() if rating is not None]
    if not valid:
        assert mean is None
    else:
        assert mean is not None
        assert min(valid) - 1e-9 <= mean <= max(valid) + 1e-9
        doubled = weighted_mean(by_judge, {judge: 2 * w for judge, w in weight.items()})
        assert doubled == pytest.approx(mean)


# Equations 2 and 3


def test_equations_2_and_3_by_hand() -> None:
    standing = advance(Standing.start(TWO), {"a": 4.0, "b": 2.0}, TWO)
    assert standing.scores == {"a": 4.0, "b": 2.0}
    assert standing.weights == {"a": 4 / 6, "b": 2 / 6}
    standing = advance(standing, {"a": 2.0, "b": 4.0}, TWO)
    assert standing.scores == {"a": 3.0, "b": 3.0}
    assert standing.weights == {"a": 0.5, "b": 0.5}


def test_judges_start_equal() -> None:
    assert Standing.start(Settings(("a", "b", "c", "d"))).weights == dict.fromkeys("abcd", 0.25)


def test_an_iteration_that_does_not_score_a_model_leaves_its_mean_alone() -> None:
    standing = advance(Standing.start(TWO), {"a": 4.0, "b": 2.0}, TWO)
    standing = advance(standing, {"a": None, "b": 4.0}, TWO)
    assert standing.scores == {"a": 4.0, "b": 3.0}
    assert standing.scored == {"a": 1, "b": 2}


def test_a_model_without_a_score_weighs_as_the_average_one() -> None:
    assert judging_weights({"a": 4.0, "b": None, "c": 2.0}, SETTINGS) == {
        "a": 4 / 9,
        "b": 3 / 9,
        "c": 2 / 9,
    }


@given(st.lists(st.lists(st.one_of(st.none(), st.floats(1, 5)), min_size=3, max_size=3)))
def test_scores_are_means_and_weights_sum_to_one(
    iterations: list[list[float | None]],
) -> None:
    standing = Standing.start(SETTINGS)
    for scores in iterations:
        standing = advance(standing, dict(zip(MODELS, scores, strict=True)), SETTINGS)
    for position, model in enumerate(MODELS):
        seen = [score for scores in iterations if (score := scores[position]) is not None]
        assert standing.scored[model] == len(seen)
        if seen:
            assert standing.scores[model] == pytest.approx(math.fsum(seen) / len(seen))
        else:
            assert standing.scores[model] is None
    assert math.fsum(standing.weights.values()) == pytest.approx(1)
    assert all(weight > 0 for weight in standing.weights.values())


def test_a_judge_from_outside_weighs_as_the_average_one_of_the_others() -> None:
    mixed = Settings(MODELS, judges=("a", "b", "x"))
    assert judging_weights({"a": 4.0, "b": 2.0, "c": 5.0}, mixed) == {
        "a": 4 / 9,
        "b": 2 / 9,
        "x": 3 / 9,
    }
    outside = Settings(MODELS, judges=("x", "y"))
    assert judging_weights({"a": 4.0, "b": 2.0, "c": 5.0}, outside) == {"x": 0.5, "y": 0.5}


def test_uniform_weights_stay_uniform_and_scores_follow_them() -> None:
    settings = Settings(("a", "b"), weights="uniform")
    standing = advance(Standing.start(settings), {"a": 5.0, "b": 1.0}, settings)
    assert standing.scores == {"a": 5.0, "b": 1.0}
    assert standing.weights == {"a": 0.5, "b": 0.5}


# The median


@pytest.mark.parametrize(
    ("given_ratings", "weight", "median"),
    [
        ({"a": 1, "b": 3, "c": 5}, {"a": 1, "b": 1, "c": 1}, 3),
        ({"a": 1, "b": 2, "c": 4, "d": 5}, {"a": 1, "b": 1, "c": 1, "d": 1}, 3),
        ({"a": 1, "b": 5}, {"a": 0.4, "b": 0.6}, 5),
        ({"a": 1, "b": 2, "c": 5}, {"a": 0.5, "b": 0.25, "c": 0.25}, 1.5),
        ({"a": 1, "b": None, "c": 5}, {"a": 0.1, "b": 0.8, "c": 0.1}, 3),
        ({"a": 4}, {"a": 0.2}, 4),
        ({"a": None}, {"a": 1.0}, None),
        ({}, {}, None),
    ],
)
def test_weighted_median_by_hand(
    given_ratings: dict[str, int | None], weight: dict[str, float], median: float | None
) -> None:
    assert weighted_median(given_ratings, weight) == median


@given(st.lists(st.integers(1, 5), min_size=1))
def test_with_equal_weights_the_weighted_median_is_the_median(values: list[int]) -> None:
    judges = {str(position): value for position, value in enumerate(values)}
    ordered = sorted(values)
    half = len(values) // 2
    expected = ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2
    assert weighted_median(judges, dict.fromkeys(judges, 1 / len(values))) == expected
