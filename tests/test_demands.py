"""Runs on a cluster that has no node for them yet: Ray's autoscaler is asked, and brings some."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from clusters import NO_TOKEN, RAY, scaled
from helpers import NEEDS_MODEL, results_of, start_raybench, with_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KINDS = {
    "cpu": {
        "max_workers": 2,
        "resources": {"CPU": 2},
        "labels": {"raybench/sandbox": "yes", "zone": "far"},
    },
    "gpu": {"max_workers": 1, "resources": {"CPU": 1, "GPU": 2}},
}
PATIENCE_S = 180
GPUS = ("+experiment=autobench", "roster=embedded_pair", "fleet.device=gpu", "fleet.gpus=2")
DEMAND = re.compile(r"^ \{'(\w+)': 1\.0\} \* 1 \(PACK\): (\d+)\+? pending placement groups$", re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """A head on which a run has all it wants, but for nodes that it is to choose."""
    with scaled(2, KINDS, folder) as address:
        yield address


@pytest.fixture(autouse=True)
def on_it(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**NO_TOKEN, "RAY_ADDRESS": address}.items():
        monkeypatch.setenv(name, value)


def status() -> str:
    """Return what an operator sees."""
    return subprocess.run(
        [RAY, "status", "--address", os.environ["RAY_ADDRESS"]],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


def active(told: str) -> dict[str, int]:
    """Return how many nodes there are of each kind that comes and goes."""
    nodes = told.partition("Active:")[2].partition("Pending:")[0]
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (cpu|gpu)$", nodes, re.M)}


def pending(told: str) -> str:
    """Return what is told of nodes that are on their way."""
    return told.partition("Pending:")[2].partition("Recent failures:")[0]


def seen(happened: Callable[[str], bool], run: "Popen[str] | None" = None) -> str:
    """Wait until an operator sees something."""
    until = time.monotonic() + PATIENCE_S
    while not happened(told := status()):
        over = run is not None and run.poll() is not None
        if over or time.monotonic() > until:
            said = run.communicate()[0] if run is not None and over else ""
            pytest.fail(f"it never happened: {told}\n{said}")
        time.sleep(0.5)
    return told


def ended(run: "Popen[str]") -> str:
    told, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, told
    # What was asked for is not asked for any more, and what has come may go.
    seen(lambda told: asks_for_nothing(told) and not active(told))
    return told


def asks_for_nothing(told: str) -> bool:
    return "no resource demands" in told


@pytest.mark.parametrize(
    ("experiment", "asked", "awaited"),
    [
        (
            "index",
            [
                "data=samples",
                "index.benchmarks=[humaneval]",
                "sandbox.nodes={raybench/sandbox: yes}",
            ],
            "waiting for a node for programs with raybench/sandbox=yes (sandbox.nodes), asked of",
        ),
        (
            "games",
            [
                "games.names=[liars_dice]",
                "games.matches=2000",
                "fleet.work_nodes={zone: 'in(near, far)'}",
            ],
            "waiting for a node with zone=in(near, far), asked of the autoscaler",
        ),
    ],
    ids=["programs", "matches"],
)
def test_what_is_lacking_is_asked_for_and_waited_for(
    experiment: str, asked: list[str], awaited: str, folder: Path, tmp_path: Path
) -> None:
    come = folder / "come"
    come.unlink(missing_ok=True)
    run = start_raybench(
        f"+experiment={experiment}", "roster=simulated", "console.mode=plain", *asked,
        cwd=with_store(tmp_path),
    )  # fmt: skip
    told = seen(lambda told: bool(DEMAND.search(told)), run)
    assert DEMAND.findall(told) == [("CPU", "1")]
    assert run.stdout is not None
    assert any(awaited in line for line in run.stdout)
    come.touch()
    ended(run)
    assert not results_of(tmp_path, experiment)["run"].get("failed")


@NEEDS_MODEL
def test_gpus_are_asked_for_as_many_as_are_named_until_the_run_is_killed(
    folder: Path, tmp_path: Path
) -> None:
    """Nobody has them here: that a node with them is begun shows that it would come."""
    (folder / "come").unlink(missing_ok=True)
    run = start_raybench(*GPUS, "console.mode=plain", cwd=with_store(tmp_path))
    wanted = [("GPU", "2")]
    seen(lambda told: DEMAND.findall(told) == wanted and " gpu, " in pending(told), run)
    assert run.stdout is not None
    assert any("waiting for 2 GPUs, asked of the autoscaler" in line for line in run.stdout)
    run.kill()
    run.wait()
    seen(asks_for_nothing)
