"""The peer experiment from the command line, on simulated engines: what it leaves, and resume."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, last_run, only_run, raybench, results_of, start_raybench
from keyed import check
from reading import asks_nothing

from raybench import cli
from raybench.autobench.protocol import replay
from raybench.experiments.autobench.setup import settings

pytestmark = pytest.mark.mlflow

QUICK = (*SIMULATED, "autobench.iterations=6")
# One slow model slows every step of every iteration, and these come one after the other: there is
# time to kill the run in between.
SLOW = (*QUICK, "autobench.at_once=1", "++roster.models.0.options.latency_s=0.15")


def journal(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal" / "iterations.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines]


def untimed(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("seconds", "ended_ms")}


def wait_for_units(folder: Path, units: int, process: Any) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        files = list(folder.glob("runs/autobench/*/journal/iterations.jsonl"))
        if files and files[0].read_bytes().count(b"\n") >= units:
            return
        time.sleep(0.02)
    raise AssertionError(f"no {units} units after three minutes: {process.communicate()[0]}")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    done = raybench(*QUICK, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "stdout").write_text(done.stdout)
    return folder


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
    protocol = settings(cli.check(cli.compose(QUICK)))
    standing = replay(journal(run), protocol)
    for model, metrics in results["models"].items():
        assert metrics["autobench/weight"]["value"] == standing.weights[model]
        assert metrics["autobench/score"]["value"] == standing.scores[model]


def test_the_last_lines_say_where_everything_lies(finished: Path) -> None:
    told = (finished / "stdout").read_text()
    for word in ("results.json", "report.html", "mlflow ui"):
        assert word in told.split("Score")[-1]


def test_the_report_needs_nothing_from_outside(finished: Path) -> None:
    page = (only_run(finished) / "report.html").read_text(encoding="utf-8")
    assert "sim-12" in page
    assert "<svg" in page
    assert "<dt>prefix cache, this session</dt><dd>not reported by any engine</dd>" in page
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
    # However long the second takes to begin; with more iterations it would start Ray.
    long = (
        *(*QUICK, "autobench.iterations=100", "autobench.at_once=1"),
        "++roster.models.0.options.latency_s=1",
    )
    first = start_raybench(*long, cwd=ready)
    wait_for_units(ready, 1, first)
    under_way = only_run(ready)
    second = start_raybench(*long, cwd=ready)
    assert second.stdout
    said = [line for line, _ in zip(second.stdout, range(2), strict=False)]
    assert f"at work on runs/autobench/{under_way.name}" in said[0], said
    assert said[1].startswith("Run runs/autobench/"), said
    assert under_way.name not in said[1]


def test_a_finished_run_is_never_touched_again(finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in only_run(finished).rglob("*")}
    done = raybench(*QUICK, cwd=finished)
    assert done.returncode == 0
    runs = sorted((finished / "runs" / "autobench").iterdir())
    assert len(runs) == 2
    assert {path: path.stat().st_mtime_ns for path in runs[0].rglob("*")} == before
    assert [untimed(a) for a in journal(runs[0])] == [untimed(a) for a in journal(runs[1])]
    for file in sorted(runs[1].rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    runs[1].rmdir()


def test_a_killed_run_resumes_and_ends_as_an_undisturbed_one(finished: Path, ready: Path) -> None:
    process = start_raybench(*SLOW, cwd=ready)
    wait_for_units(ready, 2, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    run = only_run(ready)
    kept = journal(run)
    assert 2 <= len(kept) < 6
    assert not (run / "results.json").exists()
    # As if the kill had come in the middle of a write.
    with (run / "journal" / "iterations.jsonl").open("a") as file:
        file.write('{"iteration": 9, "gen')

    done = raybench(*SLOW, cwd=ready)

    assert done.returncode == 0, done.stderr
    assert f"Resuming runs/autobench/{run.name}: {len(kept)} of 6" in done.stderr
    records = journal(only_run(ready))
    assert [record["iteration"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert records[: len(kept)] == kept
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
    process = start_raybench(*SLOW, cwd=ready)
    wait_for_units(ready, 1, process)
    os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=30)[0]
    assert process.returncode == 130
    assert "Traceback" not in told
    assert "the same command goes on from there" in told
    assert not (only_run(ready) / "results.json").exists()


def test_a_termination_ends_the_run_as_ctrl_c_does(ready: Path) -> None:
    process = start_raybench(*SLOW, "resume=false", cwd=ready)
    wait_for_units(ready, 1, process)
    process.terminate()
    told = process.communicate(timeout=30)[0]
    assert process.returncode == 130
    assert "the same command without resume=false goes on from there" in told


def test_a_broken_journal_is_told_without_a_traceback(ready: Path) -> None:
    process = start_raybench(*SLOW, cwd=ready)
    wait_for_units(ready, 2, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    file = only_run(ready) / "journal" / "iterations.jsonl"
    lines = file.read_text().splitlines()
    file.write_text("\n".join(lines[1:]) + "\n")  # the first unit is gone
    done = raybench(*SLOW, cwd=ready)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "missing or there twice" in done.stderr
    assert "resume=false" in done.stderr


def size_of(file: Path) -> int:
    """Return the size of a file that may be gone by now."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def test_killed_while_mlflow_makes_its_store_the_next_run_is_logged(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    process = start_raybench(*QUICK, cwd=tmp_path)
    deadline = time.monotonic() + 60
    # MLflow writes its tables for a second or more: kill in the middle of that.
    while not any(size_of(file) for file in runs.glob("*mlflow.db*")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = raybench(*QUICK, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "MLflow failed" not in done.stderr
    assert "mlflow ui" in done.stdout


def test_resume_false_starts_anew(ready: Path) -> None:
    process = start_raybench(*SLOW, cwd=ready)
    wait_for_units(ready, 1, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = raybench(*SLOW, "resume=false", cwd=ready)
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
    assert raybench(*many, cwd=ready).returncode == 0
    side_by_side = untimed_lines(ready)
    spent = results_of(ready, "autobench")["run"]["calls"]
    assert raybench(*many, "autobench.at_once=1", cwd=ready).returncode == 0
    assert untimed_lines(ready) == side_by_side
    alone = results_of(ready, "autobench")["run"]["calls"]
    assert alone["discarded"] == 0
    assert spent["calls"] - spent["discarded"] == alone["calls"]
    assert spent["discarded"] <= 0.5 * spent["calls"]
