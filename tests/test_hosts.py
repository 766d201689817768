"""Runs across hosts of our own, of which one is cut off in the middle."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from helpers import NEEDS_MODEL, results_of, with_store
from hosts import NEEDS_HOSTS, Host, Lan, cluster
from undisturbed import Verdict, compared, journal

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200), NEEDS_HOSTS]

FAR = ("--num-cpus=2", "--labels=far=yes")
ENGINE = "ServeReplica"
WORK = r"ray::(MapWorker\(MapBatches\((Generate|Grade)\)|_Seated|_Remote|ServeReplica)"
WORK_FAR = "fleet.work_nodes={far: yes}"
PATIENCE_S = 400
# What stays away for good is told after a while, and not in every run.
TOLD = re.compile(r"node 10\.233\.0\.\d of the cluster died")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The disk of the first host: the others do not have it."""
    return tmp_path_factory.mktemp("first")


@pytest.fixture(scope="module")
def hosts(place: Path) -> Iterator[Lan]:
    """Yield three hosts that are a cluster; work goes to the last two."""
    with cluster(("--num-cpus=1",), FAR, FAR, hidden=[place]) as found:
        yield found


@pytest.fixture
def lan(hosts: Lan) -> Lan:
    """Return them with all that were cut off before there again."""
    for host in [*hosts.off]:
        hosts.bring_back(host, *FAR)
    return hosts


def cut(lan: Lan, host: Host) -> None:
    """Pull a host's cable, and kill its raylet a little later."""
    lan.cut(host)
    time.sleep(1)
    host.kill("raylet")


def wait(run: "Popen[str]", happened: Callable[[], Any]) -> Any:
    """Wait until something has happened in a run that goes on."""
    until = time.monotonic() + PATIENCE_S
    while not (found := happened()):
        if run.poll() is not None or time.monotonic() > until:
            told = run.stdout.read() if run.stdout and run.poll() is not None else "no end"
            pytest.fail(f"it never happened: {told}")
        time.sleep(0.2)
    return found


def ended(run: "Popen[str]") -> str:
    """Return what a run has said, which ended well and in its own words."""
    told, _ = run.communicate(timeout=PATIENCE_S)
    assert run.returncode == 0, told
    assert "raylet" not in told
    return told


def working(lan: Lan, name: str) -> Host | None:
    """Return the host on which such an actor works, for which the first one is not meant."""
    assert not lan.hosts[0].actors(name)
    there = (host for host in lan.hosts[1:] if host not in lan.off)
    return next((host for host in there if host.actors(name)), None)


def started(lan: Lan, folder: Path, *arguments: str) -> "Popen[str]":
    """Start a run on the first host, with all that it writes on that host's disk."""
    (folder / "scratch").mkdir(parents=True)
    return lan.raybench(*arguments, cwd=with_store(folder), scratch=folder / "scratch")


@pytest.mark.parametrize(
    ("experiment", "asked", "actor", "units"),
    [
        # The graph's own actors, before anything is finished; programs run on every host.
        (
            "index",
            ["data=samples", "index.benchmarks=[humaneval,mmlu_pro]"],
            "MapWorker(MapBatches(Generate))",
            0,
        ),
        ("autobench", ["autobench.iterations=260"], "_Seated", 1),
        ("games", ["games.names=[liars_dice]", "games.matches=4000"], "_Remote", 1),
    ],
    ids=["benchmarks", "peers", "games"],
)
def test_what_a_host_had_begun_that_dies_is_done_by_others(
    experiment: str, asked: list[str], actor: str, units: int, lan: Lan, place: Path
) -> None:
    calm, rough = place / f"{experiment}-calm", place / f"{experiment}-rough"
    asked = [f"+experiment={experiment}", "roster=simulated", WORK_FAR, *asked]
    ended(started(lan, calm, *asked))
    run = started(lan, rough, *asked)
    host = wait(run, lambda: working(lan, actor))
    wait(run, lambda: len(journal(rough, experiment)) >= units)
    assert not lan.hosts[0].processes(WORK)
    cut(lan, host)
    told = ended(run)
    assert TOLD.search(told), told
    verdict = compared(rough, calm, experiment)
    assert verdict.planned > 100
    assert verdict == Verdict(verdict.planned, lost=0, doubled=0)


@NEEDS_MODEL
@pytest.mark.engine
def test_engines(lan: Lan, place: Path) -> None:
    """An engine whose host dies comes up on another that is meant for it, and is asked again."""
    run = started(
        lan, place / "engines", "+experiment=autobench", "roster=embedded_pair",
        "autobench.iterations=2", "autobench.at_once=1", "autobench.task_tokens=16",
        "autobench.answer_tokens=16", "fleet.nodes={far: yes}",
    )  # fmt: skip
    wait(run, lambda: journal(place / "engines", "autobench"))
    cut(lan, wait(run, lambda: working(lan, ENGINE)))
    wait(run, lambda: working(lan, ENGINE))
    told = ended(run)
    assert TOLD.search(told), told
    found = [it["iteration"] for it in journal(place / "engines", "autobench")]
    assert found == [1, 2]
    counts = results_of(place / "engines", "autobench")["counts"]
    assert all(it["infra_error"] == 0 for it in counts.values())
