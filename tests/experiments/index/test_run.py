"""The index from the command line, with stand-ins over the samples: what it leaves, resume."""

import json
import signal
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import helpers
import pytest
from helpers import last_run, raybench, units_of, wait_for_silence
from keyed import check
from shared_runs import INDEX as WHOLE
from shared_runs import SharedRuns
from stopped_runs import kill_at, run_until

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("on_lasting_ray")]

INDEX = ("+experiment=index", "data=samples")
ROSTER = tuple(it for it in WHOLE if it.startswith("roster"))
THREE = ROSTER[1]


run_of = partial(last_run, experiment="index")
results_of = partial(helpers.results_of, experiment="index")
journal_of = partial(units_of, experiment="index")


@pytest.fixture(scope="module")
def finished(shared_runs: SharedRuns) -> Path:
    return shared_runs.copy(*WHOLE)


def test_ray_does_not_remark_on_graphs_with_actors(finished: Path) -> None:
    assert "core_worker" not in (finished / "stderr").read_text()


def test_mlflow_has_what_results_have(finished: Path) -> None:
    assert check(finished, "index")


def test_every_unit_is_in_the_journal_once(finished: Path) -> None:
    units = journal_of(finished)
    names = {(u["model"], u["benchmark"], u["language"], u["key"], u["repeat"]) for u in units}
    assert len(names) == len(units) == results_of(finished)["run"]["units"]
    repeats = {"gpqa_diamond": 5, "math_500": 3, "aime_2024": 10}
    for benchmark, about in results_of(finished)["run"]["data"].items():
        asked = sum(unit["benchmark"] == benchmark for unit in units)
        assert asked == 3 * about["questions"] * repeats.get(benchmark, 1)


def test_indices_are_refused_for_what_they_lack_and_made_where_they_lack_nothing(
    finished: Path,
) -> None:
    for metrics in results_of(finished)["models"].values():
        for name in ("intelligence", "coding"):
            assert metrics[f"index/{name}"]["value"] is None
            assert "scicode" in metrics[f"index/{name}"]["method"]
        both = [metrics["math_500/accuracy"]["value"], metrics["aime_2024/accuracy"]["value"]]
        assert metrics["index/math"]["value"] == pytest.approx(sum(both) / 2)
        both = [metrics["multilingual_mmlu/accuracy"]["value"], metrics["mgsm/accuracy"]["value"]]
        assert metrics["index/multilingual"]["value"] == pytest.approx(sum(both) / 2)


def test_abler_models_score_higher(finished: Path) -> None:
    models = results_of(finished)["models"]
    for benchmark in ("gpqa_diamond", "aime_2024", "math_500", "mgsm", "multilingual_mmlu"):
        able, fair, dull = (
            models[model][f"{benchmark}/accuracy"]["value"] for model in ("able", "fair", "dull")
        )
        assert able > fair > dull


def test_the_leaderboard_leads_with_an_index_that_is_there(finished: Path) -> None:
    told = (finished / "stdout").read_text()
    head = next(line for line in told.splitlines() if "model" in line and "Index" in line)
    assert head.index("Math Index") < head.index("MMLU-Pro")
    # Columns without a number for any model are told below; the table for other programs has all.
    assert "Coding Index" not in head
    report = (run_of(finished) / "report.html").read_text()
    for text in (told, report):
        assert "livecodebench, scicode" in text
    assert "Coding Index" in (run_of(finished) / "leaderboard.md").read_text().splitlines()[2]
    for title in ("What this run supports", "MGSM by language", "MMLU-Pro by subject"):
        assert title in report
    assert "checker" in report
    assert "<li>From cache: " in report
    assert "Think step" in report
    assert "{&#39;origin&#39;" not in report
    assert " Math Index\n" in told
    assert "\nFrom cache  " in told


def test_a_reply_that_is_there_is_not_asked_for_again(finished: Path) -> None:
    account = results_of(finished)["fleet"]["this_session"]
    units = journal_of(finished)
    checked = sum(unit["by"] == "checker" for unit in units)
    asked = account["total"]["requests"] - len(units)
    assert 0 < asked <= checked  # a pair that comes again in its block is not checked again
    assert account["models"]["fair"]["requests"] == len(units) / 3
    assert account["models"]["able"]["requests"] == len(units) / 3 + asked


def test_killed_on_its_way_it_ends_as_an_undisturbed_run(finished: Path, ready: Path) -> None:
    """The real kill of the journal of units; other tests cut finished journals off."""
    kill_at("units", 1, *WHOLE, cwd=ready)
    kept, planned = len(journal_of(ready)), len(journal_of(finished))
    assert 0 < kept < planned
    last = raybench(*WHOLE, cwd=ready)
    assert last.returncode == 0, last.stderr
    assert "Resuming" in last.stderr
    assert f"{kept} of {planned} units" in last.stderr

    def graded(folder: Path) -> dict[tuple[Any, ...], tuple[Any, ...]]:
        names = ("model", "benchmark", "language", "key", "repeat")
        found = ("response", "answer", "correct", "by")
        return {tuple(u[n] for n in names): tuple(u[n] for n in found) for u in journal_of(folder)}

    assert len(journal_of(ready)) == len(journal_of(finished))
    assert graded(ready) == graded(finished)
    assert results_of(ready)["models"] == results_of(finished)["models"]
    assert results_of(ready)["counts"] == results_of(finished)["counts"]


@pytest.mark.usefixtures("own_ray")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_what_there_is_and_leaves_nothing_running(
    ready: Path, how: signal.Signals
) -> None:
    # One model never answers: its requests are under way when the signal comes.
    slow = THREE.replace("ability: 0.6", "ability: 0.6, latency_s: 600")
    command = (*INDEX, "roster=simulated", slow, "benchmarks=[mmlu_pro]")
    code, told = run_until("units", 1, how, *command, cwd=ready)
    assert code == 130, told
    assert "Interrupted" in told
    assert "Traceback" not in told
    assert not wait_for_silence(120)
    assert {unit["model"] for unit in journal_of(ready)} <= {"able", "dull"}


@pytest.mark.mlflow
def test_an_outage_withholds_the_score(ready: Path) -> None:
    faulty = THREE.replace("ability: 0.2", "ability: 0.2, infra_error: 0.3")
    command = (*INDEX, "roster=simulated", faulty, "benchmarks=[mmlu_pro]")
    done = raybench(*command, cwd=ready)
    assert done.returncode == 0, done.stderr
    assert "mlflow ui" in done.stdout
    models = results_of(ready)["models"]
    refused = models["dull"]["mmlu_pro/accuracy"]
    assert refused["value"] is None
    assert "await review" in refused["method"]
    assert models["able"]["mmlu_pro/accuracy"]["value"] is not None
    failures = (run_of(ready) / "failures.jsonl").read_text().splitlines()
    assert len(failures) == results_of(ready)["counts"]["dull"]["infra_error"] > 0
    assert json.loads(failures[0])["model"] == "dull"

    # Accepting them is another conclusion of the same run: nobody is asked anything again.
    journal = journal_of(ready)
    accepted = raybench(*command, "accept_failures=true", cwd=ready)
    assert accepted.returncode == 0, accepted.stderr
    assert "is finished" in accepted.stderr
    assert "index.accept_failures=true" in accepted.stderr
    assert ", accepted)" in accepted.stdout
    assert journal_of(ready) == journal
    results = results_of(ready)
    published = results["models"]["dull"]["mmlu_pro/accuracy"]
    assert published["value"] is not None
    assert f" {len(failures)} units" in published["method"]
    assert results["fleet"]["this_session"]["total"]["requests"] == 0
    assert "accept_failures: true" in (run_of(ready) / "config.yaml").read_text()
    with closing(sqlite3.connect(ready / "runs" / "mlflow.db")) as store:
        query = "SELECT run_uuid FROM tags WHERE key = 'superseded'"
        old = {run for (run,) in store.execute(query)}
    assert len(old) == 4  # the parent and three models
    assert results["run"]["mlflow_run_id"] not in old


def test_a_run_says_what_it_reads_before_it_asks(finished: Path) -> None:
    """By that `open_run` knows whether the questions are still the same."""
    inputs = json.loads((run_of(finished) / "inputs.json").read_text())
    read = results_of(finished)["run"]["data"]
    gradings = {f"{name}.grading": str(it["grading"]) for name, it in read.items()}
    expected = {name: about["digest"] for name, about in read.items()}
    assert inputs == expected | {name: it for name, it in gradings.items() if it != "1"}
    assert gradings["mmlu_pro.grading"] == "2"
    assert "inputs" not in results_of(finished)["run"], "results tell them with the data"
