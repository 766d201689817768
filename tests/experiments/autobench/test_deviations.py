"""A run names every setting by which it deviates from the paper's protocol."""

from pathlib import Path

import pytest
from peerage import journal
from statements import codes, the, values

from raybench import cli
from raybench.autobench.settings import Settings
from raybench.config import Config
from raybench.experiments import autobench
from raybench.experiments.autobench.conclusion import concluded
from raybench.experiments.autobench.deviations import deviations, section
from raybench.experiments.autobench.reuse import Kept
from raybench.experiments.parts import page
from raybench.experiments.parts.deviations import DEVIATIONS
from raybench.statements import Statement

SIMULATED = ("+experiment=autobench", "roster=simulated")
PAPER = (
    "autobench.constrained_ratings=false",
    "autobench.faulty_tasks=flag",
    "autobench.fenced=false",
    "autobench.restarts=null",
    "autobench.rating_tokens=1024",
)
"""What the preset autobench_paper sets, on stand-ins."""


def config(*settings: str) -> Config:
    return cli.check(cli.compose(cli.own_roster(cli.at_home([*SIMULATED, *settings]))))


def test_the_papers_protocol_deviates_in_nothing() -> None:
    papers = config(*PAPER)
    assert deviations(papers) == ()
    assert not section(()).table
    notes = autobench.plan(papers).notes
    assert the("deviation.none", notes)["scope"] == ""
    assert "deviation.named" not in codes(it for it in notes if isinstance(it, Statement))


MODELS = "roster.models=[{{name: a, engine: simulated{0}}}, {{name: b, engine: simulated}}]"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["autobench.constrained_ratings=true"], ["autobench.constrained_ratings"]),
        (["autobench.rating_tokens=16"], ["autobench.rating_tokens"]),
        (["autobench.faulty_tasks=reject"], ["autobench.faulty_tasks"]),
        (["autobench.fenced=true"], ["autobench.fenced"]),
        (["autobench.restarts=0"], ["autobench.restarts"]),
        (["autobench.judges=[sim-12]"], ["autobench.judges"]),
        (["autobench.self_judgement=false"], ["autobench.self_judgement"]),
        (["autobench.weights=uniform"], ["autobench.weights"]),
        (["autobench.topics=[math]"], ["autobench.topics"]),
        (
            ["autobench.difficulties=[{label: hard, phrase: a hard, probability: 1}]"],
            ["autobench.difficulties"],
        ),
        (["autobench.median_threshold=0.9"], ["autobench.median_threshold"]),
        (["autobench.rating_temperature=0.4"], ["autobench.rating_temperature"]),
        (["autobench.rating_temperature=0.0"], []),  # it is that of all models
        (["autobench.thinking_tokens=0"], []),  # no model reasons
        (
            [MODELS.format(", reasoning: true"), "autobench.thinking_tokens=0"],
            [],  # 1,024 tokens are room enough
        ),
        (
            [
                MODELS.format(", reasoning: true"),
                "autobench.thinking_tokens=0",
                "autobench.constrained_ratings=true",
                "autobench.rating_tokens=16",
            ],
            ["autobench.constrained_ratings", "autobench.thinking_tokens"],
        ),
        ([MODELS.format(", sampling: {temperature: 1.0}")], ["roster.models[].sampling"]),
        ([MODELS.format(", system_prompt: Be strict.")], ["roster.models[].system_prompt"]),
    ],
)
def test_what_a_setting_deviates_in_is_named(given: list[str], expected: list[str]) -> None:
    asked = config(*PAPER, *given)
    found = deviations(asked)
    assert [it.setting for it in found] == expected
    named = [
        it.values["setting"]
        for it in autobench.plan(asked).notes
        if isinstance(it, Statement) and it.code == "deviation.named"
    ]
    assert named == expected


def test_one_model_is_given_a_system_prompt_and_several_are() -> None:
    prompt = ", system_prompt: Be strict."
    for models, are in (
        (MODELS.format(prompt), "is"),
        (MODELS.format(prompt).replace("simulated}]", f"simulated{prompt}}}]"), "are"),
    ):
        texts = [it.text for it in deviations(config(*PAPER, models))]
        assert the("deviation.autobench.system_prompt", texts)["are"] == are


def test_of_given_tasks_nothing_is_said_of_how_tasks_are_posed(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text('{"task": "Why?"}\n')
    found = deviations(config(*PAPER, "autobench.restarts=1", f"autobench.tasks={tasks}"))
    assert [it.setting for it in found] == ["autobench.tasks"]


def test_who_judges_is_told() -> None:
    settings = Settings(("a", "b", "c"), judges=("j",))
    outcome = concluded(journal(settings, 8), settings, Kept(0))
    assert outcome.about["judges"] == ["j"]
    told = values(outcome.notes["Judged by"])
    assert (told["panel"], told["own"]) == (["j"], [])


def test_results_and_report_name_them() -> None:
    settings = Settings(("a", "b", "c"))
    found = deviations(config())
    outcome = concluded(journal(settings, 8), settings, Kept(0), deviations=found)
    told = outcome.about["deviations"]
    assert [it["setting"] for it in told] == [it.setting for it in found]
    assert {it["setting"]: it["given"] for it in told} == {
        "autobench.restarts": 2,
        "autobench.faulty_tasks": "reject",
        "autobench.fenced": True,
        "autobench.constrained_ratings": True,
    }
    assert all(it["source"] and it["text"] for it in told)
    line = page.conditions(outcome.notes)["Deviations"]
    assert values(line)["settings"].split(", ") == [it["setting"] for it in told]
    # Bare names say where they are explained, and the report has a link instead.
    where, reported = values(line)["where"], page.reported(outcome)["Deviations"]
    assert DEVIATIONS in where and line == f"{reported}{where}"
    assert outcome.about["judges"] == ["a", "b", "c"]
    assert values(outcome.notes["Judged by"])["own"] == ["a", "b", "c"]
    (table,) = (it.table for it in outcome.sections if it == section(found))
    assert table and [row[0] for row in table.rows] == [it.setting for it in found]
