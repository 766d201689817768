"""Runs on a cluster that has no node for them yet: Ray's autoscaler is asked, and brings some."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen

import pytest
from clusters import NO_TOKEN, scaled
from helpers import NEEDS_MODEL, results_of, start_raybench, with_store
from ray.autoscaler.v2.schema import ClusterStatus
from ray.autoscaler.v2.sdk import get_cluster_status

pytestmark = [pytest.mark.ray, pytest.mark.timeout(1800)]

KINDS = {
    "cpu": {
        "max_workers": 2,
        "resources": {"CPU": 2},
        "labels": {"raybench/sandbox": "yes", "zone": "far"},
    },
    "gpu": {"max_workers": 1, "resources": {"CPU": 1, "GPU": 2}},
}
PATIENCE_S = 600
GPUS = ("+experiment=autobench", "roster=embedded_pair", "fleet.device=gpu", "fleet.gpus=2")


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


def demands(status: ClusterStatus) -> list[tuple[str, dict[str, float]]]:
    """Return strategy and resources of each bundle of the placement groups that wait."""
    return [
        (group.strategy or "", dict(bundles.bundle))
        for group in status.resource_demands.placement_group_demand
        for bundles in group.bundles_by_count
        for _ in range(bundles.count)
    ]


def asks_for_nothing(status: ClusterStatus) -> bool:
    """Return whether nobody waits for resources."""
    asked = status.resource_demands
    return not (
        asked.placement_group_demand
        or asked.ray_task_actor_demand
        or any(each.bundles_by_count for each in asked.cluster_constraint_demand)
    )


def active(status: ClusterStatus) -> set[str]:
    """Return the kinds of nodes, of those that come and go, of which some are there."""
    there = (*status.active_nodes, *status.idle_nodes)
    return {node.ray_node_type_name for node in there} & KINDS.keys()


def pending(status: ClusterStatus) -> set[str]:
    """Return the kinds of nodes of which some are on their way."""
    return {it.ray_node_type_name for it in (*status.pending_nodes, *status.pending_launches)}


def wait_until(
    happened: Callable[[ClusterStatus], bool], run: "Popen[str] | None" = None
) -> ClusterStatus:
    """Wait until the autoscaler reports something; return its report."""
    deadline = time.monotonic() + PATIENCE_S
    while not happened(status := get_cluster_status(os.environ["RAY_ADDRESS"], timeout=60)):
        over = run is not None and run.poll() is not None
        if over or time.monotonic() > deadline:
            output = run.communicate()[0] if run is not None and over else ""
            pytest.fail(f"it never happened: {status}\n{output}")
        time.sleep(0.2)
    return status


def finish(run: "Popen[str]") -> None:
    """Wait until a run has ended well, asks for nothing more, and its nodes may go."""
    output, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, output
    wait_until(lambda status: asks_for_nothing(status) and not active(status))


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
                "games.matches=2000",  # fewer are played without a cluster
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
    status = wait_until(lambda status: bool(demands(status)), run)
    assert demands(status) == [("PACK", {"CPU": 1.0})]
    assert run.stdout is not None
    assert any(awaited in line for line in run.stdout)
    come.touch()
    finish(run)
    assert not results_of(tmp_path, experiment)["run"].get("failed")


def test_a_run_that_is_killed_asks_for_nothing_any_more(folder: Path, tmp_path: Path) -> None:
    (folder / "come").unlink(missing_ok=True)
    run = start_raybench(
        "+experiment=games", "roster=simulated", "games.names=[liars_dice]", "games.matches=2000",
        "fleet.work_nodes={zone: far}", "console.mode=plain", cwd=with_store(tmp_path),
    )  # fmt: skip
    wait_until(lambda status: bool(demands(status)), run)
    run.kill()
    run.wait()
    wait_until(asks_for_nothing)


@NEEDS_MODEL
@pytest.mark.long(
    short="tests/test_demands.py::test_a_run_that_is_killed_asks_for_nothing_any_more"
)
def test_gpus_are_asked_for_as_many_as_are_named_until_the_run_is_killed(
    folder: Path, tmp_path: Path
) -> None:
    """Nobody has them here: that a node with them is begun shows that it would come."""
    (folder / "come").unlink(missing_ok=True)
    run = start_raybench(*GPUS, "console.mode=plain", cwd=with_store(tmp_path))
    wanted = [("PACK", {"GPU": 1.0})] * 2
    wait_until(lambda status: demands(status) == wanted and "gpu" in pending(status), run)
    assert run.stdout is not None
    assert any("2 GPUs" in line and "autoscaler" in line for line in run.stdout)
    run.kill()
    run.wait()
    wait_until(asks_for_nothing)
