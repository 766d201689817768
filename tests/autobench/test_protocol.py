"""Equations 1 to 3, acceptance, retries, restarts and replay."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.protocol import Ask, Record, Reply, accepted, iteration, replay
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


def play(
    answer: Callable[[Ask], Reply],
    settings: Settings = SETTINGS,
    index: int = 1,
    standing: Standing | None = None,
) -> tuple[Record, list[list[Ask]]]:
    """Drive one iteration with a function from ask to reply; return record and asks."""
    protocol = iteration(index, standing or Standing.start(settings), settings)
    asked = []
    asks = next(protocol)
    while True:
        asked.append(asks)
        try:
            asks = protocol.send([answer(ask) for ask in asks])
        except StopIteration as end:
            return end.value, asked


def obliging(ask: Ask) -> Reply:
    """Write something, rate everything 4."""
    return Reply(f"<rank>4</rank> says {ask.model}" if "rating" in ask.kind else f"by {ask.model}")


def journal(iterations: int, seed: int = 0) -> Iterator[Record]:
    """Play several iterations with ratings that vary by judge, contestant and iteration."""
    settings = replace(SETTINGS, seed=seed)
    standing = Standing.start(SETTINGS)
    for index in range(1, iterations + 1):

        def answer(ask: Ask) -> Reply:
            if "rating" not in ask.kind:
                return Reply(f"by {ask.model}")
            rank = 1 + (hash_of(ask) % 6)
            return Reply(f"<rank>{rank}</rank>")  # one in six is 6: not a rating

        record, _ = play(answer, settings, index, standing)
        standing = advance(standing, record["scores"], SETTINGS)
        yield record


def hash_of(ask: Ask) -> int:
    return sum(map(ord, ask.key + ask.model))


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


# Acceptance


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


def test_mean_and_median_must_both_exceed_their_thresholds() -> None:
    settings = replace(SETTINGS, mean_threshold=3.0, median_threshold=3.0)
    equal = dict.fromkeys(MODELS, 1 / 3)
    assert accepted({"a": 4, "b": 4, "c": 4}, equal, settings)
    assert not accepted({"a": 3, "b": 3, "c": 3}, equal, settings)  # equal is not above
    assert not accepted({"a": 5, "b": 5, "c": 1}, equal, replace(settings, mean_threshold=3.7))
    assert not accepted({"a": 3, "b": 3, "c": 5}, equal, settings)  # the mean passes alone
    assert not accepted({"a": None, "b": None, "c": None}, equal, settings)


# One iteration


def test_an_accepted_task_is_answered_by_all_and_judged_by_all() -> None:
    record, asked = play(obliging)
    assert [asks[0].kind for asks in asked] == ["task", "task_rating", "answer", "answer_rating"]
    assert [len(asks) for asks in asked] == [1, 3, 3, 9]
    assert record["task"] == record["attempts"][0]["task"] == f"by {record['generator']}"
    assert record["answers"] == {model: f"by {model}" for model in MODELS}
    assert record["judgments"] == {judge: dict.fromkeys(MODELS, 4) for judge in MODELS}
    assert record["scores"] == dict.fromkeys(MODELS, 4.0)
    assert record["topic"] in SETTINGS.topics


def test_every_judge_of_an_answer_reads_that_answer() -> None:
    _, asked = play(obliging)
    for ask in asked[-1]:
        contestant = ask.key.rsplit("/", 1)[1]
        assert f"Answer: by {contestant} Return:" in ask.prompt


def test_keys_are_unique_within_a_model() -> None:
    _, asked = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"))
    keys = [(ask.model, ask.key) for asks in asked for ask in asks]
    assert len(keys) == len(set(keys))


def test_a_rejected_task_is_tried_again_then_another_model_generates() -> None:
    settings = replace(SETTINGS, attempts=2, restarts=1)
    record, _ = play(
        lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "a poor task"), settings
    )
    generators = [attempt["generator"] for attempt in record["attempts"]]
    assert len(generators) == 4
    assert generators[0] == generators[1] != generators[2] == generators[3]
    assert not any(attempt["accepted"] for attempt in record["attempts"])


def test_when_the_restarts_are_used_up_the_iteration_ends_without_a_task() -> None:
    record, asked = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"))
    assert len(record["attempts"]) == SETTINGS.attempts * (SETTINGS.restarts + 1)
    assert record["task"] is None
    assert record["answers"] == record["judgments"] == record["scores"] == {}
    assert record["weights"] == Standing.start(SETTINGS).weights
    assert {ask.kind for asks in asked for ask in asks} == {"task", "task_rating"}


def test_more_restarts_than_models_start_the_round_again() -> None:
    settings = replace(SETTINGS, attempts=1, restarts=6)
    record, _ = play(lambda ask: Reply("<rank>1</rank>" if "rating" in ask.kind else "x"), settings)
    generators = [attempt["generator"] for attempt in record["attempts"]]
    assert sorted(generators[:3]) == sorted(generators[3:6]) == list(MODELS)


@pytest.mark.parametrize("task", [None, "", "  \n"])
def test_no_task_is_not_put_before_the_judges(task: str | None) -> None:
    record, asked = play(lambda ask: Reply(task) if ask.kind == "task" else obliging(ask))
    assert all(asks[0].kind == "task" for asks in asked)
    assert record["attempts"][0]["ratings"] == {}


def test_answers_that_never_came_are_not_judged() -> None:
    def answer(ask: Ask) -> Reply:
        if ask.kind == "answer" and ask.model != "a":
            return Reply(None) if ask.model == "b" else Reply("  ")
        return obliging(ask)

    record, asked = play(answer)
    assert {ask.key.rsplit("/", 1)[1] for ask in asked[-1]} == {"a"}
    assert record["scores"] == {"a": 4.0, "b": None, "c": FLOOR}


def test_cut_answers_are_noted() -> None:
    record, _ = play(
        lambda ask: replace(obliging(ask), truncated=ask.kind == "answer" and ask.model == "b")
    )
    assert record["truncated"] == ["b"]


def test_an_iteration_draws_the_same_whatever_went_before() -> None:
    later = advance(Standing.start(SETTINGS), {"a": 5.0, "b": 1.0, "c": 1.0}, SETTINGS)
    first, _ = play(obliging, index=9)
    second, _ = play(obliging, index=9, standing=replace(later, iteration=8))
    for field in ("generator", "topic", "difficulty"):
        assert first[field] == second[field]
    topics = {play(obliging, index=index)[0]["topic"] for index in range(1, 60)}
    assert topics == set(SETTINGS.topics)


def test_harder_tasks_are_drawn_more_often() -> None:
    labels = [play(obliging, index=index)[0]["difficulty"] for index in range(1, 400)]
    drawn = [labels.count(label) for label in ("very difficult", "difficult", "standard")]
    assert drawn == sorted(drawn, reverse=True)
    assert all(drawn)


# Replay


@given(seed=st.integers(0, 1000), order=st.randoms(use_true_random=False))
def test_replay_of_the_journal_gives_exactly_the_journalled_weights(
    seed: int, order: object
) -> None:
    records = list(journal(6, seed))
    as_read = [json.loads(json.dumps(record)) for record in records]
    order.shuffle(as_read)  # type: ignore[attr-defined]
    standing = replay(as_read, SETTINGS)
    assert standing.weights == records[-1]["weights"]
    assert standing.scores == records[-1]["cumulative"]


def test_replay_reads_ratings_and_nothing_that_was_computed_from_them() -> None:
    records = list(journal(4))
    bare = [
        {key: record[key] for key in ("iteration", "answers", "judgments")} for record in records
    ]
    assert replay(bare, SETTINGS) == replay(records, SETTINGS)


@pytest.mark.parametrize("keep", [[0, 2], [0, 1, 1, 2]])
def test_replay_refuses_a_journal_with_a_gap_or_a_double(keep: list[int]) -> None:
    records = list(journal(3))
    with pytest.raises(ValueError, match="missing or there twice"):
        replay([records[position] for position in keep], SETTINGS)


def test_replay_of_nothing_is_the_start() -> None:
    assert replay([], SETTINGS) == Standing.start(SETTINGS)
