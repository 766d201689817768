import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from assessing import assess, obliging
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.autobench import prompts, summary
from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Ask, Reply
from raybench.stats.intervals import wilson
from raybench.types import Counts

MODELS = ("a", "b", "c")
SETTINGS = Settings(MODELS)


def attempt(generator: str, task: str | None, *ratings: int | None, ok: bool = False) -> Any:
    return {
        "generator": generator,
        "task": task,
        "ratings": dict(zip(MODELS, ratings, strict=False)),
        "accepted": ok,
    }


def judgments(*rows: tuple[int | None, int | None, int | None]) -> Any:
    return {
        judge: dict(zip(MODELS, row, strict=True)) for judge, row in zip(MODELS, rows, strict=True)
    }


def error(model: str, key: str) -> dict[str, str]:
    return {"model": model, "key": key, "error": "the line is dead"}


RECORDS: list[dict[str, Any]] = [
    {
        "iteration": 1,
        "attempts": [
            attempt("a", "bad task", 1, None, 2),  # b's line was dead
            attempt("a", "task", 4, 3, None, ok=True),  # c could not be read
        ],
        "task": "task",
        "answers": {"a": "42", "b": "forty-", "c": None},
        "truncated": ["b"],
        # b on a could not be read; c's line was dead for b.
        "judgments": judgments((5, 2, None), (None, 3, None), (4, None, None)),
        "scores": {"a": 4.5, "b": 2.5, "c": None},
        "weights": {"a": 4.5 / 10.5, "b": 2.5 / 10.5, "c": 3.5 / 10.5},
        "errors": [
            error("b", "1/1/task_rating"),
            error("c", "1/answer"),
            error("c", "1/answer_rating/b"),
        ],
    },
    {
        "iteration": 2,
        "attempts": [attempt("b", None), attempt("b", "dull task", 1, 1, 1)],
        "task": None,
        "answers": {},
        "truncated": [],
        "judgments": {},
        "scores": {},
        "weights": {"a": 4.5 / 10.5, "b": 2.5 / 10.5, "c": 3.5 / 10.5},
        "errors": [error("b", "2/1/task")],
    },
    {
        "iteration": 3,
        "attempts": [attempt("c", "task", 5, 5, 5, ok=True)],
        "task": "task",
        "answers": {"a": "42", "b": "41", "c": " \n"},
        "truncated": [],
        "judgments": judgments((4, 2, None), (4, 2, None), (4, 2, None)),
        "scores": {"a": 4.0, "b": 2.0, "c": 1.0},
        "weights": {"a": 4.25 / 7.5, "b": 2.25 / 7.5, "c": 1.0 / 7.5},
        "errors": [],
    },
]


# -------------------------------------------------------------------------------- known answers


def test_every_kind_of_mishap_is_counted_apart() -> None:
    assert summary.counts(RECORDS, MODELS) == {
        "a": Counts(ok=2, judge_error=1),
        "b": Counts(ok=1, truncated=1, unparsed=1, infra_error=2, judge_error=1),
        # A rating and an empty answer; its missing answer is a call that failed.
        "c": Counts(unparsed=2, infra_error=2),
    }


def unanswered(model: str, key: str, finish: str, why: str = "so it is") -> dict[str, str]:
    return {"model": model, "key": key, "finish": finish, "why": why}


UNANSWERED: dict[str, Any] = {
    "iteration": 4,
    "attempts": [
        attempt("a", ""),  # refused
        attempt("b", "task", 4, 3, None, ok=True),  # c's prompt did not fit
    ],
    "task": "task",
    "answers": {"a": "", "b": "", "c": ""},
    "truncated": ["b"],
    "judgments": judgments((None, None, None), (None, None, None), (None, None, None)),
    "scores": {"a": 1.0, "b": 1.0, "c": 1.0},
    "weights": {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3},
    "errors": [],
    "unanswered": [
        unanswered("a", "4/1/task", "refusal", "I cannot help with that."),
        unanswered("c", "4/2/task_rating", "overflow", "maximum context length is 512 tokens"),
        unanswered("a", "4/answer", "refusal", "a content filter stopped the reply"),
        unanswered("b", "4/answer", "thinking"),
        unanswered("c", "4/answer", "empty"),
    ],
}


def test_what_a_model_had_no_answer_to_is_counted_once_and_never_as_infrastructure() -> None:
    assert summary.counts([UNANSWERED], MODELS) == {
        "a": Counts(unparsed=2),
        "b": Counts(truncated=1),
        "c": Counts(unparsed=2),
    }


def test_a_judge_cut_while_thinking_is_truncated_and_missing_to_the_contestant() -> None:
    record = RECORDS[2] | {
        "answers": {"a": "42", "b": "41", "c": "40"},
        "judgments": judgments((4, 2, 1), (4, None, None), (4, 2, 1)),
        "unanswered": [unanswered("b", "3/answer_rating/b", "thinking")],
    }
    assert summary.counts([record], MODELS) == {
        "a": Counts(ok=1),
        "b": Counts(ok=1, truncated=1, unparsed=1, judge_error=1),
        "c": Counts(ok=1, judge_error=1),
    }
    assert list(summary.failures([record])) == [
        {
            "iteration": 3,
            "why": [
                "b: no answer to 3/answer_rating/b (thinking: so it is)",
                "b: 1 rating could not be read",
            ],
        }
    ]
    # It was asked for, it came, and it could not be read.
    rate = summary.metrics([record | {"iteration": 1}], SETTINGS)["b"][summary.PARSE_RATE]
    assert (rate.n, rate.value) == (4, 0.5)


def test_failures_say_which_end_it_was_and_why() -> None:
    assert list(summary.failures([UNANSWERED])) == [
        {
            "iteration": 4,
            "why": [
                "a: no answer to 4/1/task (refusal: I cannot help with that.)",
                "c: no answer to 4/2/task_rating (overflow: maximum context length is 512 tokens)",
                "a: no answer to 4/answer (refusal: a content filter stopped the reply)",
                "b: no answer to 4/answer (thinking: so it is)",
                "c: no answer to 4/answer (empty: so it is)",
            ],
        }
    ]


def test_nothing_happened_to_nobody() -> None:
    assert summary.counts([], MODELS) == dict.fromkeys(MODELS, Counts())
    assert list(summary.failures([])) == []
    assert summary.convergence([], SETTINGS) == []


def test_every_unit_with_a_mishap_is_listed_with_all_its_reasons() -> None:
    assert list(summary.failures(RECORDS)) == [
        {
            "iteration": 1,
            "why": [
                "b: no reply to 1/1/task_rating (the line is dead)",
                "c: no reply to 1/answer (the line is dead)",
                "c: no reply to 1/answer_rating/b (the line is dead)",
                "c: 1 rating could not be read",
                "b: 1 rating could not be read",
                "b: answer cut at the token limit",
            ],
        },
        {
            "iteration": 2,
            "why": [
                "no task was accepted in 2 attempts",
                "b: no reply to 2/1/task (the line is dead)",
            ],
        },
        {"iteration": 3, "why": ["c: empty answer"]},
    ]


def test_a_unit_without_mishap_is_not_listed() -> None:
    sound = RECORDS[2] | {"answers": {"a": "42", "b": "41", "c": "40"}}
    sound["judgments"] = judgments((4, 2, 1), (4, 2, 1), (4, 2, 1))
    assert list(summary.failures([sound])) == []


def test_scores_are_running_means_and_few_iterations_carry_no_interval() -> None:
    metrics = summary.metrics(RECORDS, SETTINGS)
    a, b, c = (metrics[model][summary.SCORE] for model in MODELS)
    assert (a.value, b.value, c.value) == (4.25, 2.25, 1.0)
    assert (a.n, b.n, c.n) == (2, 2, 1)
    assert (a.stderr, a.ci95) == (None, None)


def rated(iteration: int, *ratings: tuple[int, int, int]) -> dict[str, Any]:
    answers = dict.fromkeys(MODELS, "42")
    given = judgments(*ratings)
    return RECORDS[2] | {"iteration": iteration, "answers": answers, "judgments": given}


def test_intervals_are_a_bootstrap_cut_at_the_ends_of_the_scale() -> None:
    records = [
        rated(1, (5, 2, 1), (5, 1, 2), (4, 2, 1)),
        rated(2, (5, 3, 2), (4, 2, 1), (5, 4, 1)),
        rated(3, (3, 1, 3), (4, 3, 2), (5, 2, 2)),
        rated(4, (5, 4, 2), (5, 2, 1), (5, 3, 3)),
    ]
    metrics = summary.metrics(records, SETTINGS)
    a, b, _ = (metrics[model][summary.SCORE] for model in MODELS)
    assert (a.value, a.n) == (replay(records, SETTINGS).scores["a"], 4)
    assert a.ci95 and a.value and a.stderr
    assert a.ci95 == pytest.approx((a.value - 3.1824 * a.stderr, 5.0), abs=1e-3)
    assert code(a.method) == "method.cut"
    # About what a mean over iterations has: weights that move add a little.
    columns = [
        sum(row["b"] * w for row, w in zip(r["judgments"].values(), (0.45, 0.3, 0.25), strict=True))
        for r in records
    ]
    assert b.stderr == pytest.approx(statistics.stdev(columns) / 2, rel=0.15)
    weight = metrics["a"][summary.WEIGHT]
    assert weight.ci95 and weight.value
    assert weight.ci95[0] < weight.value < weight.ci95[1]


def test_equal_weights_by_rule_have_no_interval() -> None:
    uniform = replace(SETTINGS, weights="uniform")
    weight = summary.metrics(RECORDS, uniform)["b"][summary.WEIGHT]
    assert (weight.value, weight.ci95, weight.method) == (1 / 3, None, "uniform weights")


def test_a_contestant_that_is_no_judge_has_no_weight() -> None:
    judges = replace(SETTINGS, judges=("a", "b"))
    records = [
        record | {"judgments": {j: record["judgments"][j] for j in "ab" if record["judgments"]}}
        for record in RECORDS
    ]
    weight = summary.metrics(records, judges)["c"][summary.WEIGHT]
    assert weight == summary.NO_JUDGE


def test_a_model_that_was_never_scored_has_no_score() -> None:
    score = summary.metrics(RECORDS[:2], SETTINGS)["c"][summary.SCORE]
    assert (score.value, score.n) == (None, 0)
    assert code(score.method) == "refused.empty"


def test_weights_are_those_of_the_next_iteration() -> None:
    metrics = summary.metrics(RECORDS, SETTINGS)
    weights = [metrics[model][summary.WEIGHT] for model in MODELS]
    assert [weight.value for weight in weights] == pytest.approx([4.25 / 7.5, 0.3, 1.0 / 7.5])
    assert {weight.n for weight in weights} == {2}  # iterations with a task


def test_the_parse_rate_leaves_out_what_got_no_reply() -> None:
    metrics = summary.metrics(RECORDS, SETTINGS)
    rates = [metrics[model][summary.PARSE_RATE] for model in MODELS]
    assert [rate.n for rate in rates] == [8, 7, 7]
    assert [rate.value for rate in rates] == [1.0, 6 / 7, 6 / 7]
    assert values(metrics["a"][summary.PARSE_RATE].method)["by"] == "iteration"
    together = summary.parse_rate(RECORDS, SETTINGS)
    assert (together.n, together.value) == (22, 20 / 22)


def test_of_nobody_asked_there_is_no_parse_rate() -> None:
    assert code(summary.parse_rates([], SETTINGS)["a"].method) == "refused.empty"


def test_misses_that_come_together_widen_the_parse_rate() -> None:
    def journal(read: Callable[[int, int], bool]) -> list[dict[str, Any]]:
        return [
            {"attempts": [], "task": "task", "answers": dict.fromkeys(MODELS, "42")}
            | {"iteration": at, "judgments": {"a": {m: 4 if read(at, k) else None
                                                    for k, m in enumerate(MODELS)}}}
            for at in range(1, 31)
        ]  # fmt: skip

    # Thirty of ninety either way: whole iterations, or one of every iteration.
    settings = Settings(MODELS, judges=("a",))
    whole = summary.parse_rate(journal(lambda at, k: at % 3 > 0), settings)
    spread = summary.parse_rate(journal(lambda at, k: (at + k) % 3 > 0), settings)
    assert whole.value == spread.value == pytest.approx(2 / 3)
    assert whole.ci95 is not None
    assert spread.ci95 is not None
    # As thirty independent ones have it, and not as ninety do.
    alone = wilson(2 / 3, 30)
    assert whole.ci95[1] - whole.ci95[0] > alone[1] - alone[0]
    assert spread.ci95[1] - spread.ci95[0] < alone[1] - alone[0]


def test_who_rated_whom_how_high() -> None:
    assert summary.mean_judgments(RECORDS, MODELS) == {
        "a": {"a": 4.5, "b": 2.0, "c": None},
        "b": {"a": 4.0, "b": 2.5, "c": None},
        "c": {"a": 4.0, "b": 2.0, "c": None},
    }


OUTSIDERS = Settings(("a", "b"), judges=("b", "x"), self_judgement=False)
WITH_OUTSIDERS: list[dict[str, Any]] = [
    {
        "iteration": 1,
        "attempts": [],
        "task": "task",
        "answers": {"a": "42", "b": "41"},
        "judgments": {"b": {"a": 4}, "x": {"a": 3, "b": None}},
        "scores": {"a": 3.5, "b": None},
        "weights": {"b": 0.4, "x": 0.6},
        "errors": [],
    }
]


def test_judges_may_be_others_and_leave_out_their_own_answers() -> None:
    metrics = summary.metrics(WITH_OUTSIDERS, OUTSIDERS)
    for name in (summary.WEIGHT, summary.PARSE_RATE):
        assert metrics["a"][name] == summary.NO_JUDGE
    assert metrics["b"][summary.PARSE_RATE].n == 1
    assert summary.parse_rates(WITH_OUTSIDERS, OUTSIDERS)["x"].value == 0.5
    assert summary.counts(WITH_OUTSIDERS, OUTSIDERS.models) == {
        "a": Counts(ok=1),
        "b": Counts(ok=1, judge_error=1),
    }
    assert summary.counts(WITH_OUTSIDERS, OUTSIDERS.panel)["x"] == Counts(unparsed=1)
    (why,) = (why for it in summary.failures(WITH_OUTSIDERS) for why in it["why"])
    assert (code(why), values(why)["judge"], values(why)["n"]) == ("failure.unread", "x", 1)
    assert summary.mean_judgments(WITH_OUTSIDERS, ("a", "b"), OUTSIDERS.panel) == {
        "b": {"a": 4.0, "b": None},
        "x": {"a": 3.0, "b": None},
    }
    assert summary.convergence(WITH_OUTSIDERS, OUTSIDERS) == pytest.approx([0.2])


def test_convergence_is_the_distance_between_successive_weights() -> None:
    assert summary.convergence(RECORDS, SETTINGS) == pytest.approx([4 / 21, 0.0, 0.4])


# ----------------------------------------------------------------------------------- properties

REPLIES = {
    "task": [None, "", "What is 6 * 7?"],
    "task_rating": [None, "<rank>1</rank>", "<rank>5</rank>", "five", ""],
    "answer": [None, "", "42"],
    "answer_rating": [None, "<rank>1</rank>", "<rank>4</rank>", "<rank>6</rank>", "four"],
}


@st.composite
def plays(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[tuple[Ask, Reply]]]:
    """Records of whole iterations with replies of every kind, and what was said in them."""
    said: list[tuple[Ask, Reply]] = []

    def answer(ask: Ask) -> Reply:
        text = draw(st.sampled_from(REPLIES[ask.kind]))
        if text is None:
            reply = Reply(None, "error", "dead")
        else:
            reply = Reply(text, draw(st.sampled_from(["stop", "length"])))
        said.append((ask, reply))
        return reply

    return assess(answer, SETTINGS, draw(st.integers(1, 3))), said


@given(plays())
def test_the_counts_add_up(played: tuple[list[dict[str, Any]], list[tuple[Ask, Reply]]]) -> None:
    records, said = played
    counts = summary.counts(records, MODELS)
    metrics = summary.metrics(records, SETTINGS)
    missing: Counter[str] = Counter()
    for model in MODELS:
        replies = [(ask, reply) for ask, reply in said if ask.model == model]
        answers = [r for ask, r in replies if ask.kind == "answer" and r.text is not None]
        ratings = [(ask, r.text) for ask, r in replies if ask.kind.endswith("rating")]
        unread = [(ask, text) for ask, text in ratings if prompts.parse_rank(text or "") is None]
        assert counts[model].infra_error == sum(reply.text is None for _, reply in replies)
        assert counts[model].truncated == sum(reply.truncated for reply in answers)
        empty = sum(not (r.text or "").strip() and not r.truncated for r in answers)
        assert counts[model].ok == len(answers) - counts[model].truncated - empty
        unread_ratings = sum(text is not None for _, text in unread)
        assert counts[model].unparsed == unread_ratings + empty
        rate = metrics[model][summary.PARSE_RATE]
        assert rate.n == sum(text is not None for _, text in ratings)
        assert rate.n - unread_ratings == (round(rate.value * rate.n) if rate.value else 0)
        missing.update(ask.key.rpartition("/")[2] for ask, _ in unread if "answer_" in ask.kind)
    # What a judge failed to give is missing to a contestant.
    assert [counts[model].judge_error for model in MODELS] == [missing[model] for model in MODELS]


@given(plays())
def test_a_unit_is_listed_where_something_was_counted(
    played: tuple[list[dict[str, Any]], list[tuple[Ask, Reply]]],
) -> None:
    records, _ = played
    listed = {failure["iteration"] for failure in summary.failures(records)}
    for record in records:
        counts = summary.counts([record], MODELS).values()
        bad = any(c.truncated or c.unparsed or c.infra_error or c.judge_error for c in counts)
        empty = any(answer == "" for answer in record["answers"].values())
        assert (record["iteration"] in listed) == (bad or empty or record["task"] is None)


def test_who_never_replied_is_told_with_the_commonest_reason() -> None:
    settings = Settings(("a", "b"), judges=("a", "b", "x", "y"))

    def answer(ask: Ask) -> Reply:
        if ask.model == "y":
            return Reply(None, "error", "HTTP 500" if "1/" in ask.key[:2] else "HTTP 401")
        if ask.model == "x" and ask.key.startswith("2/"):
            return Reply(None, "error", "timeout")
        return obliging(ask)

    records = assess(answer, settings, 4)
    assert summary.heard(records) == {"a", "b", "x"}
    (told,) = summary.silent(records, settings.everybody).items()
    assert told[0] == "y"
    assert told[1].endswith("HTTP 401")
