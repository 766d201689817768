"""A run whose engines swap, or of which one cannot be had: what is told, written and tracked."""

import asyncio
import io
import json
import re
import shutil
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from helpers import SIMULATED, only_run, with_store
from in_process import without_plots
from statements import values

from raybench import cli
from raybench.config import FleetConf
from raybench.engines.scheduler.move_costs import Swaps
from raybench.experiments.parts import opening, session
from raybench.experiments.parts.outcome import Outcome, commonest, silent
from raybench.fleet import Account, Fleet, group_engines
from raybench.fleet.simulated import SimulatedEngine
from raybench.pipeline.store import Run
from raybench.tournament import reliability
from raybench.tracking.console import Progress
from raybench.tracking.mlflow import killed, spool
from raybench.types import Completion, Counts, ModelSpec, Request

pytestmark = pytest.mark.process

REASON = "engine e did not start: no weights. Download them"
BROKEN = "sim-02"


class Lacking(SimulatedEngine):
    """Stand-ins of which one cannot be had."""

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        if model.name == BROKEN:
            return [Completion.failed(REASON) for _ in requests]
        return await super().complete(model, requests)


@dataclass
class Ended:
    """What is left of a run."""

    folder: Path
    code: int
    out: str
    err: str

    @property
    def results(self) -> Any:
        return json.loads((only_run(self.folder) / "results.json").read_text())


def ended(folder: Path, *, broken: bool) -> Ended:
    @asynccontextmanager
    async def open_fleet(
        models: Sequence[ModelSpec], conf: FleetConf, say: Any, **_: Any
    ) -> AsyncIterator[Fleet]:
        specs = group_engines(models)
        engine = Lacking() if broken else SimulatedEngine()
        fleet = Fleet(specs, {spec.name: engine for spec in specs})
        fleet.account.swaps = Swaps(count=3, seconds=12.5, share=0.25, loads=5)
        if broken:
            fleet.account.failed = {BROKEN: REASON}
        yield fleet

    out, err = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.MonkeyPatch.context() as patched,
        without_plots(),
    ):
        patched.chdir(folder)
        patched.setattr(session, "open_fleet", open_fleet)
        code = cli._job(cli.compose([*SIMULATED, "autobench.iterations=3"]))
    return Ended(folder, code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    folder = with_store(tmp_path_factory.mktemp("failed"))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RAYBENCH_TRACKING_SEND", "now")
        return ended(folder, broken=True)


def runs(folder: Path) -> dict[str, Any]:
    """The MLflow runs by model; the parent has none."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/runs/mlflow.db")
    experiment = client.get_experiment_by_name("raybench")
    return {
        run.data.tags.get("model", ""): run
        for run in client.search_runs([experiment.experiment_id])
    }


def test_the_run_ends_as_failed_with_one_message(failed: Ended) -> None:
    assert failed.code == 1
    assert "Traceback" not in failed.err
    end = failed.err.split("raybench: ")[-1]
    assert end.startswith("1 of 12 models ")
    assert f"{BROKEN}: {REASON}" in end
    assert str(only_run(failed.folder).relative_to(failed.folder)) in end
    assert "same command" in end and "Failed: " not in failed.err


def test_the_reason_is_told_once_when_it_is_known_while_the_others_go_on(failed: Ended) -> None:
    before, end = failed.err.split("raybench: ")
    assert before.count(REASON) == 1
    assert re.search(f"warning: {BROKEN} [^:]+: {re.escape(REASON)}", before)
    assert before.index(REASON) < before.rindex("3/3 iterations")
    assert end.count(REASON) == 1


def test_what_the_others_did_is_all_there(failed: Ended) -> None:
    run = only_run(failed.folder)
    assert failed.results["run"]["failed"] == {BROKEN: REASON}
    assert failed.results["run"]["units"] == 3
    counts = failed.results["counts"]
    assert counts[BROKEN]["ok"] == 0 < counts[BROKEN]["infra_error"]
    assert counts["sim-01"]["infra_error"] == 0 < counts["sim-01"]["ok"]
    assert f"{BROKEN}: {REASON}" in (run / "report.html").read_text(encoding="utf-8")
    assert REASON in (run / "failures.jsonl").read_text()
    assert "sim-01" in failed.out
    assert "results.json" in failed.out


def test_mlflow_has_the_run_as_failed_with_the_reason_and_the_numbers(failed: Ended) -> None:
    found = runs(failed.folder)
    assert {model for model, run in found.items() if run.info.status == "FAILED"} == {"", BROKEN}
    assert {run.info.status for run in found.values()} == {"FAILED", "FINISHED"}
    assert found[""].data.tags["reason"] == f"{BROKEN}: {REASON}"
    assert found[BROKEN].data.tags["reason"] == REASON
    assert "autobench/score" in found["sim-01"].data.metrics


def test_the_same_command_then_starts_a_new_run(failed: Ended) -> None:
    first = only_run(failed.folder)
    again = ended(failed.folder, broken=False)
    assert again.code == 0
    assert "Resuming" not in again.err
    assert len(list(first.parent.iterdir())) == 2


@pytest.mark.mlflow
def test_swaps_are_shown_and_reach_mlflow(ready: Path) -> None:
    run = ended(ready, broken=False)
    assert run.code == 0
    assert "3 swaps (25%" in run.err
    total = run.results["fleet"]["this_session"]["total"]
    assert (total["swaps"], total["swap_seconds"], total["swap_share"]) == (3, 12.5, 0.25)
    assert "failed" not in run.results["run"]
    page = (only_run(ready) / "report.html").read_text()
    assert "12.5 s, 25.0%" in page
    parent = runs(ready)[""]
    assert parent.info.status == "FINISHED"
    shown = {name: parent.data.metrics[f"fleet/{name}"] for name in total if "swap" in name}
    assert shown == {"swaps": 3, "swap_seconds": 12.5, "swap_share": 0.25}


def test_swaps_are_shown_while_a_unit_is_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, float, Sequence[str]]] = []
    accounts: list[Account] = []

    class Swapping(SimulatedEngine):
        """Works for as long as it takes that somebody sees it swap."""

        async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
            async with asyncio.timeout(60):
                while not any(shown[0] == 2 for shown in seen):
                    accounts[0].swaps = Swaps(count=2, share=0.5)
                    accounts[0].arriving = ["sim-01"]
                    await asyncio.sleep(0.01)
            return await super().complete(model, requests)

    @asynccontextmanager
    async def open_fleet(
        models: Sequence[ModelSpec], conf: FleetConf, say: Any, **_: Any
    ) -> AsyncIterator[Fleet]:
        specs = group_engines(models)
        fleet = Fleet(specs, {spec.name: Swapping() for spec in specs})
        accounts.append(fleet.account)
        yield fleet

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(session, "open_fleet", open_fleet)
    monkeypatch.setattr(session, "_LOOK_S", 0.02)
    monkeypatch.setattr(Progress, "swapped", lambda _, *shown: seen.append(shown))
    assert cli._job(cli.compose([*SIMULATED, "autobench.iterations=1"])) == 0
    assert (2, 0.5, ["sim-01"]) in seen


def test_the_plan_counts_the_engines_that_are_awake_at_once(tmp_path: Path) -> None:
    from raybench.experiments import autobench

    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").touch()
    models = [f"{{name: {name}, engine: vllm, weights: {tmp_path / name}}}" for name in "abc"]
    roster = ["+experiment=autobench", f"roster.models=[{','.join(models)}]", "fleet.device=cpu"]
    config = cli.check(cli.compose([*roster, "fleet.kv_cache_gib=0.1", "fleet.slots=2"]))
    plan = autobench.plan(config)
    assert plan.slots == 2
    assert values(plan.notes[-1]) == {"engines": 3, "slots": 2}
    config.fleet.slots = 3
    assert autobench.plan(config).slots == 3
    assert "turns" not in str(autobench.plan(config).notes)


def test_who_never_replied_has_failed_for_the_commonest_reason() -> None:
    counts = {"mute": Counts(infra_error=3), "shaky": Counts(ok=1, infra_error=2), "well": Counts()}
    failures = [{"model": "mute", "why": why} for why in ("HTTP 500", "HTTP 401", "HTTP 401")]
    found = silent(counts, failures)
    assert [*found] == ["mute"]
    assert "3" in found["mute"] and found["mute"].endswith(": HTTP 401")


def test_why_calls_got_no_reply_is_told_by_those_that_got_none() -> None:
    """A model's forfeits outnumber its lost calls, and were told as their reason."""
    failures = [
        *[{"model": "a", "kind": "forfeit", "why": "invalid moves"}] * 3,
        *[{"model": "a", "kind": "vote missing", "why": "no JSON"}] * 2,
        {"model": "a", "kind": "void", "why": "HTTP 500"},
    ]
    outcome = Outcome({}, {}, failures, (), (), replied=reliability.REPLIED)
    assert commonest(outcome.lost, "a") == "HTTP 500"
    asked = Outcome({}, {}, [{"model": "a", "why": "HTTP 401"}], (), ())
    assert commonest(asked.lost, "a") == "HTTP 401", "other experiments' have no kind"


def test_who_was_heard_otherwise_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conclude = session.Session.conclude

    def mute(self: session.Session, outcome: Outcome) -> None:
        counts = {
            **outcome.counts,
            "sim-01": Counts(infra_error=2),
            "sim-02": Counts(infra_error=1),
        }
        conclude(self, replace(outcome, counts=counts, heard=["sim-01"]))

    monkeypatch.setattr(session.Session, "conclude", mute)
    assert list(ended(tmp_path, broken=False).results["run"]["failed"]) == ["sim-02"]


@pytest.mark.mlflow
def test_what_is_not_to_be_published_stays_in_the_runs_folder(
    ready: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conclude = session.Session.conclude

    def with_files(self: session.Session, outcome: Outcome) -> None:
        files, unshared = {"open.jsonl": [{"a": 1}]}, {"kept.jsonl": [{"b": 2}]}
        conclude(self, replace(outcome, files=files, unshared=unshared))

    monkeypatch.setattr(session.Session, "conclude", with_files)
    assert ended(ready, broken=False).code == 0
    assert (only_run(ready) / "kept.jsonl").read_text() == '{"b": 2}\n'
    stored = [path.name for path in (ready / "runs" / "mlartifacts").rglob("*.jsonl")]
    assert "open.jsonl" in stored
    assert "kept.jsonl" not in stored


def told(folder: Path) -> list[Any]:
    """Return what MLflow is to be told of a run, but for when it ended."""
    entries = (entry for entry, _ in spool.read(folder))
    return [{name: it for name, it in entry.items() if name != "ended_ms"} for entry in entries]


def test_a_run_that_is_killed_once_its_results_are_there_is_told_as_if_it_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Run.write_json

    def watched(self: Run, name: str, value: Any) -> Path:
        """Keep what a kill would leave, just before and after."""
        if name == "results.json":
            shutil.copytree(self.folder, tmp_path / "before")
        path = write(self, name, value)
        if name == "results.json":
            shutil.copytree(self.folder, tmp_path / "after")
        return path

    monkeypatch.setattr(Run, "write_json", watched)
    (tmp_path / "here").mkdir()
    assert ended(tmp_path / "here", broken=True).code == 1
    whole = only_run(tmp_path / "here")
    for name in ("before", "after"):
        assert killed.was(tmp_path / name), "MLflow is told of an end before that is on the disk"
        killed.tell(tmp_path / name)
    assert [it["status"] for it in told(tmp_path / "before") if it["kind"] == "end"] == ["KILLED"]
    assert told(tmp_path / "after") == told(whole)


async def test_other_runs_go_on_while_one_waits_for_mlflow() -> None:
    went_on, seen = threading.Event(), []

    class Waiting:
        def close(self) -> None:
            seen.append(went_on.wait(60))

    async def other() -> None:
        went_on.set()

    await asyncio.gather(opening._closed(cast(Any, Waiting())), other())
    assert seen == [True]
