"""A suite from the command line, on stand-ins: what it leaves."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from helpers import last_run, raybench
from keyed import check
from shared_runs import SharedRuns
from suites import COMPARED, EXTERNAL, FOUR, PARTS, SMALL, part

from raybench.tracking.mlflow import store as mlflow_store

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(900),
    pytest.mark.mlflow,
    pytest.mark.usefixtures("on_lasting_ray"),
]


def results(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((last_run(folder, "suite") / "results.json").read_text())
    return found


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*COMPARED, files=EXTERNAL, sent=True)


def test_each_part_is_a_whole_run_of_its_own_in_the_suites_folder(finished: Path) -> None:
    run = last_run(finished, "suite")
    for name in PARTS:
        own = part(finished, name)
        for file in ("results.json", "report.html", "leaderboard.md", "config.yaml", "journal"):
            assert (own / file).exists(), (name, file)
        assert f"parts/{name}/{own.name}/report.html" in (run / "report.html").read_text()
    answer = results(finished)["agreement"]["consensus_vs_other"]["kendall"]["value"]
    assert f" τ is {answer:.2f} (95 % interval" in (run / "report.html").read_text()
    assert [json.loads(it)["part"] for it in (run / "journal" / "parts.jsonl").open()] == [*PARTS]


def test_results_have_all_headlines_and_how_far_each_two_agree(finished: Path) -> None:
    found = results(finished)
    assert found["simulated"] is True
    for metrics in found["models"].values():
        for key in ("mmlu_pro/accuracy", "hle/accuracy", "autobench/score", "games/rating"):
            assert metrics[key]["value"] is not None
        assert 1 <= metrics["suite/consensus_rank"]["value"] <= 4
    pairs = {"index_vs_hle", "index_vs_autobench", "index_vs_games", "hle_vs_autobench",
             "hle_vs_games", "autobench_vs_games"}  # fmt: skip
    assert pairs <= set(found["agreement"])
    for name in pairs:
        for of in ("kendall", "spearman"):
            told = found["agreement"][name][of]
            assert told["ci95"][0] <= told["value"] <= told["ci95"][1]
    assert {"index_vs_other", "games_vs_other", "consensus_vs_other"} <= set(found["agreement"])
    assert found["run"]["parts"]["games"]["ranked_by"] == "games/rating"
    # What is told of a part is what the part says.
    for name in PARTS:
        own = json.loads((part(finished, name) / "results.json").read_text())
        assert found["run"]["parts"][name]["deviations"] == own["run"]["deviations"]
        assert own["run"]["conditions"]["Deviations"]
        key = found["run"]["parts"][name]["ranked_by"]
        for model, metrics in own["models"].items():
            assert found["models"][model][key] == metrics[key]


def test_a_terminal_is_told_once_where_all_lies(finished: Path) -> None:
    said = (finished / "stdout").read_text()
    assert [said.count(f"\n{what} ") for what in ("Results", "MLflow")] == [1, 1]
    assert said.count("\nReport ") == 1 + len(PARTS)


def test_mlflow_has_the_suite_above_its_parts(finished: Path) -> None:
    client = mlflow_store.client(f"sqlite:///{finished / 'runs' / 'mlflow.db'}")
    (experiment,) = client.search_experiments(filter_string="name = 'raybench'")
    runs = {it.info.run_id: it for it in client.search_runs([experiment.experiment_id])}
    found = results(finished)
    top = found["run"]["mlflow_run_id"]
    below = Counter(it.data.tags.get("mlflow.parentRunId") for it in runs.values())
    assert below[top] == 4 + 4  # the models, and the parts
    for name in PARTS:
        own = found["run"]["parts"][name]["mlflow_run_id"]
        assert runs[own].data.tags["mlflow.parentRunId"] == top
        assert below[own] == 4
    assert "agreement/hle_vs_games/kendall" in runs[top].data.metrics
    children = [it for it in runs.values() if it.data.tags.get("mlflow.parentRunId") == top]
    keys = [set(it.data.metrics) for it in children if "model" in it.data.tags]
    assert all({"hle/accuracy", "games/rating", "suite/consensus_rank"} <= of for of in keys)


def test_mlflow_has_what_results_have(finished: Path) -> None:
    read = check(finished, "suite")
    assert {"mmlu_pro", "hle", "autobench.asked", "games.rules", "suite.external.other"} <= {*read}


def test_a_finished_suite_is_compared_with_another_table_without_asking_anybody(
    shared_runs: SharedRuns,
) -> None:
    finished = shared_runs.copy(*COMPARED, files=EXTERNAL, sent=True)
    (finished / "more.csv").write_text("model,score\na,40\nb,30\nc,20\nd,10\n")
    before = {name: part(finished, name) for name in PARTS}
    done = raybench(*SMALL, *FOUR, "suite.external.more=more.csv", cwd=finished, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "is finished" in done.stderr and "starting Ray" not in done.stderr
    assert {name: part(finished, name) for name in PARTS} == before
    assert results(finished)["agreement"]["consensus_vs_more"]["kendall"]["value"] < 0
