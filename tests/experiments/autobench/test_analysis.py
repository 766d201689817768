"""What is made of the ratings, from the command line to the report."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command import run_command
from helpers import SIMULATED, only_run, raybench
from panels import named, rounded, world
from refusals import refused
from statements import code, values

from raybench import cli
from raybench.autobench.analysis.tables import Table
from raybench.autobench.analysis.whole import analysed
from raybench.autobench.settings import Settings
from raybench.autobench.summary import metrics
from raybench.config import ModelConf
from raybench.errors import ConfigurationError
from raybench.experiments.autobench.conclusion import concluded
from raybench.experiments.autobench.report import echoes, standing, validation
from raybench.experiments.autobench.reuse import Kept

EIGHT = named(8)


def journal(tasks: int, *, planted: bool = False) -> list[dict[str, object]]:
    """Return records whose judges 3 to 5, where planted, lift m03 and put m04 down."""
    said = world(np.random.default_rng(4), tasks, 8)
    if planted:
        said[:, 3:6] += 0.6 * np.random.default_rng(1).normal(0, 1, (tasks, 1, 8))
        said[:, 3:6, 3] += 1.2
        said[:, 3:6, 4] -= 1.2
    return [
        {
            "iteration": number,
            "topic": "logic",
            "difficulty": "difficult",
            "generator": "m00",
            "attempts": [],
            "task": "task",
            "answers": dict.fromkeys(EIGHT, "42"),
            "judgments": {
                judge: {model: int(r) for model, r in zip(EIGHT, row, strict=True)}
                for judge, row in zip(EIGHT, ratings, strict=True)
            },
            "scores": dict.fromkeys(EIGHT, 3.0),
            "weights": dict.fromkeys(EIGHT, 1 / 8),
        }
        for number, ratings in enumerate(rounded(said), start=1)
    ]


def test_a_chamber_is_shown_and_noted_in_one_line() -> None:
    families = dict.fromkeys(EIGHT[3:6], "kin")
    outcome = concluded(journal(60, planted=True), Settings(EIGHT), Kept(0), families=families)
    assert "\n" not in outcome.notes["Echoes"]
    assert "m03" in outcome.notes["Echoes"]
    found = {section.title: section for section in outcome.sections}
    clusters = found["Echo chambers"]
    assert re.match("Warning: .* 3 judges", clusters.text)
    assert clusters.table and clusters.table.rows[0][1] == "m03, m04, m05"
    assert "m03 falls below m04" in found["Consensus without the largest cluster"].text
    (family,) = found["Without one family's judges"].table.rows  # type: ignore[union-attr]
    assert family[0] == "kin"
    # It shares a taste, but does not lift its own: it puts m04 down as far as it lifts m03.
    assert isinstance(family[4], float) and family[4] > 0.05
    assert "m03 falls below m04" in str(family[5])


def test_without_a_chamber_nothing_is_noted() -> None:
    outcome = concluded(journal(30), Settings(EIGHT), Kept(0))
    assert {*outcome.notes} == {"Judged by", "Deviations"}
    found = {section.title: section for section in outcome.sections}
    assert code(found["Echo chambers"].text) == "echoes.none"
    assert validation.TITLE not in found


def test_one_table_has_every_rule_and_says_which_models_are_left_out() -> None:
    table = Table("mmlu", {model: float(n) for n, model in enumerate(EIGHT[:7])}, ("m07",))
    records = journal(10)
    made = analysed(records, Settings(EIGHT), tables=[table], draws=50)
    scores = metrics(records, Settings(EIGHT), made.found)
    first, *_ = validation.sections(made, scores, EIGHT)
    assert first.table is not None
    assert list(first.table.columns) == ["Rule", "τ, mmlu", "ρ, mmlu"]
    assert [row[0] for row in first.table.rows][:3] == [
        "as run",
        "uniform weights",
        "no self-judgement",
    ]
    assert "7" in table.remark and "m07" in table.remark
    assert f"{table.remark}." in first.table.caption


def test_which_orders_hold_is_told() -> None:
    records = journal(20)
    made = analysed(records, Settings(EIGHT), draws=100)
    *_, above, orders = standing.sections(made, metrics(records, Settings(EIGHT), made.found))
    assert " 28 pairs" in above.text
    table = orders.table
    assert table
    assert (table.rows[0][0], table.rows[-1]) == ("m07", ("m00", "0 of 7", "—"))
    held = sum(int(str(row[1]).split()[0]) for row in table.rows)
    assert 0 < held < 28
    assert values(orders.text) == {"held": held, "pairs": 28}


def test_two_iterations_refuse_what_they_cannot_say() -> None:
    records = journal(2)
    made = analysed(records, Settings(EIGHT), draws=20)
    *_, above = standing.sections(made, metrics(records, Settings(EIGHT), made.found))
    told = values(above.text)
    assert (told["least"], told["there"], told["by"]) == (3, 2, "iteration")
    (chambers,) = echoes.sections(made)
    assert code(chambers.text) == "echoes.refused"
    assert "5 iterations" in values(chambers.text)["refusal"]


@pytest.mark.parametrize(
    ("model", "kin"),
    [
        (ModelConf(name="a", weights="Qwen/Qwen2.5-7B"), "Qwen"),
        (ModelConf(name="a", weights="embedded"), "embedded"),
        (ModelConf(name="a", weights="/models/qwen"), "/models/qwen"),
        (ModelConf(name="a", weights="models/qwen/7b"), "models/qwen/7b"),
        (ModelConf(name="a", engine="simulated"), "a"),
        (ModelConf(name="a", engine="simulated", family="kin"), "kin"),
        (ModelConf(name="a", engine="openai", weights="openai/gpt-x"), "openai"),
    ],
)
def test_the_family_of_a_model(model: ModelConf, kin: str) -> None:
    assert model.spec().kin == kin


def test_wrong_tables_are_told_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("model,score\nsim-01,1\nsim-2,2\n")
    given = (*SIMULATED, f"autobench.external.mmlu={file}", f"runs_dir={tmp_path}")
    setting = "autobench.external.mmlu"
    with refused("file.format", setting, kind=ConfigurationError) as caught:
        cli.check(cli.compose(cli.with_tables(given)))
    assert str(file) in str(caught.value) and "sim-2" in str(caught.value)
    with refused("setting.missing", setting, kind=ConfigurationError):
        cli.check(cli.compose(cli.with_tables((*SIMULATED, "autobench.external.mmlu=''"))))


@pytest.mark.process
def test_one_command_compares_with_a_table(tmp_path: Path) -> None:
    lines = [f"sim-{n:02d},{n}%" for n in range(1, 13)]
    (tmp_path / "mmlu.csv").write_text("\n".join(["model,score", *lines]))
    given = (*SIMULATED, "autobench.iterations=5", "autobench.external.mmlu=mmlu.csv")
    done = raybench(*given, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (only_run(tmp_path) / "report.html").read_text(encoding="utf-8")
    assert validation.TITLE in page
    assert "single judge: sim-12" in page
    results = json.loads((only_run(tmp_path) / "results.json").read_text())
    assert results["models"]["sim-12"]["autobench/score"]["ci95"]
    found = results["agreement"]["mmlu"]
    assert -1 <= found["kendall_tau"]["value"] <= found["spearman_rho"]["value"] <= 1
    assert found["kendall_tau"]["ci95"][0] < found["kendall_tau"]["value"]
    assert re.search(rf"mmlu +{found['kendall_tau']['value']:.3f} \[", done.stdout)
    assert f"## {validation.TITLE}" in (only_run(tmp_path) / "leaderboard.md").read_text()
    wrong = run_command(*given[:-1], "autobench.external.mmlu=none.csv", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "autobench.external.mmlu" in wrong.stderr and "'none.csv'" in wrong.stderr
