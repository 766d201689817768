"""The rosters that come with raybench: each can be planned, and says exactly what it runs."""

import re
from itertools import product
from pathlib import Path

import pytest
from refusals import refused
from statements import deviating

from raybench import cli, roster_file
from raybench import experiments as rooms
from raybench.config import Config
from raybench.errors import Code, ConfigurationError
from raybench.experiments.autobench.deviations import deviations
from raybench.statements import Statement
from raybench.tracking.plan import describe

ROSTERS = sorted(
    file.stem
    for file in (cli.conf_dir() / "roster").glob("*.yaml")
    if file.stem != "custom"  # which waits for models from the command line
)
GATED = ("meta-llama/", "google/")
# Table 2 of the paper.
PAPER = {
    "SmolLM2-1.7B-Instruct",
    "Llama-3.2-1B-Instruct",
    "Llama-3.2-3B-Instruct",
    "Qwen2.5-3B-Instruct",
    "Qwen2.5-7B-Instruct",
    "Qwen2.5-14B-Instruct",
    "Meta-Llama-3-8B-Instruct",
    "gemma-7b-it",
    "Mistral-Small-3.1-24B-Instruct-2503",
    "gpt-oss-20b",
    "gemma-3-1b-it",
    "Phi-3-mini-4k-instruct",
}


pytestmark = pytest.mark.usefixtures("known_python")


@pytest.fixture(autouse=True)
def _keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENDPOINT_API_KEY", "a key")
    monkeypatch.chdir(tmp_path)  # where no player has been compiled


def config(roster: str, experiment: str = "autobench") -> Config:
    # On a cluster: which GPUs and how much memory this machine has does not count then.
    elsewhere = "fleet.address=ray://head:10001"
    # No hub is asked here.
    samples = dict.fromkeys(("index", "hle", "suite"), "data=samples")
    samples["hle_screen"] = "hle_screen.candidates=samples"
    look = ["hle_screen.dataset=/tmp/none/look"] if experiment == "hle_screen" else []
    named = [f"+experiment={experiment}", f"roster={roster}", elsewhere]
    given = [samples[experiment]] if experiment in samples else []
    return cli.check(cli.compose([*named, *given, *look]))


# Every experiment with stand-ins, or where it hosts models with one that it can host; every roster
# with the experiment that most settings of a roster are for, and with the one that needs players.
PAIRS = sorted(
    {(name, "embedded" if name == "serve" else "simulated") for name in cli.experiments()}
    | {("autobench", roster) for roster in ROSTERS}
    | {("optimise_players", "embedded_pair")}
)


REFUSED: list[tuple[str, str, Code, str]] = [
    ("games", "embedded_pair", "player.missing", "games.strategy"),
    ("suite", "embedded_pair", "player.missing", "games.strategy"),
    ("serve", "endpoint", "setting.conflict", "roster.models"),
    ("serve", "simulated", "setting.conflict", "roster.models"),
]


EVERY_PAIR = sorted(
    set(product(cli.experiments(), ROSTERS)) - {(name, roster) for name, roster, *_ in REFUSED}
)


@pytest.mark.parametrize(("experiment", "roster"), PAIRS)
def test_experiments_plan_with_rosters(experiment: str, roster: str) -> None:
    check_plans(experiment, roster)


@pytest.mark.long(short="tests/test_rosters.py::test_experiments_plan_with_rosters")
@pytest.mark.parametrize(("experiment", "roster"), EVERY_PAIR)
def test_every_experiment_plans_with_every_roster(experiment: str, roster: str) -> None:
    check_plans(experiment, roster)


def check_plans(experiment: str, roster: str) -> None:
    """Check that an experiment has a plan with a roster."""
    composed = config(roster, experiment)
    assert composed.roster.name == roster
    plan = rooms.load(experiment).plan(composed)
    assert plan.models or experiment == "compiled_players"  # which asks nobody
    for model in plan.models:
        assert f" {model.name}: {model.engine}" in describe(plan)


@pytest.mark.parametrize(("experiment", "roster", "code", "setting"), REFUSED)
def test_rosters_that_an_experiment_cannot_use_are_refused(
    experiment: str, roster: str, code: Code, setting: str
) -> None:
    composed = config(roster, experiment)
    with refused(code, setting, kind=ConfigurationError) as caught:
        rooms.load(experiment).plan(composed)
    if code == "player.missing":
        assert "+experiment=optimise_players" in (caught.value.fix or "")


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_model_of_the_hub_is_pinned_to_a_commit(roster: str) -> None:
    for model in config(roster).roster.models:
        if model.engine == "vllm" and model.weights != "embedded":
            assert re.fullmatch("[0-9a-f]{40}", model.revision or ""), model.name


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_roster_begins_by_saying_what_it_is(roster: str) -> None:
    text = (cli.conf_dir() / "roster" / f"{roster}.yaml").read_text(encoding="utf-8")
    assert re.match(r"# \w.{20,}", text)


def test_the_same_weights_are_pinned_to_the_same_commit_everywhere() -> None:
    models = [model for roster in ROSTERS for model in config(roster).roster.models]
    pins = {(model.weights, model.revision) for model in models if model.revision}
    assert len(pins) == len({weights for weights, _ in pins})
    assert len(pins) == len({revision for _, revision in pins})


JUDGES = sorted(file.stem for file in (cli.conf_dir() / "roster" / "judges").glob("*.yaml"))


@pytest.mark.parametrize("judges", JUDGES)
@pytest.mark.parametrize("experiment", ["index", "hle", "suite"])
def test_the_methodologys_judges_go_with_any_roster(
    judges: str, experiment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    elsewhere = "fleet.address=ray://head:10001"
    named = [f"+experiment={experiment}", "roster=small", elsewhere, "data=samples"]
    composed = cli.check(cli.compose([*named, f"+roster/judges={judges}"]))
    assert len(composed.roster.models) == len(config("small").roster.models)
    by_name = {model.name: model for model in composed.roster.judges}
    (judge,) = composed.index.judges
    assert composed.hle.judges == [judge]
    first, checker = by_name[judge], by_name[composed.index.checker or ""]
    assert (first.engine, first.weights) == ("openai", "gpt-4o-2024-08-06")
    assert (first.options or {})["api_key_env"] == "OPENAI_API_KEY"
    assert checker.weights == "meta-llama/Llama-3.3-70B-Instruct"
    if checker.engine == "vllm":
        assert re.fullmatch("[0-9a-f]{40}", checker.revision or "")
    if experiment == "index":
        plan = rooms.load("index").plan(composed)
        codes = {it.code for it in plan.notes if isinstance(it, Statement)}
        assert {"plan.judged", "plan.checked"} <= codes
        assert not {"index.judges", "index.checker"} & deviating(plan.notes).keys()
        assert {it.weights for it in plan.referees} == {first.weights, checker.weights}


def test_the_methodologys_judges_go_with_a_roster_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("models: [{name: m, engine: simulated}]")
    chosen = roster_file.taken([f"roster={file}", "+roster/judges=methodology_endpoints"])
    composed = cli.compose(["+experiment=index", *chosen])
    assert [model.name for model in composed.roster.models] == ["m"]
    assert composed.index.judges == ["gpt-4o-2024-08-06"]


def test_the_papers_twelve_are_the_papers() -> None:
    models = config("autobench_paper").roster.models
    assert {model.weights.partition("/")[2] for model in models} == PAPER
    assert len({str(model.sampling) for model in models}) == 1


def test_the_papers_one_that_thinks_has_room_to() -> None:
    paper, others = config("autobench_paper").autobench, config("small").autobench
    assert paper.answer_tokens > others.answer_tokens
    # A judge reads a task and an answer, which another tokenizer may count as a quarter longer.
    assert 1.25 * (paper.task_tokens + paper.answer_tokens) + 500 < 4096


def test_the_papers_preset_is_the_papers_protocol_and_others_name_what_they_change() -> None:
    assert deviations(config("autobench_paper")) == ()
    (thinks,) = (it for it in config("autobench_paper").roster.models if it.spec().reasoning)
    assert thinks.weights == "openai/gpt-oss-20b"
    assert (thinks.options or {})["reasoning_parser"] == "openai_gptoss"
    usual = {
        "autobench.restarts",
        "autobench.faulty_tasks",
        "autobench.fenced",
        "autobench.constrained_ratings",
    }
    named = {
        roster: {it.setting for it in deviations(config(roster))}
        for roster in ("small", "endpoint", "embedded")
    }
    assert named["small"] == named["endpoint"] == usual
    assert named["embedded"] == usual - {"autobench.fenced"} | {
        "autobench.median_threshold",
        "autobench.rating_temperature",
        "roster.models[].sampling",
        "roster.models[].system_prompt",
    }


def test_what_a_judge_of_the_papers_reads_and_thinks_fits_into_its_context() -> None:
    paper = config("autobench_paper")
    (thinks,) = (it for it in paper.roster.models if it.spec().reasoning)
    conf, context = paper.autobench, (thinks.options or {})["max_model_len"]
    read = 1.25 * (conf.task_tokens + conf.answer_tokens) + 500
    assert read + conf.rating_tokens + conf.thinking_tokens <= context


def test_judges_read_what_they_rate_through_a_fence_where_their_roster_does_not_say_otherwise() -> (
    None
):
    assert not config("autobench_paper").autobench.fenced
    assert config("small").autobench.fenced
    assert not config("embedded").autobench.fenced  # too small to see through one


def test_the_small_ones_need_no_account() -> None:
    models = config("small").roster.models
    assert not [model.name for model in models if model.weights.startswith(GATED)]


def test_the_endpoints_models_share_its_limits() -> None:
    config_ = config("endpoint")
    assert len(config_.roster.models) > len(rooms.load("autobench").plan(config_).engines)
