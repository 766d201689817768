"""A real tracking server, which keeps artifacts for its clients, and dies when it suits nobody."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import ROOT, raybench, start_raybench
from listening import listeners
from ports import free_port
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

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), pytest.mark.mlflow]


def test_a_server_that_dies_on_the_way_and_comes_back(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("raybench.tracking.mlflow.sender._AGAIN_S", 0.5)
    monkeypatch.setattr("raybench.tracking.mlflow.sender._PATIENCE_S", 200.0)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    server.start()
    whole_run(server.uri, tmp_path / "whole")
    (whole,) = [run for run in contents(server.uri) if run["model"] == "alpha"]
    assert list((tmp_path / "server" / "kept").rglob("report.html"))  # it has them, not we

    warnings: list[str] = []
    torn = opened(server.uri, tmp_path / "torn", warnings)
    told(torn, 1)
    assert torn.run_id
    server.kill()
    told(torn, 2)
    wait_for(lambda: bool(warnings), 200)
    server.start()
    told(torn, 3)
    torn.finish(RESULTS, [])
    torn.close()
    assert len(warnings) == 2
    assert server.uri in warnings[0]
    assert "answers again" in warnings[1]
    alphas = [run for run in contents(server.uri) if run["model"] == "alpha"]
    assert alphas == [whole, whole]

    late: list[str] = []
    third = opened(server.uri, tmp_path / "third", late)
    assert third.run_id
    server.kill()
    told(third)
    report = shutil.copy(tmp_path / "whole" / "report.html", tmp_path / "third")
    third.finish(RESULTS, [Path(report)])
    third.close()
    assert len(late) == 1
    assert not third.complete
    server.start()
    assert main(["sync", str(tmp_path / "third")]) == 0
    alphas = [run for run in contents(server.uri) if run["model"] == "alpha"]
    assert alphas == [whole] * 3
    assert children(tmp_path / "third")
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out.count("\n") == 1


def test_a_run_whose_server_dies_in_the_middle_is_the_same_run(
    server: Server, tmp_path: Path
) -> None:
    """As people meet it: the program, a server that is killed, and the command that mends it."""
    server.start()
    command = [
        "+experiment=games", "roster=simulated", "games.matches=60", "games.bootstrap=200",
        f"tracking.uri={server.uri}",
    ]  # fmt: skip
    run = start_raybench(*command, cwd=tmp_path)

    def under_way() -> bool:
        return any(tmp_path.glob(f"runs/games/*/{spool.SENT}"))

    wait_for(under_way, 280)
    server.kill()
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
    assert "MLflow was sent what an earlier run had not sent" in done.stderr
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
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert (again.returncode, "nothing to send" in again.stdout) == (0, True), again.stderr


def test_one_command_on_one_machine_serves_a_team(tmp_path: Path) -> None:
    """As mlflow/README.md says: the script, and a client's files in the folder that it names."""
    port = free_port()
    process = subprocess.Popen(
        [str(ROOT / "mlflow" / "serve.sh"), str(tmp_path / "team")],
        env={
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "PORT": str(port),
            "MLFLOW_DISABLE_TELEMETRY": "true",
        },
        cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    served = Server(tmp_path, port)
    served._process = process
    try:
        wait_for(served.answers, 280)
        there = [it for it in listeners() if it.port == port]
        assert there and all(it.inside for it in there), there
        tracker = whole_run(served.uri, tmp_path / "run")
        assert client_of(served.uri).get_run(tracker.run_id).info.status == "FINISHED"
        assert list((tmp_path / "team" / "artifacts").rglob("report.html"))
        assert (tmp_path / "team" / "mlflow.db").exists()
    finally:
        served.kill()
