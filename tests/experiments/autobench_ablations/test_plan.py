"""What a run of the ablations would do, and the mistakes that it tells beforehand."""

from collections import Counter
from pathlib import Path

import pytest

from raybench import cli
from raybench.autobench import faults
from raybench.autobench.earlier import Earlier
from raybench.autobench.settings import DIFFICULTIES, TOPICS
from raybench.errors import ConfigurationError
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
    assert planned.notes[:6] == (
        "full protocol",
        "single judge: the best-scored model of the full protocol",
        "no self-judgement",
        "uniform weights",
        "judges from outside: sim-judge",
        "fixed tasks: 30 of those that ship, again and again",
    )
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
    assert planned.notes[:2] == ("full protocol", "single judge: sim-judge")
    assert planned.calls.startswith(f"{40 * (169 + 13):,} to ")
    assert [it.name for it in planned.referees] == ["sim-judge"]
    assert not plan("variants=[full]").referees


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("roster.judges=[]", "judges from outside (the roster has no judges from outside"),
        ("autobench.weights=uniform", "uniform weights (all judges weigh the same anyway"),
        ("autobench.self_judgement=false", "no self-judgement (nobody judges itself anyway"),
        ("autobench.judges=[sim-01]", "no self-judgement (nobody else would judge what sim-01"),
        ("autobench.judges=[sim-01] single_judge=sim-01", "single judge (sim-01 is the panel"),
        ("autobench.judges=[sim-judge]", "judges from outside (its judges are the panel already"),
        ("autobench.tasks=tasks.jsonl", "fixed tasks (autobench.tasks gives the tasks anyway"),
    ],
)
def test_what_the_settings_do_not_allow_is_left_out_and_said(
    setting: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks.jsonl").write_text('{"task": "Why do ships of steel float?"}\n')
    planned = plan(*setting.split())
    assert planned.units < 6 * 40
    assert any(note.startswith(f"left out: {why}") for note in planned.notes)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("variants=[full,single_juge]", "unknown variant 'single_juge'. Did you mean 'single_ju"),
        ("variants=[full,full]", "names 'full' 2 times: once is enough"),
        ("variants=[fixed_tasks]", "lacks 'full', with which the others are compared: add it"),
        ("single_judge=sim-13", "single_judge is 'sim-13', which the roster does not have."),
        ("tasks=nowhere.jsonl", "autobench_ablations.tasks: nowhere.jsonl cannot be read"),
        ("autobench.tasks=nowhere.jsonl", "autobench.tasks: nowhere.jsonl cannot be read"),
        ("autobench.extends=nowhere", "nowhere is not the folder of a peer assessment"),
        ("++autobench.external.x=nowhere.csv", "there is no file 'nowhere.csv'"),
        ("autobench.iterations=0", "autobench.iterations is 0: it is 1 or more"),
    ],
)
def test_each_mistake_is_named(setting: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        plan(setting)
    assert told in str(error.value)


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
