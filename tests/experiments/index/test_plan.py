"""What the index tells before it asks anybody: its plan, the gold it would grade, mistakes."""

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import contest
import pytest
from command import run_command
from refusals import assert_among, refused
from statements import code, deviating, the, values

from raybench import benchmarks, cli, sandbox
from raybench.config import Config
from raybench.errors import Code, ConfigurationError, RunFailed
from raybench.experiments import index
from raybench.experiments.parts.deviations import METHODOLOGY
from raybench.experiments.parts.placing import placed
from raybench.experiments.parts.questions import conditions
from raybench.experiments.parts.questions.referees import others_of
from raybench.experiments.parts.questions.setup import prepared
from raybench.pipeline import shards
from raybench.pipeline.terms import asking_of, models_of
from raybench.sandbox import Settings, environments, interpreters
from raybench.sandbox.environments import Environment
from raybench.statements import Statement
from raybench.tracking.plan import describe

SAMPLES = Path(benchmarks.__file__).parent / "samples"
MODELS = ", ".join(f"{{name: {name}, engine: simulated}}" for name in "abc")


def configured(*overrides: str) -> Config:
    """Check what a command line says; three stand-ins are the roster."""
    roster = ["roster=simulated", f"roster.models=[{MODELS}]"]
    return cli.check(cli.compose(cli.at_home(["+experiment=index", *roster, *overrides])))


def planned(*overrides: str) -> str:
    return describe(index.plan(configured("data=samples", *overrides)))


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what the self-check prints."""
    lines: list[str] = []
    monkeypatch.setattr("raybench.tracking.console.out", lines.append)
    return lines


@pytest.mark.sandbox
@pytest.mark.parametrize("grader", ["parity", "improved"])
def test_the_gold_of_all_samples_is_graded_right(grader: str, said: list[str]) -> None:
    asyncio.run(index.run(configured("data=samples", "validate=true", f"grader={grader}"), {}))
    graded = [values(it) for it in said if code(it) == "gold.graded"]
    assert {it["right"] - it["graded"] for it in graded} == {0}
    assert (14, 14) in [(it["right"], it["graded"]) for it in graded]
    assert any(f"grader={grader}" in it["by"] for it in graded)


@pytest.mark.sandbox
def test_questions_without_a_known_right_answer_are_told_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: list[str]
) -> None:
    solved = contest.row() | {"solution": "input()\nprint(sum(map(int, input().split())))"}
    rows = [solved, *(contest.row() | {"question_id": f"rb9_{it}"} for it in "bc")]
    (tmp_path / "livecodebench.jsonl").write_text("".join(json.dumps(it) + "\n" for it in rows))
    config = configured(f"data.dir={tmp_path}", "benchmarks=[livecodebench]", "validate=true")
    asyncio.run(index.run(config, {}))
    graded = the("gold.graded", said)
    assert (graded["benchmark"], graded["right"], graded["graded"]) == ("livecodebench", 1, 1)
    ungraded = the("gold.ungraded", said)
    assert (ungraded["questions"], ungraded["keys"]) == (2, "rb9_b, rb9_c")
    assert re.search("Note: livecodebench: 3 .* 315", capsys.readouterr().err)


@pytest.mark.sandbox
def test_gold_is_checked_behind_the_walls_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ("data=samples", "benchmarks=[humaneval]", "validate=true", "sandbox.backend=unsafe")
    try:
        asyncio.run(index.run(configured(*chosen), {}))
        assert sandbox.run("").backend == "unsafe"
    finally:
        sandbox.configure(Settings())
    walls, graded = capsys.readouterr().out.splitlines()
    assert walls.startswith("humaneval: ") and "UNCONFINED" in walls
    assert re.search(r", in Python 3\.\d+", walls)
    assert graded.startswith("humaneval: 12 of 12 ")


@pytest.mark.process
def test_a_python_for_scientific_programs_that_will_not_do_is_told_before(tmp_path: Path) -> None:
    for setting in ("python", "scientific_python"):
        with refused(
            "sandbox.python", f"sandbox.{setting}", given="/no/such/python", kind=ConfigurationError
        ):
            planned("benchmarks=[scicode]", f"sandbox.{setting}=/no/such/python")
    bare = [interpreters.chosen().path, "-m", "venv", "--without-pip", str(tmp_path)]
    subprocess.run(bare, check=True)
    setting = "sandbox.scientific_python"
    given = f"{setting}={tmp_path}/bin/python"
    for more in ("dry_run=true", "validate=true"):
        with refused("sandbox.python", setting, kind=ConfigurationError) as caught:
            planned("benchmarks=[scicode]", given, more)
        assert "no numpy," in str(caught.value) and "no scipy," in str(caught.value)
    assert "programs" not in planned("benchmarks=[mgsm]", given, "limit=1")  # it runs none


@pytest.mark.usefixtures("known_python")
def test_the_plan_names_another_python_that_scientific_programs_run_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = interpreters.chosen()
    asked = ("benchmarks=[scicode]", "sandbox.scientific_python=/its/python")
    for there, told in (
        (own, [own.version]),
        (replace(own, version="3.11.9"), [own.version, "3.11.9"]),
    ):
        found = Environment("/its/python", there, {}, (), (), {})
        monkeypatch.setattr(environments, "_configured", {"/its/python": found}.__getitem__)
        notes = index.plan(configured("data=samples", *asked)).notes
        pythons = the("plan.programs", notes)["pythons"]
        assert re.findall(r"\d+\.\d+\.\d+", pythons) == told


@pytest.mark.sandbox
def test_what_keeps_grades_from_saying_what_they_should_is_told_before_anybody_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], said: list[str]
) -> None:
    shutil.copy(SAMPLES / "scicode.jsonl", tmp_path)  # without its targets
    contests = [
        contest.row() | {"question_id": "rb9_a"},
        contest.row(private=contest.SUMS) | {"question_id": "rb9_b"},
    ]
    lines = "".join(json.dumps(it) + "\n" for it in contests)
    (tmp_path / "livecodebench.jsonl").write_text(lines)
    chosen = (f"data.dir={tmp_path}", "benchmarks=[scicode,livecodebench]")
    told = describe(index.plan(configured(*chosen)))
    assert "scicode: 20 of 20 " in told and "livecodebench: 1 of 2 " in told
    asyncio.run(index.run(configured(*chosen, "validate=true"), {}))
    assert "scicode: 20 of 20 " in capsys.readouterr().err
    none = [values(it)["benchmark"] for it in said if code(it) == "gold.none"]
    assert "scicode" in none
    ungraded = [values(it) for it in said if code(it) == "gold.ungraded"]
    (scicode,) = (it for it in ungraded if it["questions"] == 20)
    assert scicode["keys"] == "901.1, 901.2, 901.3, 902.1, 902.2" and "15" in scicode["more"]


def test_a_wrong_gold_is_found(tmp_path: Path) -> None:
    row = {"id": 1, "problem": "?", "solution": "", "answer": "\\frac{1}{2", "subject": "Algebra"}
    row |= {"level": 1, "unique_id": "x/1"}
    (tmp_path / "math_500.jsonl").write_text(json.dumps(row))
    config = configured(f"data.dir={tmp_path}", "benchmarks=[math_500]", "validate=true")
    with refused("data.ungradable", None, kind=RunFailed) as caught:
        asyncio.run(index.run(config, {}))
    assert "1 gold answer" in str(caught.value) and "\n  - math_500 x/1" in str(caught.value)


@pytest.mark.usefixtures("known_python")
def test_the_plan_counts_units_and_names_the_data() -> None:
    plan = index.plan(configured("data=samples", "limit=2"))
    told = describe(plan)
    # 2 questions of mmlu_pro and of hle, gpqa x 5, math x 3, aime x 10, a whole problem of
    # scicode (2) x 3, livecodebench x 3, and 8 languages x 2 of the other two
    assert f"Units       {3 * (2 + 2 + 10 + 6 + 20 + 6 + 6 + 16 + 16)} units" in told
    programs = the("plan.programs", plan.notes)
    assert programs["benchmarks"] == "scicode, livecodebench"
    (gpqa,) = (values(it) for it in plan.notes if it.startswith("gpqa_diamond: "))
    assert (gpqa["questions"], gpqa["repeats"], gpqa["origin"]) == (2, 5, "samples")


MATHS = "benchmarks=[hle,math_500,aime_2024]"


def coded(*overrides: str) -> dict[str, Mapping[str, Any]]:
    """Return the notes of a plan that have a code."""
    notes = index.plan(configured("data=samples", "limit=2", *overrides)).notes
    return {it.code: it.values for it in notes if isinstance(it, Statement)}


def test_the_first_of_the_rosters_judges_judges_and_checks_and_the_plan_says_so() -> None:
    two = (
        "roster.judges=[{name: j, engine: simulated}, {name: k, engine: simulated}]",
        MATHS,
    )
    config = configured(*two)
    assert (config.index.judges, config.index.checker) == (["j"], "j")
    notes = coded(*two)
    assert (notes["plan.judged"]["judges"], notes["plan.judged"]["default"]) == ("j", "j")
    assert (notes["plan.checked"]["checker"], notes["plan.checked"]["default"]) == ("j", "j")
    plan = index.plan(configured("data=samples", "limit=2", *two))
    told = {"index.judges": ["j"], "index.checker": "j"}
    assert deviating(plan.notes) == told, "the methodology has other models"
    assert {it.name for it in plan.referees} == {"j", "j (judge)"}
    assert values(plan.calls)["others"] == ["the checker", "the judge"]
    other = coded(*two, "judges=[k]", "checker=k")
    assert (other["plan.judged"]["judges"], other["plan.judged"]["default"]) == ("k", None)
    assert (other["plan.checked"]["checker"], other["plan.checked"]["default"]) == ("k", None)


def test_none_can_be_asked_for_and_the_plan_says_what_that_costs() -> None:
    config = configured(MATHS, "judges=[]", "checker=null", "data=samples")
    assert (config.index.judges, config.index.checker) == ([], None)
    plan = index.plan(config)
    notes = {it.code: it.values for it in plan.notes if isinstance(it, Statement)}
    assert deviating(plan.notes) == {"index.judges": [], "index.checker": None}
    assert not {"plan.judged", "plan.checked"} & notes.keys()
    assert (plan.referees, values(plan.calls)["others"]) == ((), [])
    with shards.scratch() as folder:
        left_out = prepared(config, folder).left_out
    assert code(left_out["hle"]) == "left_out.unjudged"
    assert "Intelligence" in values(left_out["hle"])["indices"]


def test_a_roster_without_judges_has_none() -> None:
    config = configured("roster.judges=[]")
    assert (config.index.judges, config.index.checker, config.hle.judges) == ([], None, [])


def test_a_plan_needs_no_key_and_names_the_variables_that_are_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("A_KEY", "B_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    judges = [
        f"{{name: {name}, engine: openai, weights: w, options: {{base_url: '{url}'{key}}}}}"
        for name, url, key in (
            ("first", "http://127.0.0.1:1/v1", ", api_key_env: A_KEY"),
            ("second", "http://127.0.0.1:2/v1", ", api_key_env: B_KEY"),
            ("third", "https://api.openai.com/v1", ""),
        )
    ]
    roster = f"roster.judges=[{', '.join(judges)}]"
    given = ("data=samples", roster, "judges=[first,third]", "checker=second")
    needed = ("benchmarks=[hle,math_500]", *given)
    with refused(
        "environment.variable", given="A_KEY, B_KEY, OPENAI_API_KEY", kind=ConfigurationError
    ):
        configured(*needed)
    config = configured(*needed, "dry_run=true")
    notes = placed(config, index.plan(config)).notes
    missing = the("plan.keys", notes)["missing"]
    assert missing == {"A_KEY": ["first"], "B_KEY": ["second"], "OPENAI_API_KEY": ["third"]}
    monkeypatch.setenv("A_KEY", "k")
    assert [*the("plan.keys", placed(config, index.plan(config)).notes)["missing"]] == [
        "B_KEY",
        "OPENAI_API_KEY",
    ]


def test_a_plan_names_the_token_that_gated_weights_and_questions_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: None)
    model = "roster.models=[{name: l, weights: meta-llama/Llama-3.1-8B}, {name: q, weights: Q/q}]"
    config = configured("data=samples", "benchmarks=[mmlu_pro]", model)
    notes = placed(config, index.plan(config)).notes
    assert the("plan.keys", notes)["missing"] == {"HF_TOKEN": ["l"]}
    gated = index.plan(configured("benchmarks=[hle,gpqa_diamond]", "checker=null"))
    assert the("plan.gated_questions", gated.notes)["names"] == ["hle", "gpqa_diamond"]
    assert (code(gated.calls), gated.units) == ("plan.unknown_calls", 0)
    assert the("plan.judged", gated.notes)["benchmarks"] == "hle"
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "t")
    assert not [it for it in placed(config, index.plan(config)).notes if "HF_TOKEN" in it]


@pytest.mark.usefixtures("known_python")
def test_the_plan_says_why_there_are_more_questions_than_the_limit() -> None:
    asked = "benchmarks=[mmlu_pro,multilingual_mmlu,scicode]"
    plan = index.plan(configured("data=samples", asked, "limit=3", "sandbox.backend=unsafe"))
    told = {
        it.values["benchmark"]: (it.values["questions"], bool(it.values["kinds"]))
        for it in plan.notes
        if isinstance(it, Statement) and it.code == "plan.asked"
    }
    assert told == {"mmlu_pro": (3, False), "multilingual_mmlu": (24, True), "scicode": (5, True)}


def test_languages_that_the_multilingual_index_lacks_are_told(tmp_path: Path) -> None:
    asked = ("benchmarks=[multilingual_mmlu,mgsm]", "languages=[en,de]")
    lacking = "bn, es, fr, ja, sw, zh"
    config = configured("data=samples", *asked)
    told = the("plan.languages", index.plan(config).notes)["languages"]
    assert sorted(told.split(", ")) == sorted(lacking.split(", "))
    footnotes = conditions.narrowed(config, prepared(config, tmp_path))
    assert values(footnotes["Languages"])["languages"] == told
    assert "plan.languages" not in coded("benchmarks=[mmlu_pro]", "languages=[en]")


def test_who_has_nothing_to_judge_or_check_is_not_asked_and_needs_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("A_KEY", raising=False)
    far = "{base_url: 'http://127.0.0.1:1/v1', api_key_env: A_KEY}"
    judge = f"roster.judges=[{{name: j, engine: openai, weights: w, options: {far}}}]"
    plan = index.plan(configured("data=samples", judge, "benchmarks=[gpqa_diamond]"))
    assert plan.referees == () and values(plan.calls)["others"] == []
    for benchmark in ("hle", "math_500"):
        with refused("environment.variable", given="A_KEY", kind=ConfigurationError):
            configured("data=samples", judge, f"benchmarks=[{benchmark}]")


def test_an_engine_names_each_model_once_with_all_its_roles() -> None:
    judge = "roster.judges=[{name: j, engine: simulated}]"
    given = ("benchmarks=[hle,math_500]", judge, "data=samples")
    for others, named in (
        ((), ["a", "b", "c", "j (judge, checker)"]),
        (("judges=[b]",), ["a", "b (ranked, judge)", "c", "j (checker)"]),
        (("judges=[b,j]", "checker=b"), ["a", "b (ranked, judge, checker)", "c", "j (judge)"]),
    ):
        (engine,) = index.plan(configured(*given, *others)).engines
        assert sorted(re.split(r", (?![^(]*\))", engine.partition(": ")[2])) == named


def test_who_judges_or_checks_itself_is_told() -> None:
    notes = coded(MATHS, "judges=[a]", "checker=b")
    assert notes["plan.judged"]["own"] == ["a"]
    assert (notes["plan.checked"]["checker"], notes["plan.checked"]["own"]) == ("b", True)
    weights = "roster.models=[{name: m, weights: w/x}, {name: n, weights: w/y}]"
    judges = "roster.judges=[{name: j, weights: w/x}]"
    assert coded(MATHS, weights, judges)["referees.same_weights"]["alike"] == {"j": ["m"]}
    other = "roster.judges=[{name: j, weights: w/z}]"
    assert "referees.same_weights" not in coded(MATHS, weights, other)
    assert "referees.same_weights" not in coded(MATHS)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("temperature=null", {"temperature": None}),
        ("max_tokens=512", {"max_tokens": 512}),
        ("repeats=2", {"repeats": 2}),
    ],
)
def test_another_sampling_than_the_methodologys_is_a_deviation(
    override: str, told: dict[str, Any]
) -> None:
    config = configured("data=samples", "benchmarks=[mgsm]", override)
    assert deviating(index.plan(config).notes) == {f"index.{it}": told[it] for it in told}
    assert deviating(index.plan(configured("data=samples", "benchmarks=[mgsm]")).notes) == {}
    with shards.scratch() as folder:
        deviations = conditions.deviations(config, prepared(config, folder))
    assert deviations == {"sampling": told}


def named(*overrides: str) -> dict[str, Any]:
    return deviating(index.plan(configured("data=samples", *overrides)).notes)


ENDPOINT = (
    "roster.models=[{name: e, engine: openai, weights: w, "
    "options: {base_url: 'http://127.0.0.1:1/v1'%s}}]"
)


@pytest.mark.usefixtures("known_python")
def test_scores_over_less_than_all_replies_or_benchmarks_are_a_deviation() -> None:
    assert named("benchmarks=[mgsm]", "accept_failures=true") == {"index.accept_failures": True}
    # One benchmark of three in the Intelligence Index; the Multilingual Index is whole.
    assert named("benchmarks=[mmlu_pro]", "partial=true") == {"index.partial": True}
    assert "index.partial" not in named("partial=true"), "all benchmarks are asked"
    some = named("partial=true", "languages=[en]")
    assert some["index.partial"] is True


def test_fewer_tries_are_a_deviation_of_the_engines_that_are_asked() -> None:
    fewer = ("benchmarks=[mmlu_pro]", "fleet.endpoint_attempts=2", "fleet.endpoint_deadline_s=60")
    asked = named(ENDPOINT % "", *fewer)
    assert asked == {"fleet.endpoint_attempts": 2, "fleet.endpoint_deadline_s": 60}
    assert named(*fewer) == named(ENDPOINT % "", fewer[0]) == {}
    hosted = "roster.models=[{name: h, weights: embedded}]"
    for attempts, found in ((1, {"fleet.attempts": 1}), (3, {}), (4, {})):
        given = ("benchmarks=[mmlu_pro]", f"fleet.attempts={attempts}")
        assert named(hosted, *given) == found
        assert named(ENDPOINT % "", *given) == {}
    judge = "roster.judges=" + (ENDPOINT % "").partition("=")[2]
    assert "fleet.endpoint_attempts" in named("benchmarks=[hle]", judge, *fewer[1:])


def test_a_models_own_sampling_is_a_deviation() -> None:
    hot = ENDPOINT % ", extra_body: {temperature: 0.7}"
    short = "roster.models=[{name: s, engine: simulated, sampling: {max_tokens: 9}}]"
    for roster, model in ((hot, "e"), (short, "s")):
        assert list(named("benchmarks=[mmlu_pro]", roster)["roster.models[].sampling"]) == [model]
    reasoning = short.replace("simulated,", "simulated, reasoning: true,")
    assert named("benchmarks=[mmlu_pro]", reasoning) == {}
    assert named("benchmarks=[mmlu_pro]", short, "max_tokens=9") == {"index.max_tokens": 9}


def test_as_many_repeats_as_the_methodology_has_are_no_deviation() -> None:
    assert named("benchmarks=[mmlu_pro]", "repeats=1") == {}
    assert named("benchmarks=[mmlu_pro]", "repeats=2") == {"index.repeats": 2}


def test_without_a_deviation_the_plan_says_so_and_which_questions_are_asked() -> None:
    plan = index.plan(configured("data=samples", "benchmarks=[mmlu_pro]", "limit=3"))
    told = the("deviation.none", plan.notes)
    assert told["source"] == METHODOLOGY
    assert all(it in told["scope"] for it in ("data", "index.benchmarks", "index.limit"))


def test_the_letters_of_a_questions_own_options_are_a_deviation(tmp_path: Path) -> None:
    lines = (SAMPLES / "mmlu_pro.jsonl").read_text(encoding="utf-8").splitlines()
    question = json.loads(lines[0]) | {"question_id": 99, "options": ["x", "y", "z"], "answer": "A"}
    fewer = [*lines, json.dumps(question)]
    given = (f"data.dir={tmp_path}", "benchmarks=[mmlu_pro]")
    for kept, letters, told in (
        (fewer, "listed", {"index.letters": "listed"}),
        (fewer, "all", {}),
        (lines, "listed", {}),  # all have ten options, and prompts are the same
    ):
        (tmp_path / "mmlu_pro.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
        config = configured(*given, f"letters={letters}")
        assert deviating(index.plan(config).notes) == told
        with shards.scratch() as folder:
            deviations = conditions.deviations(config, prepared(config, folder))
        assert deviations == ({"letters": "listed"} if told else {})
    assert named("benchmarks=[gpqa_diamond]", "letters=listed") == {}
    asking = asking_of(configured("data=samples", "letters=listed"))
    (asked,) = benchmarks.load("mmlu_pro").prompt(question, draw=asking.draw({"repeat": 0}))
    assert "'Answer: A/B/C'" in asked.content


def test_models_that_reason_are_told_to_think_in_one_benchmark_and_the_plan_says_so() -> None:
    model = "roster.models=[{name: r, engine: simulated, reasoning: true}]"
    asked = "benchmarks=[mmlu_pro,multilingual_mmlu]"
    told = {"benchmark": "multilingual_mmlu", "models": "r"}
    assert coded(asked, model)["plan.told_to_think"] == told
    assert "plan.told_to_think" not in coded(asked)
    assert "plan.told_to_think" not in coded("benchmarks=[mmlu_pro]", model)


@pytest.mark.usefixtures("known_python")
def test_another_python_than_the_methodologys_is_a_deviation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = interpreters.chosen()
    for version, told in (("3.11.9", True), ("3.12.1", False)):
        monkeypatch.setattr(
            interpreters, "chosen", lambda *_, v=version, **__: replace(own, version=v)
        )
        config = configured("data=samples", "benchmarks=[humaneval]")
        assert deviating(index.plan(config).notes) == ({"sandbox.python": version} if told else {})
        with shards.scratch() as folder:
            results = conditions.listed_deviations(config, prepared(config, folder))
        named = [(it["setting"], it["given"]) for it in results["deviations"]]
        assert named == [("sandbox.python", version)] * told


def test_the_plan_of_a_self_check_asks_nobody() -> None:
    plan = index.plan(configured("data=samples", "validate=true", "benchmarks=[mmlu_pro,math_500]"))
    assert (plan.models, plan.units, plan.unit) == ((), 28, "gold answer")
    assert (code(plan.calls), values(plan.calls)) == ("plan.gold", {"grader": "parity"})
    assert f" {plan.calls}\n" in describe(plan)


def test_the_plan_says_what_is_left_out() -> None:
    chosen = "benchmarks=[mmlu_pro,multilingual_mmlu,mgsm]"

    def notes(languages: str) -> list[str]:
        return [*index.plan(configured("data=samples", chosen, languages)).notes]

    def asked(told: list[str]) -> list[str]:
        of = (it for it in told if isinstance(it, Statement) and it.code == "plan.asked")
        return [it.values["benchmark"] for it in of]

    both = notes("languages=[te,en]")
    assert any(it.startswith("multilingual_mmlu ") and it.endswith(" te") for it in both)
    assert "multilingual_mmlu" in asked(both)
    alone = notes("languages=[te]")
    assert asked(alone) == ["mmlu_pro", "mgsm"], "the first is in one language"
    assert any(it.startswith("multilingual_mmlu ") and it.endswith(" te") for it in alone)


MISTAKES: Mapping[str, tuple[tuple[str, ...], Code, str | None, object, str]] = {
    "benchmark": (
        ("benchmarks=[mmlu_por]",), "setting.choice", "index.benchmarks", "mmlu_por", "'mmlu_pro'"
    ),
    "subject": (
        ("benchmarks=[mmlu_pro]", "subset=[maths]"), "setting.choice", "subset", "maths", "'math'"
    ),
    "language": (
        ("benchmarks=[mgsm]", "languages=[xx]"), "setting.choice", "languages", "xx", "mgsm: bn, de"
    ),
    "language of none": (
        ("languages=[de,hi]",), "setting.choice", "languages", "hi", "multilingual_mmlu: bn, de"
    ),
    "without its prefix": (("limt=5",), "setting.unknown", "limt", None, "'limit'"),
    "checker": (("checker=nobody",), "setting.choice", "index.checker", "nobody", "sim-judge"),
    "letters": (("letters=al",), "setting.choice", "index.letters", "al", "'all'"),
    "grader": (("grader=improvd",), "setting.choice", "index.grader", "improvd", "'improved'"),
    "limit": (("limit=0",), "setting.range", "index.limit", 0, "null"),
    "temperature": (
        ("index.temperature=3",), "setting.range", "index.temperature", 3.0, "0 to 2"
    ),
    "twice": (
        ("benchmarks=[mmlu_pro,MMLU-Pro]",),
        "setting.duplicate", "index.benchmarks", "mmlu_pro", "once",
    ),
    "no benchmark": (("benchmarks=[]",), "setting.missing", "index.benchmarks", None, "one"),
    "folder": (("data=default", "data.dir=."), "data.missing", "data.dir", ".", "mmlu_pro"),
}  # fmt: skip
"""What is given, the problem reported for it, and a name or limit that its text mentions."""


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_with_its_mend(name: str) -> None:
    overrides, code, setting, given, named = MISTAKES[name]
    with pytest.raises(ConfigurationError) as caught:
        planned(*overrides)
    problem = assert_among(caught.value.problems, code, setting, given=given)
    assert named in problem.text


def test_a_mistake_in_the_data_ends_the_command_with_2(tmp_path: Path) -> None:
    command = ("+experiment=index", "roster=simulated", f"roster.models=[{MODELS}]", "data=samples")
    done = run_command(*command, "benchmarks=[mgsm]", "languages=[xx]", cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "'xx'" in done.stderr
    assert not (tmp_path / "runs").exists()


PROMPTED = (
    "roster.models=[{name: a, engine: simulated, system_prompt: Be brief.}, "
    "{name: b, engine: simulated}]"
)


def test_models_are_asked_without_their_own_system_prompts_unless_asked_otherwise() -> None:
    config = configured("data=samples", "benchmarks=[mmlu_pro]", PROMPTED)
    assert [model.system_prompt for model in models_of(config)] == [None, None]
    notes = index.plan(config).notes
    assert the("plan.own_prompt", notes) == {"models": "a", "section": "index"}
    assert deviating(notes) == {}
    with_them = configured(
        "data=samples", "benchmarks=[mmlu_pro]", PROMPTED, "own_system_prompts=true"
    )
    assert [model.system_prompt for model in models_of(with_them)] == ["Be brief.", None]
    notes = index.plan(with_them).notes
    assert deviating(notes) == {"index.own_system_prompts": True}
    assert "plan.own_prompt" not in {code(it) for it in notes if isinstance(it, Statement)}


def test_a_checker_that_is_not_ranked_has_the_checkers_prompt_alone() -> None:
    judge = "roster.judges=[{name: j, engine: simulated, system_prompt: Be brief.}]"
    config = configured("data=samples", judge, "checker=j", "judges=[]")
    with shards.scratch() as folder:
        (checker,) = others_of(config, prepared(config, folder))
    assert (checker.name, checker.system_prompt) == ("j", None)
