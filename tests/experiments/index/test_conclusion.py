"""What the index concludes from a journal, without a run: columns, sections, what is looked up."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from statements import code, deviating, values

from raybench import benchmarks, cli
from raybench.benchmarks import Draw
from raybench.config import Config
from raybench.experiments import index
from raybench.experiments.index.conclusion import Watch, concluded
from raybench.experiments.parts import page, supported
from raybench.experiments.parts.outcome import Outcome
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.experiments.parts.questions.lookup import withheld
from raybench.experiments.parts.questions.setup import prepared
from raybench.pipeline.datasets import Dataset
from raybench.statements import Statement
from raybench.tracking.leaderboard import alarms

NONE = Path("/nowhere")
MODELS = {"able": 0, "dull": 3}
"""Which of every four questions each gets wrong, and as many more."""


UNJUDGED = ("index.judges=[]", "index.checker=null")


def configured(*overrides: str) -> Config:
    models = ", ".join(f"{{name: {name}, engine: simulated}}" for name in MODELS)
    return cli.check(
        cli.compose(["+experiment=index", "data=samples", f"roster.models=[{models}]", *overrides])
    )


def records(data: Iterable[Dataset]) -> Iterator[dict[str, Any]]:
    for part in data:
        benchmark = benchmarks.load(part.benchmark)
        for number, row in enumerate(part.rows()):
            for model, wrong in MODELS.items():
                response = benchmark.gold(row) if number % 4 >= wrong else "I do not know."
                grade = benchmark.grade(row, response)
                yield {
                    "model": model,
                    "benchmark": part.benchmark,
                    "key": benchmark.key(row),
                    "language": benchmark.language(row),
                    "subject": benchmark.subject(row),
                    "repeat": 0,
                    "correct": grade.correct,
                    "finish": "stop",
                    "response": response,
                    "reasoning": "",
                    "error": None,
                    "answer": grade.answer,
                    "truth": benchmark.truth(row, draw=Draw()),
                    "reason": grade.reason,
                    "by": "script" if grade.parsed else None,
                    "judge_error": None,
                    "prompt_tokens": 10,
                    "output_tokens": 5,
                    "reused": model == "able",
                }


Change = Callable[[dict[str, Any]], dict[str, Any]]


def outcome_of(
    folder: Path,
    *overrides: str,
    change: Change = lambda record: record,
    none: tuple[str, ...] = UNJUDGED,
) -> Outcome:
    config = configured(*none, *overrides)
    data = prepared(config, folder)
    watch = Watch(config)
    ledger = Ledger(len(MODELS), [watch])
    for record in records(data):
        ledger.enter(change(record))
    return concluded(config, watch, data, ledger, NONE)


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return outcome_of(tmp_path_factory.mktemp("questions"), "index.repeats=1")


def test_what_is_refused_to_all_comes_last_and_the_rest_in_order(outcome: Outcome) -> None:
    keys = [column.key for column in outcome.columns]
    indices = ["index/math", "index/coding", "index/multilingual"]
    assert keys[:4] == [*indices, "mmlu_pro/accuracy"]
    assert keys[-2:] == ["index/intelligence", "scicode/main_problems"]


def test_without_a_judge_the_headline_says_which_index_leads_and_how_to_get_the_rest(
    outcome: Outcome, tmp_path: Path
) -> None:
    assert code(outcome.answer) == "index.no_judge"
    told = values(outcome.answer)
    assert (told["key"], told["lacking"]) == (outcome.columns[0].key, "HLE")
    assert outcome.notes["Headline"] == outcome.answer
    assert "judges" not in outcome.about
    more = outcome_of(tmp_path / "more", "index.benchmarks=[mgsm,math_500,hle]")
    lacking = values(more.answer)
    assert "HLE" in lacking["lacking"] and "AIME" in lacking["lacking"]
    assert "mmlu_pro" in lacking["others"] and not told["others"]
    chosen = outcome_of(tmp_path, "index.repeats=1", "index.benchmarks=[mmlu_pro,gpqa_diamond]")
    assert chosen.answer == "" and "Headline" not in chosen.notes


def coded(made: Outcome) -> set[str]:
    return {it.code for it in made.notes.values() if isinstance(it, Statement)}


def test_who_judged_and_checked_is_told(tmp_path: Path) -> None:
    judge = "roster.judges=[{name: j, engine: simulated}]"
    made = outcome_of(tmp_path, judge, "index.benchmarks=[math_500]", none=())
    assert made.about["checker"] == made.settings["checker of mathematics"] == "j"
    none = outcome_of(tmp_path / "none", judge, "index.benchmarks=[math_500]")
    assert none.about["checker"] is None
    for about, given in ((made.about, "j"), (none.about, None)):
        deviations = {it["setting"]: it["given"] for it in about["deviations"]}
        assert deviations["index.checker"] == given


def test_plan_report_and_results_name_the_same_deviations(tmp_path: Path) -> None:
    judge = "roster.judges=[{name: j, engine: simulated}]"
    models = ", ".join(
        f"{{name: {name}, engine: simulated, system_prompt: Be brief.}}" for name in MODELS
    )
    settings = ("temperature=0.5", "max_tokens=9", "repeats=1", "grader=improved")
    given = [f"index.{it}" for it in (*settings, "own_system_prompts=true")]
    given += [judge, f"roster.models=[{models}]"]
    asked = "index.benchmarks=[mmlu_pro,math_500]"
    made = outcome_of(tmp_path, asked, *given, none=("index.judges=[]",))
    told = {it["setting"]: it["given"] for it in made.about["deviations"]}
    plan = index.plan(configured(asked, *given, "index.judges=[]"))
    assert deviating(plan.notes) == told
    assert values(made.notes["Deviations"])["settings"].split(", ") == [*told]
    names = {it.partition("=")[0] for it in settings} | {"own_system_prompts", "checker"}
    assert told.keys() == {f"index.{it}" for it in names}


def test_results_name_the_settings_that_deviate_from_the_methodology(tmp_path: Path) -> None:
    source = ("index.benchmarks=[mmlu_pro]", "index.temperature=0", "index.max_tokens=4096")
    others = ("index.temperature=0.5", "index.grader=improved")
    found = outcome_of(tmp_path, *source[::2], *others).about["deviations"]
    assert {it["setting"]: it["given"] for it in found} == {
        "index.temperature": 0.5,
        "index.grader": "improved",
    }
    plain = outcome_of(tmp_path / "plain", *source)
    assert plain.about["deviations"] == []


def test_footnotes_and_report_name_judge_checker_and_deviations(tmp_path: Path) -> None:
    judge = "roster.judges=[{name: j, engine: simulated}]"
    asked = ("index.benchmarks=[hle,math_500]", "index.temperature=0.5", "index.limit=4")
    made = outcome_of(tmp_path, judge, *asked, none=())
    assert made.notes["Judged by"].startswith("j (")
    checked = made.notes["Checked by"]
    assert (code(checked), values(checked)["checker"]) == ("referees.checked", "j")
    names = [*made.notes]
    assert names.index("Checked by") == names.index("Judged by") + 1
    deviations = made.notes["Deviations"]
    settings = [it["setting"] for it in made.about["deviations"]]
    assert values(deviations)["settings"].split(", ") == settings
    line = page.conditions(made.notes)
    assert [*line.values()] == [made.notes["Judged by"], checked, made.notes["Samples"], deviations]
    section = next(it for it in made.sections if it.title == "Deviations")
    assert section.table and [row[0] for row in section.table.rows] == settings
    itself = outcome_of(tmp_path / "own", "index.benchmarks=[math_500]", "index.checker=able",
                        none=UNJUDGED[:1])  # fmt: skip
    assert code(itself.notes["Checked by"]) == "referees.checks_itself"
    none = outcome_of(tmp_path / "none", "index.benchmarks=[math_500]")
    assert code(none.notes["Checked by"]) == "referees.unchecked"


def test_guessing_has_a_level_where_there_are_options(outcome: Outcome) -> None:
    chances = {column.title: column.chance for column in outcome.columns}
    assert chances["GPQA Diamond"] == chances["Multilingual MMLU"] == 0.25
    assert chances["MATH-500"] is chances["Math Index"] is None
    assert outcome.about["data"]["gpqa_diamond"]["chance"] == 0.25
    assert 0.1 <= (chances["MMLU-Pro"] or 0) < 0.2


def test_every_part_has_a_section(outcome: Outcome) -> None:
    titles = [section.title for section in outcome.sections]
    assert titles[:4] == [supported.TITLE, "Indices", "Benchmarks", "MMLU-Pro"]
    assert titles[-3:] == ["The questions", "The models", "Read them"]
    assert {"Differences", "MMLU-Pro by subject", "MGSM by language"} <= set(titles)
    assert len(titles) == len(set(titles))


def test_the_report_opens_with_which_orders_hold(outcome: Outcome) -> None:
    text = outcome.sections[0].text
    assert "Math Index" in text.partition(":")[0]
    figures = {it.title: it.figure for it in outcome.sections}
    assert "Math Index" in (figures["Indices"] or "")
    assert "stroke-dasharray" in (figures["Benchmarks"] or "")  # guessing has its line
    assert "one scale" in next(it.text for it in outcome.sections if it.title.startswith("MGSM by"))


def test_replies_are_shown_with_the_question_as_it_was_asked(outcome: Outcome) -> None:
    items = outcome.sections[-1].items
    groups = list(dict.fromkeys(item.group for item in items))
    assert groups[0] == "MMLU-Pro: 6 right, 3 unparsed"
    assert all("asked" in item.body for item in items)
    assert "Think step" in items[0].body["asked"]


def test_what_came_from_the_cache_is_told_to_report_and_terminal(outcome: Outcome) -> None:
    units = 2 * sum(of["questions"] for of in outcome.about["data"].values())
    told = {"reused": units // 2, "replies": units, "new": units // 2}
    assert values(outcome.notes["From cache"]) == told
    assert "Samples" in outcome.notes


def test_a_run_of_which_everything_is_refused_has_no_ranking(tmp_path: Path) -> None:
    config = configured("index.benchmarks=[mmlu_pro]")
    data = prepared(config, tmp_path)
    watch = Watch(config)
    ledger = Ledger(len(MODELS), [watch])
    for record in records(data):
        ledger.enter(record | {"finish": "error", "error": "gone"})
    titles = [section.title for section in concluded(config, watch, data, ledger, NONE).sections]
    assert titles[0] == supported.TITLE
    assert not {"Indices", "Benchmarks"} & {*titles}  # no figure of nothing


def test_questions_that_are_not_to_be_published_stay_out_of_the_report(tmp_path: Path) -> None:
    data = prepared(configured("index.benchmarks=[gpqa_diamond,mmlu_pro]"), tmp_path)
    assert withheld(data) == []  # the samples are our own
    elsewhere = [replace(part, origin="my/folder") for part in data]
    assert withheld(elsewhere) == ["gpqa_diamond"]


def test_an_index_of_many_languages_is_not_made_of_one(tmp_path: Path) -> None:
    chosen = ("index.benchmarks=[mgsm,multilingual_mmlu]", "index.languages=[en]")
    metrics = outcome_of(tmp_path, *chosen).metrics["able"]
    assert metrics["mgsm/accuracy"].value is not None
    assert metrics["index/multilingual"].value is None
    assert "bn, de" in metrics["index/multilingual"].method


def test_what_has_none_of_the_subjects_is_left_out_and_missing_in_its_indices(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("index.benchmarks=[math_500,aime_2024,mgsm]", "index.subset=[algebra]")
    outcome = outcome_of(tmp_path, *chosen)
    lacks = outcome.about["left_out"]["mgsm"]
    assert "algebra" in lacks and f": {lacks}" in capsys.readouterr().err
    assert list(outcome.about["data"]) == ["math_500"]
    assert outcome.about["left_out"] == {"aime_2024": lacks, "mgsm": lacks}
    assert outcome.notes["Subjects"].startswith("only algebra")
    assert outcome.notes["Left out"] == f"aime_2024: {lacks}; mgsm: {lacks}"
    metrics = outcome.metrics["able"]
    assert metrics["math_500/accuracy"].value is not None
    refused, *why = re.split(": |; ", metrics["index/math"].method)
    assert refused == "not computed" and "aime_2024" in why[0]
    assert why[1] == "math_500" and "algebra" in why[2]


def test_lowered_limits_are_told_of_each_model(tmp_path: Path) -> None:
    limits = iter([1000, 3000, 2000])

    def lowered(record: dict[str, Any]) -> dict[str, Any]:
        limit = next(limits, None) if record["model"] == "dull" else None
        return record if limit is None else record | {"token_limit": limit}

    asked = ("index.benchmarks=[math_500]", "index.max_tokens=4096")
    found = outcome_of(tmp_path, *asked, change=lowered)
    told = {"asked": 4096, "lowest": 1000, "highest": 3000, "units": 3}
    assert found.about["token_limits"] == {"dull": told}
    assert "overflowed" not in found.about
    assert set(values(found.notes["Shorter replies"])) == {"models"}
    (models,) = (it for it in found.sections if it.title == "The models")
    assert models.table is not None
    place = models.table.columns.index("most tokens")
    by_model = {row[0]: str(row[place]) for row in models.table.rows}
    assert by_model["able"] == "4,096"
    assert "1,000" in by_model["dull"] and "3,000" in by_model["dull"]


@pytest.mark.parametrize("accepted", [False, True])
def test_a_model_that_no_prompt_fits_has_no_score_but_a_warning(
    tmp_path: Path, accepted: bool
) -> None:
    """It would be 0.000, and of the context that it is served with."""
    overflow = {"finish": "overflow", "correct": False, "answer": None, "by": None, "response": ""}

    def full(record: dict[str, Any]) -> dict[str, Any]:
        fits = record["model"] == "able" or record["benchmark"] == "aime_2024"
        return record if fits else record | overflow

    asked = "index.benchmarks=[math_500,aime_2024]"
    accept = f"index.accept_failures={str(accepted).lower()}"
    found = outcome_of(tmp_path, asked, accept, change=full)
    for name in ("math_500/accuracy", "math_500/rerun_noise", "index/math"):
        assert found.metrics["dull"][name].value is None
    assert found.metrics["dull"]["aime_2024/accuracy"].value is not None
    assert found.metrics["able"]["math_500/accuracy"].value is not None
    assert found.counts["dull"].unparsed  # it is counted all the same
    (units,) = found.about["overflowed"]["dull"].values()
    assert units > 0 and [*found.about["overflowed"]] == ["dull"]
    (alarm,) = alarms({"run": found.about})
    assert values(alarm) == {"model": "dull", "benchmarks": "math_500", "prompts": units}


def test_one_prompt_that_fits_makes_a_score(tmp_path: Path) -> None:
    first: Iterator[dict[str, Any]] = iter([{}])
    overflow = {"finish": "overflow", "correct": False, "answer": None, "by": None, "response": ""}
    found = outcome_of(
        tmp_path,
        "index.benchmarks=[math_500]",
        change=lambda it: it | (next(first, overflow) if it["model"] == "dull" else {}),
    )
    assert found.metrics["dull"]["math_500/accuracy"].value is not None
    assert "overflowed" not in found.about
