"""The peer experiment from the command line, on simulated engines: what it leaves, and resume."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, last_run, only_run, raybench, results_of
from in_process import run_here
from keyed import check
from reading import asks_nothing
from shared_runs import AUTOBENCH, SharedRuns
from stopped_runs import cut_off, held_at, kill_at, run_until

from raybench import cli
from raybench.autobench.protocol import replay
from raybench.experiments.autobench.setup import settings
from raybench.experiments.parts.page import UNREPORTED
from raybench.tracking.mlflow import store

pytestmark = pytest.mark.process

ONE_BY_ONE = (*AUTOBENCH, "autobench.at_once=1")


def journal(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal" / "iterations.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def untimed(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("seconds", "ended_ms")}


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*AUTOBENCH)


def test_a_run_leaves_what_the_design_promises(finished: Path) -> None:
    run = only_run(finished)
    for name in (
        "config.yaml",
        "journal/iterations.jsonl",
        "results.json",
        "leaderboard.md",
        "leaderboard.csv",
        "report.html",
        "failures.jsonl",
        "judges.jsonl",
    ):
        assert (run / name).is_file(), name
    results = json.loads((run / "results.json").read_text())
    assert results["simulated"] is True
    assert len(results["models"]) == len(results["counts"]) == 12
    for metrics in results["models"].values():
        topics = {name for name in metrics if name.startswith("autobench/score/")}
        assert 2 <= len(topics) <= 6
        assert set(metrics) - topics == {
            "autobench/score",
            "autobench/weight",
            "autobench/parse_rate",
            "autobench/judge_severity",
            "autobench/judge_agreement",
            "autobench/self_preference",
            "autobench/self_preference_among_leanings",
        }
        for estimate in metrics.values():
            assert set(estimate) == {"value", "stderr", "ci95", "n", "method"}
    account = results["fleet"]["this_session"]
    assert set(account["models"]) == set(results["models"])
    for tally in [account["total"], *account["models"].values()]:
        assert tally["requests"] > 0
        assert tally["prompt_tokens"] > tally["output_tokens"] > 0
        assert (tally["cached_tokens"], tally["prefix_hit_rate"]) == (None, None)  # simulated
    for counts in results["counts"].values():
        assert set(counts) == {"ok", "truncated", "unparsed", "infra_error", "judge_error"}


def test_replay_over_the_journal_gives_exactly_the_weights_of_the_results(finished: Path) -> None:
    run = only_run(finished)
    results = json.loads((run / "results.json").read_text())
    protocol = settings(cli.check(cli.compose(AUTOBENCH)))
    standing = replay(journal(run), protocol)
    for model, metrics in results["models"].items():
        assert metrics["autobench/weight"]["value"] == standing.weights[model]
        assert metrics["autobench/score"]["value"] == standing.scores[model]


def test_the_last_lines_say_where_everything_lies(finished: Path) -> None:
    told = (finished / "stdout").read_text()
    for word in ("results.json", "report.html", "tracking sync"):
        assert word in told.split("Score")[-1]


def test_the_report_needs_nothing_from_outside(finished: Path) -> None:
    page = (only_run(finished) / "report.html").read_text(encoding="utf-8")
    assert "sim-12" in page
    assert "<svg" in page
    assert f"<dd>{UNREPORTED}</dd>" in page
    assert asks_nothing(page)


def test_mlflow_has_the_run_with_a_child_per_model(finished: Path) -> None:
    from mlflow import MlflowClient

    check(finished, "autobench")

    client = MlflowClient(f"sqlite:///{finished}/runs/mlflow.db")
    experiment = client.get_experiment_by_name("raybench")
    runs = client.search_runs([experiment.experiment_id])
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert len(parents) == 1
    assert len(children) == 12
    assert {run.info.status for run in runs} == {"FINISHED"}
    assert parents[0].data.tags["simulated"] == "true"
    assert parents[0].data.params["autobench.iterations"] == "6"
    assert parents[0].data.params["seed"] == "0"
    results = json.loads((only_run(finished) / "results.json").read_text())
    total = results["fleet"]["this_session"]["total"]
    shown = {key: value for key, value in parents[0].data.metrics.items() if "fleet/" in key}
    assert shown == {f"fleet/{name}": value for name, value in total.items() if value is not None}
    assert set(shown) >= {"fleet/requests", "fleet/prompt_tokens", "fleet/output_tokens"}
    for child in children:
        assert child.data.params == {"engine": "simulated", "temperature": "0.0", "top_p": "1.0"}
        steps = client.get_metric_history(child.info.run_id, "autobench/running_weight")
        assert sorted(metric.step for metric in steps) == [1, 2, 3, 4, 5, 6]


def test_nobody_reads_what_it_prints_and_the_run_is_finished_all_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "raybench", *SIMULATED, "autobench.iterations=2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        process.stdout.close()
        assert process.stderr
        said = process.stderr.read()
    assert process.returncode == 141
    assert "Traceback" not in said
    assert "Failed" not in said
    assert (only_run(tmp_path) / "results.json").exists()


def test_the_same_command_beside_a_run_under_way_says_so(ready: Path) -> None:
    command = (*SIMULATED, "autobench.iterations=2", "autobench.at_once=1")
    with held_at("iterations", 1, *command, cwd=ready):
        under_way = only_run(ready)
        second = run_here(*command, cwd=ready)
    said = second.stderr.splitlines()
    assert f" runs/autobench/{under_way.name}" in said[0]
    assert said[1].startswith("Run runs/autobench/")
    assert under_way.name not in said[1]
    assert len([*(ready / "runs" / "autobench").iterdir()]) == 2


def test_a_finished_run_is_never_touched_again(shared_runs: SharedRuns) -> None:
    folder = shared_runs.copy(*AUTOBENCH)
    before = {path: path.stat().st_mtime_ns for path in only_run(folder).rglob("*")}
    assert run_here(*AUTOBENCH, cwd=folder).returncode == 0
    first, second = sorted((folder / "runs" / "autobench").iterdir())
    assert {path: path.stat().st_mtime_ns for path in first.rglob("*")} == before
    assert [untimed(a) for a in journal(first)] == [untimed(a) for a in journal(second)]


def test_a_killed_run_resumes_and_ends_as_an_undisturbed_one(finished: Path, ready: Path) -> None:
    """The real kill of the journal of iterations; other tests cut finished journals off."""
    kill_at("iterations", 3, *ONE_BY_ONE, cwd=ready)
    run = only_run(ready)
    kept = journal(run)
    assert len(kept) == 3
    assert not (run / "results.json").exists()
    # As if the kill had come in the middle of a write.
    with (run / "journal" / "iterations.jsonl").open("a") as file:
        file.write('{"iteration": 9, "gen')

    done = raybench(*ONE_BY_ONE, cwd=ready)

    assert done.returncode == 0, done.stderr
    assert f"Resuming runs/autobench/{run.name}: 3 of 6" in done.stderr
    records = journal(only_run(ready))
    assert [record["iteration"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert records[:3] == kept
    assert [untimed(a) for a in records] == [untimed(a) for a in journal(only_run(finished))]
    results = json.loads((run / "results.json").read_text())
    undisturbed = json.loads((only_run(finished) / "results.json").read_text())
    assert results["models"] == undisturbed["models"]
    assert results["counts"] == undisturbed["counts"]
    # What was asked before the kill is in the journal's tokens, and not in this session's account.
    asked, all_asked = (
        found["fleet"]["this_session"]["total"]["requests"] for found in (results, undisturbed)
    )
    assert 0 < asked < all_asked


def test_ctrl_c_keeps_what_is_done_and_says_so(ready: Path) -> None:
    command = (*ONE_BY_ONE, "resume=false")
    code, told = run_until("iterations", 1, signal.SIGINT, *command, cwd=ready)
    assert code == 130
    assert "Traceback" not in told
    assert re.search("same command .*resume=false", told)
    assert not (only_run(ready) / "results.json").exists()


def test_a_broken_journal_is_told_without_a_traceback(finished: Path, ready: Path) -> None:
    run = cut_off(only_run(finished), ready / "runs", {"iterations": 3}, torn="")
    file = run / "journal" / "iterations.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[1:]) + "\n")  # the first unit is gone
    done = run_here(*AUTOBENCH, cwd=ready)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "iteration 2 where 1 " in " ".join(done.stderr.split())
    assert "resume=false" in done.stderr


_KILLED_WHILE_TABLES_ARE_WRITTEN = """\
import os, signal, subprocess, sys
from pathlib import Path
from raybench.tracking.mlflow import store

run = subprocess.run

def run_and_die(command, cwd=None, **given):
    if cwd is None:  # of the library `platform`
        return run(command, **given)
    subprocess.Popen(command, cwd=cwd)
    while not any(it.exists() and it.stat().st_size for it in Path(cwd).glob(".mlflow.db.*.new")):
        pass
    os.kill(os.getpid(), signal.SIGKILL)

subprocess.run = run_and_die
store.client(sys.argv[1])
"""


def test_killed_while_mlflow_makes_its_store_the_next_run_opens_it(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED_WHILE_TABLES_ARE_WRITTEN, uri], timeout=280, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "mlflow.db").exists()
    assert store.client(uri).search_experiments()


def test_resume_false_starts_anew(finished: Path, ready: Path) -> None:
    cut_off(only_run(finished), ready / "runs", {"iterations": 1})
    done = run_here(*AUTOBENCH, "resume=false", cwd=ready)
    assert done.returncode == 0
    assert "Resuming" not in done.stderr
    assert len(list((ready / "runs" / "autobench").iterdir())) == 2


def untimed_lines(folder: Path) -> list[bytes]:
    path = last_run(folder, "autobench") / "journal" / "iterations.jsonl"
    return re.sub(rb'"(seconds|ended_ms)": [0-9.]+', b"", path.read_bytes()).splitlines()


def test_the_journal_is_that_of_one_after_the_other_byte_for_byte(ready: Path) -> None:
    waits = [0.01, 0.0, 0.03, 0.002] * 3
    slow = [f"++roster.models.{n}.options.latency_s={wait}" for n, wait in enumerate(waits)]
    many = (*SIMULATED, "autobench.iterations=12", "autobench.mean_threshold=3", *slow)
    assert run_here(*many, cwd=ready).returncode == 0
    side_by_side = untimed_lines(ready)
    spent = results_of(ready, "autobench")["run"]["calls"]
    assert run_here(*many, "autobench.at_once=1", cwd=ready).returncode == 0
    assert untimed_lines(ready) == side_by_side
    alone = results_of(ready, "autobench")["run"]["calls"]
    assert alone["discarded"] == 0
    assert spent["calls"] - spent["discarded"] == alone["calls"]
    assert spent["discarded"] <= 0.5 * spent["calls"]
