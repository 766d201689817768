"""What a run of the ablations would do, and the mistakes that it tells beforehand."""

from collections import Counter
from pathlib import Path

import pytest
from refusals import refused
from statements import values

from raybench import cli
from raybench.autobench import faults
from raybench.autobench.earlier import Earlier
from raybench.autobench.settings import DIFFICULTIES, TOPICS
from raybench.config.autobench_ablations import VARIANTS, WORDS
from raybench.errors import Code, ConfigurationError
from raybench.experiments import autobench_ablations
from raybench.experiments.autobench import given
from raybench.experiments.autobench_ablations import setup
from raybench.types import Plan

SIMULATED = ("+experiment=autobench_ablations", "roster=simulated", "autobench.iterations=40")


def plan(*settings: str) -> Plan:
    composed = cli.compose(cli.own_roster(cli.at_home([*SIMULATED, *settings])))
    return autobench_ablations.plan(cli.check(composed))


def test_it_tells_variants_and_calls() -> None:
    planned = plan()
    assert planned.units == 6 * 40
    assert [it.name for it in planned.referees] == ["sim-judge"]
    assert len(planned.models) == 12
    several = [values(it) for it in planned.notes[:6]]
    assert [it["variant"] for it in several] == [*VARIANTS]
    assert [it["title"] for it in several] == [WORDS[name] for name in VARIANTS]
    assert several[4]["detail"] == "sim-judge" and several[5]["detail"].startswith("30 ")
    # At best the full protocol, the outsider's ratings of it, and the fixed tasks are asked.
    assert planned.calls.startswith(f"{40 * (169 + 13 + 156):,} to ")
    config = cli.check(cli.compose(SIMULATED))
    assert setup.least_calls(config) == {
        "full": 169, "single_judge": 0, "no_self_judgement": 0, "uniform_weights": 0,
        "outside_judges": 13, "fixed_tasks": 156,
    }  # fmt: skip


def test_variants_are_chosen_and_a_single_judge_from_outside_is_counted() -> None:
    planned = plan("variants=[single_judge,full]", "single_judge=sim-judge")
    assert planned.units == 80
    told = [(it["variant"], it["detail"]) for it in map(values, planned.notes[:2])]
    assert told == [("full", ""), ("single_judge", "sim-judge")]
    assert planned.calls.startswith(f"{40 * (169 + 13):,} to ")
    assert [it.name for it in planned.referees] == ["sim-judge"]
    assert not plan("variants=[full]").referees


@pytest.mark.parametrize(
    ("setting", "variant"),
    [
        ("roster.judges=[]", "outside_judges"),
        ("autobench.weights=uniform", "uniform_weights"),
        ("autobench.self_judgement=false", "no_self_judgement"),
        ("autobench.judges=[sim-01]", "no_self_judgement"),
        ("autobench.judges=[sim-01] single_judge=sim-01", "single_judge"),
        ("autobench.judges=[sim-judge]", "outside_judges"),
        ("autobench.tasks=tasks.jsonl", "fixed_tasks"),
    ],
)
def test_what_the_settings_do_not_allow_is_left_out_and_said(
    setting: str, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_text('{"task": "Why do ships of steel float?"}\n')
    planned = plan(*setting.split())
    assert planned.units < 6 * 40
    out = [values(it) for it in planned.notes if it.startswith("left out: ")]
    assert variant in [it["variant"] for it in out] and all(it["why"] for it in out)


@pytest.mark.parametrize(
    ("setting", "code", "named"),
    [
        ("variants=[full,single_juge]", "setting.choice", "'single_judge'"),
        ("variants=[full,full]", "setting.duplicate", "'full'"),
        ("variants=[fixed_tasks]", "setting.missing", "'full'"),
        ("single_judge=sim-13", "setting.choice", "'sim-13'"),
        ("tasks=nowhere.jsonl", "file.unreadable", "autobench_ablations.tasks: "),
        ("autobench.tasks=nowhere.jsonl", "file.unreadable", "autobench.tasks: "),
        ("autobench.extends=nowhere", "run.missing", "nowhere"),
        ("++autobench.external.x=nowhere.csv", "file.missing", "'nowhere.csv'"),
        ("autobench.iterations=0", "setting.range", "autobench.iterations"),
    ],
)
def test_each_mistake_is_named(setting: str, code: Code, named: str) -> None:
    with refused(code, kind=ConfigurationError) as error:
        plan(setting)
    assert named in str(error.value)


def test_the_tasks_that_ship_are_sound_and_balanced() -> None:
    tasks, earlier = given.read(given.SHIPPED), Earlier()
    kinds = Counter((task.topic, task.difficulty) for task in tasks)
    assert kinds == {(topic, it.label): 1 for topic in TOPICS for it in DIFFICULTIES}
    # A run of ten iterations has every topic.
    assert [task.topic for task in tasks[:10]] == list(TOPICS)
    for number, task in enumerate(tasks, start=1):
        assert faults.found(task.text) == []
        assert earlier.like(task.text, before=number) is None
        earlier.put(number, task.text)
