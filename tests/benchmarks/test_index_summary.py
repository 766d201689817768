import math
import re
from dataclasses import replace
from typing import Any

import pytest
from graded import HALF, asked, unit
from statements import code, codes, the, values

from raybench.benchmarks.parts import summary
from raybench.benchmarks.parts.scores import Rules
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.stats import intervals
from raybench.types import Estimate

WEIGHTS = {
    "math": {"aime_2024": HALF, "math_500": HALF},
    "coding": {"livecodebench": HALF, "scicode": HALF},
    "multilingual": {"mgsm": HALF, "multilingual_mmlu": HALF},
}
RULES = Rules(WEIGHTS, {"mgsm": ("de", "en"), "multilingual_mmlu": ("de", "en")})


def maths(**changes: Any) -> list[Unit]:
    return [
        *asked("aime_2024", "RR", "Rw", "ww", "Rw", **changes),
        *asked("math_500", "R", "R", "R", "w", **changes),
    ]


def of(units: list[Unit], rules: Rules = RULES, model: str = "a") -> dict[str, Estimate]:
    return summary.metrics(Tally.of(units), [model], rules)[model]


def broken(found: Estimate) -> dict[str, int]:
    """Return how many units withhold a score, by what they lack."""
    told = values(values(found.method)["reason"])
    return {name: told[name] for name in ("unanswered", "ungraded", "unchecked")}


# ----------------------------------------------------------------------------- scores and indices


def test_an_index_of_worked_numbers() -> None:
    found = of(maths())
    # Scores 1, 1/2, 0, 1/2: mean 1/2, SE² = 1/24; noise √(1/4 + 1/4)/4. Then 3 of 4: SE² = 3/64.
    aime = found["aime_2024/accuracy"]
    assert aime.value == 0.5
    assert aime.stderr == pytest.approx(math.sqrt(1 / 24))
    assert found["aime_2024/rerun_noise"].value == pytest.approx(math.sqrt(0.5) / 4)
    assert found["math_500/accuracy"] == intervals.share(3, 4, over="questions")
    assert code(found["math_500/rerun_noise"].method) == "refused.asked_once"
    index = found["index/math"]
    assert index.value == 0.625
    assert index.stderr == pytest.approx(math.sqrt(1 / 24 + 3 / 64) / 2)
    assert (index.n, code(index.method)) == (8, "method.weighted_mean")
    assert values(found["index/coding"].method)["missing"] == ["livecodebench", "scicode"]


def test_replies_that_are_the_models_own_fault_count_as_wrong() -> None:
    units = [unit("math_500", "0", True)]
    for finish in ("length", "thinking", "empty", "refusal", "overflow"):
        units.append(unit("math_500", finish, finish=finish, parsed=False, by=None))
    assert of(units)["math_500/accuracy"].value == pytest.approx(1 / 6)
    # A question that a model does not take, for its image, is not put to it.
    units.append(unit("math_500", "image", finish="unsupported", parsed=False, by=None))
    assert of(units)["math_500/accuracy"].value == pytest.approx(1 / 6)


def test_units_that_broke_withhold_the_score_and_the_index_until_accepted() -> None:
    lost = [
        unit("math_500", "4", finish="error", parsed=False, by=None),
        unit("math_500", "5", judge_error=True),
    ]
    found = of(maths() + lost)
    for key in ("math_500/accuracy", "math_500/rerun_noise"):
        assert found[key].value is None
        assert broken(found[key]) == {"unanswered": 1, "ungraded": 0, "unchecked": 1}
    refused = {"math_500": found["math_500/accuracy"].method}
    assert values(found["index/math"].method)["refused"] == refused
    assert found["aime_2024/accuracy"].value == 0.5
    # Else models would be ranked by different sums, and none would be withheld.
    partial = of(maths() + lost, Rules(WEIGHTS, partial=True))["index/math"]
    assert values(partial.method)["refused"] == refused


def test_replies_that_nobody_could_grade_withhold_the_score_and_are_left_out_of_every_one() -> None:
    rules = replace(RULES, programs=["scicode"])
    graded = [
        unit("scicode", f"{problem}.{step}", letter == "R", repeat=repeat, **of)
        for problem, letters in enumerate(("RR", "Rw", "RR"))
        for step, letter in enumerate(letters)
        for repeat in range(5)
        for of in [{"cluster": str(problem), "subject": f"s{problem}"}]
    ]
    nobody = {"by": None, "parsed": False, "judge_error": True, "correct": False}
    # The second problem's wrong step in two repeats, and all of the third problem's first.
    lost = {("1.1", 0), ("1.1", 1), *(("2.0", repeat) for repeat in range(5))}
    units = [
        replace(it, **nobody) if (it.key, it.repeat) in lost else it  # type: ignore[arg-type]
        for it in graded
    ]
    refused = of(units, rules)
    for key in ("accuracy", "main_problems", "pass_at_5", "accuracy/s1"):
        told = refused[f"scicode/{key}"]
        assert told.value is None
        assert broken(told) == {"unanswered": 0, "ungraded": 7, "unchecked": 0}
    found = of(units, replace(rules, accepted=True))
    accuracy = found["scicode/accuracy"]
    assert accuracy.value == pytest.approx(4 / 5)
    assert accuracy.n == 5
    assert the("left_out.ungraded", values(accuracy.method)["notes"])["number"] == 7
    assert found["scicode/accuracy/s1"].value == pytest.approx(1 / 2)
    assert (found["scicode/accuracy/s2"].value, found["scicode/accuracy/s2"].n) == (1, 1)
    whole = found["scicode/main_problems"]
    assert whole.value == pytest.approx(1 / 2)
    assert whole.n == 2
    noted = values(whole.method)["method"]
    assert the("left_out.ungraded", values(noted)["notes"])["number"] == 7
    # No number at all is better than one over the questions that went well.
    passing = found["scicode/pass_at_5"]
    assert passing.value is None
    assert values(values(passing.method)["method"])["questions"] == 1


def test_what_awaits_review_names_only_what_there_is() -> None:
    lost = unit("math_500", "4", finish="error", parsed=False, by=None)
    found = of([*maths(), lost])["math_500/accuracy"]
    assert broken(found) == {"unanswered": 1, "ungraded": 0, "unchecked": 0}


def test_accepted_units_are_left_out_of_their_questions_mean_or_left_to_the_script() -> None:
    broken = [
        unit("aime_2024", "0", repeat=2, finish="error", parsed=False, by=None),
        unit("aime_2024", "9", finish="error", parsed=False, by=None),
        unit("math_500", "5", judge_error=True),
    ]
    found = of(maths() + broken, Rules(WEIGHTS, accepted=True))
    aime, math_500 = found["aime_2024/accuracy"], found["math_500/accuracy"]
    assert (aime.value, aime.n) == (0.5, 4)
    assert the("left_out.unanswered", values(aime.method)["notes"])["number"] == 2
    assert (math_500.value, math_500.n) == (3 / 5, 5)
    assert the("left_out.unchecked", values(math_500.method)["notes"])["number"] == 1
    assert found["index/math"].value == pytest.approx((0.5 + 0.6) / 2)


def test_a_model_all_of_whose_units_broke_has_no_score_even_if_accepted() -> None:
    units = list(asked("math_500", "R", "w", finish="error"))
    found = of(units, Rules(WEIGHTS, accepted=True))
    assert found["math_500/accuracy"].value is None
    assert code(values(found["math_500/accuracy"].method)["method"]) == "refused.empty"
    assert "math_500/output_tokens" not in found


def test_a_model_without_units_has_refusals_only() -> None:
    found = of(maths(), model="b")
    assert {estimate.value for estimate in found.values()} == {None}
    refused = values(found["index/math"].method)["refused"]
    assert {name: code(why) for name, why in refused.items()} == {
        "aime_2024": "refused.empty",
        "math_500": "refused.empty",
    }


def test_subjects_are_broken_out() -> None:
    units = [
        unit("mmlu_pro", "1", True, subject="Computer Science"),
        unit("mmlu_pro", "2", False, subject="computer science"),
        unit("mmlu_pro", "3", True, subject="law"),
    ]
    found = of(units)
    assert found["mmlu_pro/accuracy/computer_science"] == intervals.share(1, 2, over="questions")
    assert found["mmlu_pro/accuracy/law"] == intervals.share(1, 1, over="questions")


# -------------------------------------------------------------------------------------- languages


def lingual(benchmark: str, **languages: str) -> list[Unit]:
    """A letter per question."""
    return [
        reply
        for language, letters in languages.items()
        for reply in asked(benchmark, *letters, language=language)
    ]


def test_languages_weigh_the_same_and_a_question_in_all_of_them_is_one() -> None:
    units = lingual("mgsm", de="Rww", en="RwR") + lingual("multilingual_mmlu", de="R", en="R")
    found = of(units)
    mgsm = found["mgsm/accuracy"]
    # The worked languages of tests/stats/test_clusters.py
    assert mgsm.value == pytest.approx(0.5)
    assert mgsm.stderr == pytest.approx(math.sqrt(1 / 12))
    assert found["mgsm/accuracy/de"] == intervals.share(1, 3, over="questions")
    assert found["mgsm/accuracy/en"] == intervals.share(2, 3, over="questions")
    assert found["index/multilingual"].value == pytest.approx(0.75)


def test_languages_that_do_not_count_are_shown_and_not_averaged() -> None:
    found = of(lingual("mgsm", de="Rw", en="RR", te="ww"))
    assert found["mgsm/accuracy"].value == pytest.approx(0.75)
    assert found["mgsm/accuracy/te"].value == 0.0
    alone = of(lingual("mgsm", te="Rw"))
    assert alone["mgsm/accuracy"].value == 0.5
    assert "mgsm/accuracy/te" not in alone


def test_an_index_that_lacks_languages_is_refused_or_labelled() -> None:
    units = lingual("mgsm", en="RRw") + lingual("multilingual_mmlu", de="Rww", en="RRR")
    refused = of(units)["index/multilingual"]
    assert values(values(refused.method)["refused"]["mgsm"])["lacks"].endswith(" de")
    partial = of(units, Rules(WEIGHTS, RULES.languages, partial=True))["index/multilingual"]
    assert partial.value == pytest.approx(2 / 3)
    assert [*values(partial.method)["lacking"]] == ["mgsm"]


def test_an_index_over_some_subjects_is_refused_or_labelled() -> None:
    some = Rules(WEIGHTS, subjects=("Algebra", "Geometry"))
    found = of(maths(), some)
    assert found["math_500/accuracy"].value is not None
    refused = values(found["index/math"].method)["refused"]
    assert codes(refused.values()) == ["refused.not_asked"] * 2
    assert all("Algebra, Geometry" in why for why in refused.values())
    partial = of(maths(), replace(some, partial=True))["index/math"]
    assert partial.value == of(maths())["index/math"].value
    assert [*values(partial.method)["lacking"]] == ["aime_2024", "math_500"]


# ------------------------------------------------------------------------------ tokens, checkers


def test_tokens_are_told_by_mean_and_percentiles() -> None:
    units = [unit("math_500", str(n), output_tokens=n, prompt_tokens=7) for n in range(101)]
    found = of(units)
    assert found["math_500/prompt_tokens"].value == 7
    assert found["math_500/output_tokens"].value == 50
    for percent in (50, 90, 99):
        estimate = found[f"math_500/output_tokens/p{percent}"]
        assert (estimate.value, estimate.n) == (percent, 101)
        assert "no interval" in estimate.method


def test_the_share_the_checker_decided_and_its_agreement_with_the_script() -> None:
    units = [
        unit("math_500", "0", True),
        unit("math_500", "1", True, by="checker"),
        unit("math_500", "2", False, by="checker"),
        unit("math_500", "3", False, by="checker"),
    ]
    found = of(units)
    assert found["math_500/checker_share"] == intervals.share(3, 4, over="questions")
    assert found["math_500/checker_agreement"] == intervals.share(2, 3, over="questions")
    assert "aime_2024/checker_share" not in of(maths())


def test_keys_are_those_that_mlflow_takes() -> None:
    units = [
        *maths(subject="Counting & Probability"),
        *lingual("mgsm", de="R", en="w"),
        unit("mgsm", "0", language="zh-CN"),
        unit("math_500", "5", by="checker"),
    ]
    for key in of(units):
        assert re.fullmatch(r"[a-z0-9_]+(/[a-z0-9_]+)+", key)


# ----------------------------------------------------------------------------- what repeats reach


def test_the_noise_of_an_index_adds_up_and_what_was_asked_once_is_bounded() -> None:
    found = summary.precision(Tally.of(maths()), "a", RULES)
    assert found.keys() == {"math"}
    # Noise² is 1/32 and, 3 of 4 being compatible with one half, at most 1/16.
    assert found["math"].now == pytest.approx((1 / 32 + 1 / 16) / 4)
    assert found["math"].bounded == ("math_500",)
    metrics = of(maths())
    assert "index/coding/rerun_noise" not in metrics
    noise = metrics["index/math/rerun_noise"]
    assert noise.n == 8
    assert noise.value == pytest.approx(math.sqrt(3 / 128))
    assert "math_500" in noise.method


# ------------------------------------------------------------------------------------------ pairs


def test_every_pair_is_compared_question_by_question() -> None:
    units = [
        *maths(),
        *asked("aime_2024", "ww", "ww", "ww", "Rw", model="b"),
        *asked("math_500", "R", "w", "R", "w", model="b"),
    ]
    found = {
        difference.metric: difference
        for difference in summary.differences(Tally.of(units), ["a", "b"], RULES)
    }
    # d = 1, 1/2, 0, 0 and 0, 1, 0, 0: means 3/8 and 1/4, SE² = (11/48)/4 and 1/16.
    aime, math_500 = found["aime_2024/accuracy"], found["math_500/accuracy"]
    assert (aime.first, aime.second, aime.found.difference.value) == ("a", "b", 0.375)
    assert aime.found.difference.stderr == pytest.approx(math.sqrt(11 / 192))
    assert (math_500.found.test, math_500.found.p) == ("McNemar, exact", 1.0)
    assert aime.found.p is not None
    assert math_500.p_holm == 1.0
    assert aime.p_holm == pytest.approx(2 * aime.found.p)
    index = found["index/math"]
    assert index.found.difference.value == pytest.approx((0.375 + 0.25) / 2)
    assert index.found.difference.stderr == pytest.approx(math.sqrt(11 / 192 + 1 / 16) / 2)
    assert index.p_holm is None
    assert found["index/coding"].found.difference.value is None


def test_an_index_would_not_show_less_than_its_interval_is_wide() -> None:
    first = [*asked("aime_2024", *["R"] * 50), *asked("math_500", *"RwRw")]
    other = ["R"] * 20 + ["w"] * 10 + ["R"] * 20
    second = [*asked("aime_2024", *other, model="b"), *asked("math_500", *"RwRw", model="b")]
    found = {
        it.metric: it.found
        for it in summary.differences(Tally.of([*first, *second]), ["a", "b"], RULES)
    }
    index = found["index/math"]
    low, high = index.difference.ci95 or (0, 0)
    # 2.8 standard errors, of which the interval has 1.96 on either side.
    assert index.detectable == pytest.approx(1.4 * (high - low) / intervals.Z)
    assert index.difference.stderr is not None
    alone = 2.8 * index.difference.stderr
    assert index.detectable is not None and index.detectable > 2 * alone, "math_500 may differ, too"


def test_what_is_withheld_from_one_model_is_compared_with_none() -> None:
    units = [
        *maths(),
        *maths(model="b"),
        unit("math_500", "7", model="b", finish="error", parsed=False, by=None),
    ]
    found = {
        it.metric: it.found.difference
        for it in summary.differences(Tally.of(units), ["a", "b"], RULES)
    }
    withheld = found["math_500/accuracy"].method
    assert (code(withheld), values(withheld)["model"]) == ("refused.one_withheld", "b")
    assert values(found["index/math"].method)["refused"] == {"math_500": withheld}
    assert found["aime_2024/accuracy"].value == 0.0


def test_another_verdict_has_an_accuracy_of_its_own_and_counts_in_no_index() -> None:
    units = [
        unit("math_500", str(n), n < 3, beside={"official": n < 2}, subject="Algebra")
        for n in range(4)
    ]
    found = summary.metrics(Tally.of(units), ["a"], RULES)["a"]
    assert (found["math_500/accuracy"].value, found["math_500/accuracy"].n) == (0.75, 4)
    official = found["math_500/accuracy_official"]
    assert (official.value, official.n) == (0.5, 4)
    assert official.ci95 is not None
    assert official.ci95[0] < 0.5 < official.ci95[1]
    partial = replace(RULES, partial=True)
    with_it = summary.metrics(Tally.of(units), ["a"], partial)["a"]["index/math"]
    without = [replace(each, beside={}) for each in units]
    assert with_it == summary.metrics(Tally.of(without), ["a"], partial)["a"]["index/math"]
    lost = unit("math_500", "9", finish="error", beside={"official": False})
    refused = summary.metrics(Tally.of([*units, lost]), ["a"], RULES)["a"]
    assert broken(refused["math_500/accuracy_official"])["unanswered"] == 1


# ------------------------------------------------------------------------------------- programs


def test_how_likely_one_of_several_programs_is_right_is_told_where_so_many_were_asked() -> None:
    rules = Rules(WEIGHTS, programs=["humaneval"])
    units = [*asked("humaneval", "RRwww", "wwwww", "RRRRR"), *asked("math_500", "RRwww")]
    found = of(units, rules)
    assert found["humaneval/pass_at_5"].value == pytest.approx(2 / 3)
    assert found["humaneval/pass_at_5"].n == 3
    assert found["humaneval/accuracy"].value == pytest.approx(7 / 15)
    assert "humaneval/pass_at_10" not in found
    assert "math_500/pass_at_5" not in found
    assert "humaneval/pass_at_5" not in of(list(asked("humaneval", "RRww")), rules)
    assert "index/humaneval" not in found


def test_programs_that_broke_withhold_it_too_and_missing_ones_leave_none() -> None:
    lost = unit("humaneval", "0", repeat=4, finish="error", parsed=False, by=None)
    units = [*asked("humaneval", "RRww", "wwwww"), lost]
    withheld = of(units, Rules(WEIGHTS, programs=["humaneval"]))["humaneval/pass_at_5"]
    assert broken(withheld) == {"unanswered": 1, "ungraded": 0, "unchecked": 0}
    accepted = of(units, Rules(WEIGHTS, programs=["humaneval"], accepted=True))
    told = values(accepted["humaneval/pass_at_5"].method)["method"]
    assert values(told)["questions"] == 1


# ------------------------------------------------------------------------------- whole problems


def scicode(*problems: str, finish: str = "stop") -> list[Unit]:
    return [
        unit("scicode", f"{problem}.{step}", letter == "R", cluster=str(problem), finish=finish)
        for problem, letters in enumerate(problems)
        for step, letter in enumerate(letters)
    ]


def test_problems_of_which_every_step_is_right_have_a_score_of_their_own() -> None:
    found = of(scicode("RRR", "Rw", "ww", "R"))
    assert found["scicode/accuracy"].value == pytest.approx(5 / 8)
    assert values(found["scicode/accuracy"].method)["sources"] == 4
    whole = found["scicode/main_problems"]
    assert (whole.value, whole.n) == (0.5, 4)
    assert whole.ci95 == intervals.share(2, 4, over="questions").ci95
    assert code(whole.method) == "method.wholes"


def test_problems_await_review_as_their_steps_do() -> None:
    found = of([*scicode("RR"), unit("scicode", "9.1", cluster="9", finish="error")])
    assert broken(found["scicode/main_problems"])["unanswered"] == 1


def test_what_has_no_parts_has_no_score_of_wholes() -> None:
    assert not [key for key in of(maths()) if "main_problems" in key]
