"""The exam's numbers, by hand and against the definition."""

from collections.abc import Iterable
from time import process_time
from typing import Any

import numpy as np
import pytest
from examined import exam, judged, record, unjudged
from statements import code, the, values

from raybench.benchmarks.parts.hle import metrics
from raybench.benchmarks.parts.scores import Rules, Scores
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.stats import calibration
from raybench.types import Estimate

NAMED = ("model", "benchmark", "key", "language", "subject", "repeat", "correct", "finish", "by",
         "prompt_tokens", "output_tokens", "cluster")  # fmt: skip


def scores(records: Iterable[dict[str, Any]], **rules: Any) -> Scores:
    units = [
        Unit(
            **{name: it[name] for name in NAMED},
            parsed=it["answer"] is not None,
            judge_error=it["judge_error"] is not None,
        )
        for it in records
    ]
    return Scores(Tally.of(units), Rules({}, **rules))


def found(
    records: list[dict[str, Any]], judges: tuple[str, ...] = ("j",), **rules: Any
) -> dict[str, Estimate]:
    return metrics.metrics(exam(records), "a", scores(records, **rules), judges)


def many(n: int = 300, seed: int = 0) -> list[dict[str, Any]]:
    """Return records of a model that is 20 points too sure, in two categories and types."""
    generator = np.random.default_rng(seed)
    records = []
    for number in range(n):
        stated = int(generator.integers(20, 101))
        right = bool(generator.random() < (stated - 20) / 100)
        choice = number % 4 == 0
        details = {"answer_type": "multipleChoice" if choice else "exactMatch", "stated": stated}
        records.append(
            record(
                f"q{number:04}",
                right,
                subject="Math" if number % 2 else "Other",
                details=details | ({"chance": 0.2} if choice else {}),
                judgements=judged(("j", right), confidence=stated),
            )
        )
    return records


def test_calibration_is_the_definitions_over_the_judged_in_their_order() -> None:
    records = many()
    shown = found([*reversed(records), *(unjudged(key=f"u{n}") for n in range(50))])
    stated = [it["judgements"]["j"]["confidence"] / 100 for it in records]
    right = [it["correct"] for it in records]
    for key, bins in ((metrics.ERROR, "official"), (f"{metrics.ERROR}_all", "all")):
        value = calibration.rms_error(stated, right, bins=bins)  # type: ignore[arg-type]
        assert shown[key].value == pytest.approx(value)
        assert shown[key].n == 300
        assert shown[key].ci95 is not None
    low, high = shown[metrics.LESS_CHANCE].ci95 or (1, 0)
    assert low < 0.2 < high
    assert shown["hle/confidence"].value == pytest.approx(np.mean(stated))


def test_what_was_not_judged_is_wrong_and_has_no_confidence() -> None:
    records = [record("1"), record("2", False), unjudged(key="3"), unjudged("empty", key="4")]
    shown = found(records)
    assert shown["hle/accuracy/exact_match"].value == 1 / 4
    assert shown["hle/confidence"].n == 2
    assert scores(records).accuracy("a", "hle").value == 1 / 4


def test_a_question_whose_image_a_model_does_not_take_is_left_out_for_it() -> None:
    records = [record("1"), record("2", False), unjudged("unsupported", key="3")]
    accuracy = scores(records).accuracy("a", "hle")
    assert (accuracy.value, accuracy.n) == (1 / 2, 2)
    assert the("left_out.images", values(accuracy.method)["notes"])["number"] == 1


def test_below_a_hundred_there_is_no_calibration_and_it_says_why() -> None:
    shown = found(many(99))
    for key in (metrics.ERROR, f"{metrics.ERROR}_all", metrics.LESS_CHANCE):
        assert shown[key].value is None
        assert code(shown[key].method) == "refused.less_than_a_bin"
    shown = found(many(150))
    assert shown[metrics.ERROR].value is None
    assert shown[f"{metrics.ERROR}_all"].value is not None


def test_types_and_categories_have_their_own() -> None:
    shown = found(many(600))
    every = many(600)
    for called, answer_type in (
        ("exact_match", "exactMatch"),
        ("multiple_choice", "multipleChoice"),
    ):
        some = [it["correct"] for it in every if it["details"]["answer_type"] == answer_type]
        assert shown[f"hle/accuracy/{called}"].value == pytest.approx(np.mean(some))
        assert shown[f"{metrics.ERROR}_all/{called}"].n == len(some)
    assert {f"{metrics.ERROR}_all/math", f"{metrics.ERROR}_all/other"} <= shown.keys()


def test_confidences_that_nobody_stated_are_counted() -> None:
    silent = record("1", details={}, judgements=judged(("j", True), confidence=None))
    shown = found([silent, record("2"), record("3"), record("4")])
    assert shown["hle/confidence_given"].value == 3 / 4
    assert shown["hle/confidence"].value == pytest.approx((1 + 3 * 0.8) / 4)


def test_what_is_withheld_is_withheld_throughout() -> None:
    records = [*many(), unjudged("error", key="gone")]
    shown = found(records)
    assert {estimate.value for estimate in shown.values()} == {None}
    assert all("not computed" in estimate.method for estimate in shown.values())
    accepted = found(records, accepted=True)
    assert accepted[metrics.ERROR].value is not None


def test_two_judges_are_compared_over_what_both_judged() -> None:
    agree = [record(f"a{n}", n % 2 == 0, judgements=judged(("j", n % 2 == 0), ("k", n % 2 == 0)))
             for n in range(40)]  # fmt: skip
    differ = [record(f"b{n}", judgements=judged(("j", True), ("k", False))) for n in range(8)]
    alone = [record("c", judgements=judged(("j", True)))]
    shown = found([*agree, *differ, *alone, unjudged(key="d")], judges=("j", "k"))
    assert shown["hle/judge_agreement"].value == 40 / 48
    # 28 of 48 yes and 20 of 48: chance agrees on 0.4861.
    assert shown["hle/judge_kappa"].value == pytest.approx(
        (40 / 48 - 0.48611) / (1 - 0.48611), abs=1e-4
    )
    assert shown["hle/accuracy_second_judge"].value == pytest.approx(20 / 49)
    assert shown["hle/accuracy_judge_effect"].value == pytest.approx(-8 / 49)
    assert "hle/judge_kappa" not in found(agree)


def test_guessing_is_known_where_all_options_could_be_read() -> None:
    items = exam(many(40)).items("a")
    assert metrics.chance(items) == pytest.approx(0.2)
    unread = record("q", details={"answer_type": "multipleChoice", "stated": 1})
    assert metrics.chance(exam([*many(40), unread]).items("a")) is None
    assert metrics.chance([]) is None


@pytest.mark.slow
def test_two_judges_of_a_whole_exam_are_compared_in_a_moment() -> None:
    verdicts = (("j", True), ("k", False))
    records = [
        record(f"q{number}", repeat=repeat, judgements=judged(*verdicts))
        for number in range(2500)
        for repeat in range(4)
    ]
    several = scores(records)
    told = exam(records)
    begun = process_time()
    metrics.metrics(told, "a", several, ("j",))
    alone = process_time() - begun
    metrics.metrics(told, "a", several, ("j", "k"))
    assert process_time() - begun - alone < 3 * alone + 5
