"""A real tracking server, which keeps artifacts for its clients, and dies when it suits nobody.

One server is started for the whole file; whoever kills it starts it again.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Seen
from helpers import raybench, start_raybench
from listening import listeners
from tracked import (
    RESULTS,
    Server,
    children,
    client_of,
    contents,
    opened,
    told,
    wait_for,
    whole_run,
)

from raybench.tracking.__main__ import main
from raybench.tracking.mlflow import spool

pytestmark = pytest.mark.timeout(1200)

_PATIENCE_MS = 120_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = Server(tmp_path_factory.mktemp("server")).start()
    yield found
    found.kill()


@pytest.mark.process
def test_one_command_on_one_machine_serves_a_team(server: Server, tmp_path: Path) -> None:
    """As mlflow/README.md says: the script, and a client's files in the folder that it names."""
    port = int(server.uri.rpartition(":")[2])
    there = [it for it in listeners() if it.port == port]
    assert there and all(it.inside for it in there), there
    tracker = whole_run(server.uri, tmp_path, experiment="team")
    assert client_of(server.uri).get_run(tracker.run_id).info.status == "FINISHED"
    assert list((server.folder / "artifacts").rglob("report.html"))  # it has them, not we
    assert (server.folder / "mlflow.db").exists()


@pytest.mark.browser
def test_a_run_is_found_opened_and_compared(server: Server, tmp_path: Path, seen: Seen) -> None:
    """Go through MLflow's own pages as somebody does who compares two models.

    What MLflow's pages complain of by themselves is not ours to fix.
    """
    tracker = whole_run(server.uri, tmp_path, experiment="pages")
    models = children(tmp_path)
    seen.page.set_default_timeout(_PATIENCE_MS)
    experiment = client_of(server.uri).get_experiment_by_name("pages").experiment_id
    runs = f"{server.uri}/#/experiments/{experiment}/runs"

    def there(text: str) -> None:
        seen.page.get_by_text(text).first.wait_for()

    seen.page.goto(runs)
    there("run one")
    seen.picture("mlflow-runs")

    seen.page.goto(f"{runs}/{tracker.run_id}")
    there("Board")  # the leaderboard, as the run's description
    seen.picture("mlflow-run")

    ids = json.dumps([models["alpha"], models["beta"]])
    seen.page.goto(f"{server.uri}/#/compare-runs?runs={ids}&experiments={json.dumps([experiment])}")
    there("Comparing 2 Runs from 1 Experiment")
    there("demo/score/ci_low")
    body = seen.page.inner_text("body")
    for text in ("alpha", "beta", "0.7", "0.4", "demo/score"):
        assert text in body
    seen.picture("mlflow-compare")


@pytest.mark.process
def test_a_server_that_dies_on_the_way_and_comes_back(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("raybench.tracking.mlflow.sender._AGAIN_S", 0.5)
    monkeypatch.setattr("raybench.tracking.mlflow.sender._PATIENCE_S", 200.0)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    whole_run(server.uri, tmp_path / "whole")
    (whole,) = [run for run in contents(server.uri) if run["model"] == "alpha"]

    torn_warnings: list[str] = []
    torn = opened(server.uri, tmp_path / "torn", torn_warnings)
    told(torn, 1)
    late_warnings: list[str] = []
    late = opened(server.uri, tmp_path / "late", late_warnings)
    assert torn.run_id and late.run_id
    server.kill()
    told(torn, 2)
    told(late)
    report = shutil.copy(tmp_path / "whole" / "report.html", tmp_path / "late")
    late.finish(RESULTS, [Path(report)])
    late.close()
    assert len(late_warnings) == 1
    assert not late.complete
    wait_for(lambda: bool(torn_warnings), 200)

    server.start()
    told(torn, 3)
    torn.finish(RESULTS, [])
    torn.close()
    assert len(torn_warnings) == 2
    assert server.uri in torn_warnings[0]
    assert "answers again" in torn_warnings[1]
    assert main(["sync", str(tmp_path / "late")]) == 0
    alphas = [run for run in contents(server.uri) if run["model"] == "alpha"]
    assert alphas == [whole] * 3
    assert children(tmp_path / "late")
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out.count("\n") == 1


@pytest.mark.ray
@pytest.mark.mlflow
@pytest.mark.long(
    short="tests/chaos/test_chaos.py::test_a_disturbed_run_ends_as_an_undisturbed_one"
)
@pytest.mark.usefixtures("on_lasting_ray")
def test_a_run_whose_server_dies_in_the_middle_is_the_same_run(
    server: Server, tmp_path: Path
) -> None:
    """As users meet it: the program, a server that is killed, and the command that fixes it."""
    command = [
        "+experiment=games", "roster=simulated", "games.matches=60", "games.bootstrap=200",
        f"tracking.uri={server.uri}",
    ]  # fmt: skip
    run = start_raybench(*command, cwd=tmp_path)
    wait_for(lambda: any(tmp_path.glob(f"runs/games/*/{spool.SENT}")), 280, every_s=0.02)
    os.kill(run.pid, signal.SIGSTOP)  # it ends while the server is down, however slow that is
    server.kill()
    os.kill(run.pid, signal.SIGCONT)
    out, _ = run.communicate(timeout=500)
    assert run.returncode == 0, out
    assert out.count("MLflow failed") == 1
    assert "python -m raybench.tracking sync runs/games/" in out

    server.start()
    # The next run against the same server brings it, and says so.
    done = raybench(
        "+experiment=autobench", "roster=simulated", "autobench.iterations=2",
        f"tracking.uri={server.uri}", cwd=tmp_path, timeout=500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "earlier run" in done.stderr
    found = contents(server.uri, "raybench")
    parents = {run["tags"]["experiment"]: run for run in found if run["model"] == ""}
    assert {run["status"] for run in found} == {"FINISHED"}
    assert {"report.html", "results.json", "journal.json", "config.yaml"} <= {
        *parents["games"]["files"]
    }
    assert len([run for run in found if run["tags"]["experiment"] == "games"]) == 13
    (folder,) = (tmp_path / "runs" / "games").iterdir()
    again = subprocess.run(
        [sys.executable, "-m", "raybench.tracking", "sync", str(folder)],
        cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith(f"{folder}: nothing ")
