import re
from typing import Any

from graded import HALF, asked, unit, view
from statements import values

from raybench.benchmarks.parts.scores import Rules
from raybench.experiments.parts.questions import scores
from raybench.tracking.report import Section, Table
from raybench.types import Estimate


def table(section: Section) -> Table:
    assert section.table is not None
    return section.table


def lines(section: Section) -> list[dict[str, Any]]:
    found = table(section)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_a_refused_score_is_an_estimate_whose_reason_becomes_a_footnote() -> None:
    broken = unit("math_500", "7", model="b", finish="error", parsed=False, by=None)
    section = scores.benchmark(
        view([*asked("math_500", "R", "w"), *asked("math_500", "R", model="b"), broken]), "math_500"
    )
    first, second = lines(section)
    assert isinstance(first["accuracy"], Estimate)
    assert second["accuracy"].value is None
    assert values(second["accuracy"].method)["reason"].startswith("1 unit ")
    assert "95 % interval" not in table(section).columns
    assert [line["infra error"] for line in (first, second)] == [0, 1]
    assert "truncated" not in table(section).columns


def test_questions_that_went_alike_have_no_standard_error_of_0() -> None:
    units = [*asked("math_500", "R", "R", "R"), *asked("math_500", "R", "w", "R", model="b")]
    alike, other = lines(scores.benchmark(view(units), "math_500"))
    assert alike["accuracy"].ci95 is not None and alike["stderr"] is None
    assert other["stderr"] > 0


def test_a_model_at_chance_is_told_by_words() -> None:
    units = [
        *asked("mmlu_pro", *"R" * 12, *"w" * 28, model="guesser"),
        *asked("mmlu_pro", *"R" * 36, *"w" * 4, model="able"),
        *asked("mmlu_pro", *"w" * 40, model="mute"),
    ]
    found = lines(scores.benchmark(view(units, chances={"mmlu_pro": 0.25}), "mmlu_pro"))
    assert {line["model"]: line["against chance"] for line in found} == {
        "guesser": "not distinguishable from guessing",
        "able": "above guessing",
        "mute": "below guessing",
    }
    assert {line["chance"] for line in found} == {0.25}
    assert "chance" not in lines(scores.benchmark(view(units), "mmlu_pro"))[0]


def test_every_subject_has_its_size_and_every_model_an_interval() -> None:
    units = [
        *(unit("mmlu_pro", str(n), n < 2, subject="Computer Science") for n in range(5)),
        *(unit("mmlu_pro", str(n), True, subject="law") for n in range(5, 8)),
        *(unit("mmlu_pro", str(n), True, subject="law", model="b") for n in range(5, 7)),
    ]
    (section,) = scores.broken_out(view(units), "mmlu_pro")
    assert section.title == "MMLU-Pro by subject"
    first, law = lines(section)
    assert (first["subject"], first["n"]) == ("computer science", "0–5")
    assert (first["a"].value, first["a"].n) == (0.4, 5)
    assert first["a"].ci95 is not None
    assert law["n"] == "2–3"


def test_languages_that_are_averaged_are_marked_and_come_first() -> None:
    units = [
        *asked("mgsm", "R", "w", language="te"),
        *asked("mgsm", "R", "w", language="de"),
        *asked("mgsm", "R", "w", language="bn"),
    ]
    rules = Rules({"multilingual": {"mgsm": 2 * HALF}}, {"mgsm": ("de", "te")})
    (section,) = scores.broken_out(view(units, rules), "mgsm")
    assert [line["language"] for line in lines(section)] == ["de •", "te •", "bn"]
    assert "marked •" in section.text
    (section,) = scores.broken_out(view(units), "mgsm")
    assert [line["language"] for line in lines(section)] == ["bn", "de", "te"]
    assert "•" not in section.text


def test_many_subjects_are_folded_away() -> None:
    units = [unit("mmlu_pro", str(n), True, subject=f"s{n}") for n in range(16)]
    (section,) = scores.broken_out(view(units), "mmlu_pro")
    assert re.findall(r"\d+", section.folded) == ["1", "16"]


def test_differences_are_named_in_the_order_of_the_scores_and_say_who_is_compared() -> None:
    replies = {"a": ("RR", "Rw", "ww"), "b": ("Rw", "Rw", "ww")}
    units = [
        each
        for model, words in replies.items()
        for name in ("mmlu_pro", "math_500")
        for each in asked(name, *words, model=model)
    ]
    (section,) = scores.differences(view(units))
    found = lines(section)
    assert [line["score"] for line in found] == ["Intelligence Index", "MMLU-Pro", "MATH-500"]
    assert {line["models"] for line in found} == {"a − b"}
    assert isinstance(found[0]["difference"], Estimate)
    assert values(section.text)["every"]


def test_of_many_models_neighbours_are_compared_and_the_report_says_so() -> None:
    units = [
        each for n in range(7) for each in asked("mmlu_pro", "Rw", "R" * n + "w", model=f"m{n}")
    ]
    (section,) = scores.differences(view(units))
    assert not values(section.text)["every"]
    assert len(lines(section)) == 6


def test_no_difference_of_two_shares_that_is_larger_than_1_is_detectable() -> None:
    units = [*asked("mmlu_pro", "R", "w"), *asked("mmlu_pro", "w", "w", model="b")]
    (section,) = scores.differences(view(units))
    assert {line["detectable"] for line in lines(section)} == {"none"}
    units = [*asked("mmlu_pro", *"Rw" * 60), *asked("mmlu_pro", *"RRw" * 40, model="b")]
    (section,) = scores.differences(view(units))
    assert all(0 < line["detectable"] < 1 for line in lines(section))


def test_a_small_p_is_no_zero() -> None:
    units = [*asked("mmlu_pro", *"R" * 60), *asked("mmlu_pro", *"w" * 60, model="b")]
    (section,) = scores.differences(view(units))
    assert lines(section)[0]["p"] == "< 0.001"


def test_whole_problems_have_a_column() -> None:
    units = [
        unit("scicode", f"{problem}.{step}", right, cluster=problem)
        for problem, steps in (("1", (True, True)), ("2", (True, False)))
        for step, right in enumerate(steps)
    ]
    (line,) = lines(scores.benchmark(view(units), "scicode"))
    assert (line["accuracy"].value, line["main problems"].value) == (0.75, 0.5)
    assert (
        "main problems"
        not in table(scores.benchmark(view([*asked("mmlu_pro", "R")]), "mmlu_pro")).columns
    )


def test_another_verdict_has_a_column_and_is_explained() -> None:
    units = [unit("math_500", str(n), True, beside={"official": n < 2}) for n in range(4)]
    section = scores.benchmark(view(units), "math_500")
    (line,) = lines(section)
    assert (line["accuracy"].value, line["official accuracy"].value) == (1.0, 0.5)
    assert "Official accuracy: " in table(section).caption
    without = scores.benchmark(view([*asked("math_500", "R")]), "math_500")
    assert "official accuracy" not in lines(without)[0]
    assert "Official accuracy" not in table(without).caption
