"""What the exam tells before it asks anybody: its plan, and what is wrong."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from refusals import refused
from statements import deviating, the, values

from raybench import benchmarks, cli
from raybench.config import Config
from raybench.errors import Code, ConfigurationError
from raybench.experiments import hle, index
from raybench.experiments.parts.deviations import note
from raybench.pipeline.terms import asking_of, models_of
from raybench.tracking.plan import describe

SAMPLES = Path(benchmarks.__file__).parent / "samples" / "hle.jsonl"
MODELS = "roster.models=[{name: a, engine: simulated}, {name: b, engine: simulated}]"

ITS_JUDGE = (
    "roster.judges=[{name: o3, engine: openai, weights: o3-mini-2025-01-31, "
    "options: {base_url: 'http://127.0.0.1:1/v1'}}]"
)


def configured(*overrides: str, experiment: str = "hle") -> Config:
    command = [f"+experiment={experiment}", "roster=simulated", "data=samples", MODELS, *overrides]
    return cli.check(cli.compose(cli.at_home(command)))


def beside_the_usual(config: Config) -> dict[str, Any]:
    """Return what the plan names as deviations beside the judge and the default of the prompt."""
    told = deviating(hle.plan(config).notes)
    assert told.pop("hle.judges") == config.hle.judges
    assert told.pop("hle.prompt") == config.hle.prompt == "by_type"
    return told


def test_the_prompt_of_each_type_of_answer_is_a_deviation_of_the_exam() -> None:
    assert "hle.prompt" not in deviating(hle.plan(configured("prompt=single")).notes)
    of_index = configured("benchmarks=[hle]", "judges=[a]", experiment="index")
    assert "hle.prompt" not in deviating(index.plan(of_index).notes)


def test_questions_that_come_with_raybench_are_no_part_of_the_papers() -> None:
    none = (ITS_JUDGE, "prompt=single", "images=true")
    told = the("deviation.none", hle.plan(configured(*none)).notes)["scope"]
    assert "data" in told and told.count("(") == 1
    some = the("deviation.none", hle.plan(configured(*none, "limit=3")).notes)["scope"]
    assert some.startswith(told) and "hle.limit" in some.removeprefix(told)
    one = the("deviation.none", [note((), "s", ["hle.limit"])])["scope"]
    assert "data" not in one and "hle.limit" in one


def test_another_judge_than_the_papers_is_a_deviation() -> None:
    assert beside_the_usual(configured("judges=[a]")) == {}
    assert deviating(hle.plan(configured(ITS_JUDGE)).notes) == {"hle.prompt": "by_type"}


def test_scores_over_less_than_all_replies_are_a_deviation() -> None:
    assert beside_the_usual(configured("accept_failures=true")) == {"hle.accept_failures": True}


def test_the_plan_says_what_is_asked_and_who_judges() -> None:
    plan = hle.plan(configured("repeats=2"))
    told = describe(plan)
    assert "Experiment  hle" in told
    assert "Units       160 units" in told
    assert values(plan.calls)["calls"] == 160 and plan.calls in told
    assert len(values(plan.calls)["others"]) == 1
    asked = {"benchmark": "hle", "questions": 40, "repeats": 2, "origin": "samples"}
    assert asked.items() <= the("plan.asked", plan.notes).items()
    judged = the("plan.judged", plan.notes)
    assert (judged["benchmarks"], judged["judges"], judged["own"]) == ("hle", "sim-judge", [])
    assert "a, b, sim-judge (judge)" in told
    itself = the("plan.judged", hle.plan(configured("judges=[a]")).notes)
    assert itself["own"] == ["a"] and itself["itself"]
    several = hle.plan(configured("judges=[sim-judge,a]"))
    assert values(several.calls)["others"] != values(plan.calls)["others"]


def test_the_first_of_the_rosters_judges_judges_by_default() -> None:
    judges = "roster.judges=[{name: j, engine: simulated}, {name: k, engine: simulated}]"
    config = configured(judges)
    assert config.hle.judges == ["j"]
    assert the("plan.judged", hle.plan(config).notes)["default"] == "j"
    suite = configured(judges, experiment="suite")
    assert (suite.index.judges, suite.index.checker, suite.hle.judges) == (["j"], "j", ["j"])
    with refused("setting.missing", "hle.judges", kind=ConfigurationError):
        configured("roster.judges=[]")


def test_the_text_only_questions_can_be_asked_alone() -> None:
    notes = hle.plan(configured("images=false")).notes
    assert the("plan.asked", notes)["questions"] == 38
    assert any(it.startswith("hle: 2 ") for it in notes)


def test_the_gold_of_the_samples_is_graded_right(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr("raybench.tracking.console.out", said.append)
    for prompt in ("by_type", "single"):
        config = configured("validate=true", f"prompt={prompt}", "judges=[]")
        said.clear()
        asyncio.run(hle.run(config, {}))
        graded = the("gold.graded", said)
        assert (graded["benchmark"], graded["right"], graded["graded"]) == ("hle", 40, 40)


@pytest.mark.parametrize(
    ("override", "code", "given", "named"),
    [
        ("judges=[]", "setting.missing", None, "judge"),
        ("judges=[sim-juge]", "setting.choice", "sim-juge", "'sim-judge'"),
        ("judges=[a,a]", "setting.duplicate", "a", "2"),
        ("judges=[a,b,sim-judge]", "setting.range", 3, "two"),
        ("prompt=singel", "setting.choice", "singel", "'single'"),
        ("review=-1", "setting.range", -1, "0"),
        ("limit=0", "setting.range", 0, "1"),
        ("temperature=3", "setting.range", 3.0, "0 to 2"),
    ],
)
def test_what_is_wrong_is_said_with_its_mend(
    override: str, code: Code, given: object, named: str
) -> None:
    setting = f"hle.{override.partition('=')[0]}"
    with refused(code, setting, given=given, kind=ConfigurationError) as caught:
        configured(override)
    assert named in str(caught.value)


def test_in_the_index_it_is_left_out_without_a_judge_and_said_so() -> None:
    benchmarks = "benchmarks=[hle,mmlu_pro]"
    told = describe(index.plan(configured(benchmarks, "judges=[]", experiment="index")))
    assert "index.judges=[N" in told
    notes = index.plan(configured(benchmarks, "judges=[a]", experiment="index")).notes
    asked = [values(it) for it in notes if "hle: 38 " in it]
    assert [it["questions"] for it in asked] == [38], "the methodology asks text alone"
    assert the("plan.judged", notes)["judges"] == "a"
    told = describe(
        index.plan(configured("benchmarks=[mmlu_pro]", "judges=[a]", experiment="index"))
    )
    assert "judge" not in told
    alone = configured("benchmarks=[hle]", "judges=[]", experiment="index")
    with refused("setting.conflict", "index.judges", kind=ConfigurationError) as caught:
        index.plan(alone)
    assert str(caught.value).startswith("hle ") and "index.judges" in str(caught.value)


def test_the_hubs_file_is_read_with_the_columns_that_people_browse(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in SAMPLES.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        shown = {"bytes": row["image"].encode(), "path": "shown.png"} if row["image"] else None
        row |= {"image_preview": shown, "rationale_image": None}
    pyarrow.parquet.write_table(
        pyarrow.Table.from_pylist(rows), tmp_path / "test-00000-of-00001.parquet"
    )
    plan = hle.plan(configured("data.source=hub", f"data.dir={tmp_path}"))
    asked = the("plan.asked", plan.notes)
    assert (asked["questions"], asked["origin"]) == (40, str(tmp_path))


def test_what_a_stand_in_judges_is_simulated_too() -> None:
    hosted = "roster.models=[{name: a, weights: embedded}]"
    assert hle.plan(configured(hosted)).simulated
    assert not hle.plan(configured(hosted, "judges=[a]")).simulated


def test_the_exams_system_prompt_stands_alone_unless_asked_otherwise() -> None:
    told = "roster.models=[{name: a, engine: simulated, system_prompt: Be brief.}]"
    config = configured(told)
    assert [model.system_prompt for model in models_of(config)] == [None]
    note = {"models": "a", "section": "hle"}
    assert the("plan.own_prompt", hle.plan(config).notes) == note
    both = configured(told, "own_system_prompts=true")
    assert [model.system_prompt for model in models_of(both)] == ["Be brief."]
    assert beside_the_usual(both) == {"hle.own_system_prompts": True}


def test_a_bound_of_the_judges_reasoning_is_a_deviation_that_the_plan_names() -> None:
    hosted = "roster.models=[{name: a, weights: embedded}]"
    assert beside_the_usual(configured(hosted, "judges=[a]")) == {}
    bounded = configured(hosted, "judges=[a]", "judge_chars=350")
    assert beside_the_usual(bounded) == {"hle.judge_chars": 350}
    with refused("setting.range", "hle.judge_chars", given=0):
        configured(hosted, "judges=[a]", "judge_chars=0")


def test_what_becomes_of_the_prompt_for_models_without_a_system_role_is_a_setting() -> None:
    models = "roster.models=[{name: a, engine: simulated, system_role: false}]"
    judge = "judges=[sim-judge]"
    told = {"hle.without_system_role": "prepended"}
    assert beside_the_usual(configured(models, judge)) == told
    separate = configured(models, judge, "without_system_role=separate")
    assert beside_the_usual(separate) == {}
    assert asking_of(separate).system_apart and not asking_of(configured(models)).system_apart
    with refused("setting.choice", "hle.without_system_role", given="left out"):
        configured("without_system_role='left out'")


def test_judges_read_a_system_prompt_as_the_paper_has_it_unless_told_otherwise() -> None:
    assert beside_the_usual(configured("judges=[a]", "judge_role=user")) == {
        "hle.judge_role": "user"
    }
    assert configured("judges=[a]").hle.judge_role == "system"
    # The methodology does not say as what its judge reads the prompt.
    other = configured("judges=[a]", "benchmarks=[hle]", experiment="index")
    assert [*deviating(index.plan(other).notes)] == ["index.judges"]
    with refused("setting.choice", "hle.judge_role", given="boss"):
        configured("judge_role=boss")
    suite = configured("hle.judges=[a]", experiment="suite")
    assert suite.index.judge_role == suite.hle.judge_role == "system"
