"""Runs across hosts of our own, of which one is cut off in the middle."""

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from helpers import NEEDS_MODEL, last_run, results_of, with_store
from hosts import NEEDS_HOSTS, Host, Lan, cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), NEEDS_HOSTS]

FAR = ("--num-cpus=2", "--labels=far=yes")
WORK_FAR = "fleet.work_nodes={far: yes}"
PATIENCE_S = 240
# What stays away for good is told after a while, and not in every run.
TOLD = re.compile(r"node 10\.233\.0\.\d of the cluster died")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The disk of the first host: the others do not have it."""
    return tmp_path_factory.mktemp("disk")


@pytest.fixture(scope="module")
def lan(place: Path) -> Iterator[Lan]:
    """Yield three hosts that are a cluster; work goes to the last two."""
    with cluster(("--num-cpus=1",), FAR, FAR, hidden=[place]) as found:
        yield found


def cut(lan: Lan, host: Host) -> None:
    """Pull a host's cable, and kill its raylet a little later."""
    lan.cut(host)
    time.sleep(1)
    host.kill("raylet")


def back(lan: Lan, host: Host) -> None:
    """Have a host that was cut off join the cluster again, as one that was started anew."""
    lan.mend(host)
    host.clear()
    lan.join(host, *FAR)


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
    """Return the host on which such an actor works."""
    return next((host for host in lan.hosts[1:] if host.actors(name)), None)


def lines(folder: Path, experiment: str, journal: str) -> list[dict[str, Any]]:
    """Return what a journal of the last run holds by now."""
    try:
        path = last_run(folder, experiment) / "journal" / f"{journal}.jsonl"
        return [
            json.loads(it) for it in path.read_bytes().splitlines(keepends=True) if it[-1:] == b"\n"
        ]
    except (FileNotFoundError, ValueError):
        return []


def numbers(folder: Path, experiment: str) -> dict[str, Any]:
    """Return what a run came to, without what two runs may differ in."""
    found = results_of(folder, experiment)
    return {"models": found["models"], "counts": found["counts"]}


def started(lan: Lan, folder: Path, *arguments: str) -> "Popen[str]":
    """Start a run on the first host, with all that it writes on that host's disk."""
    (folder / "scratch").mkdir(parents=True)
    return lan.raybench(*arguments, cwd=with_store(folder), scratch=folder / "scratch")


def test_benchmarks(lan: Lan, place: Path) -> None:
    """Programs run on every host; what a host had begun that dies is done by the others."""
    asked = (
        "+experiment=index", "roster=simulated", "data=samples", WORK_FAR,
        "index.benchmarks=[humaneval,mmlu_pro]",
    )  # fmt: skip
    calm, rough = place / "calm", place / "rough"
    ended(started(lan, calm, *asked))
    run = started(lan, rough, *asked)
    host = wait(run, lambda: working(lan, "MapWorker(MapBatches(Generate))"))
    cut(lan, host)
    told = ended(run)
    assert TOLD.search(told), told
    units = [
        (it["model"], it["benchmark"], it["key"], it["repeat"])
        for it in lines(rough, "index", "units")
    ]
    assert 0 < len(units) == len({*units}) == len(lines(calm, "index", "units"))
    assert numbers(rough, "index") == numbers(calm, "index")
    back(lan, host)


def test_peers(lan: Lan, place: Path) -> None:
    asked = ("+experiment=autobench", "roster=simulated", "autobench.iterations=260", WORK_FAR)
    calm, rough = place / "calm-peers", place / "rough-peers"
    ended(started(lan, calm, *asked))
    run = started(lan, rough, *asked)
    host = wait(run, lambda: working(lan, "_Seated"))
    wait(run, lambda: lines(rough, "autobench", "iterations"))
    cut(lan, host)
    told = ended(run)
    assert TOLD.search(told), told
    found = [it["iteration"] for it in lines(rough, "autobench", "iterations")]
    assert found == list(range(1, 261))
    assert numbers(rough, "autobench") == numbers(calm, "autobench")
    back(lan, host)


def test_games(lan: Lan, place: Path) -> None:
    asked = (
        "+experiment=games", "roster=simulated", "games.names=[liars_dice]", WORK_FAR,
        "games.matches=4000",
    )  # fmt: skip
    calm, rough = place / "calm-games", place / "rough-games"
    ended(started(lan, calm, *asked))
    run = started(lan, rough, *asked)
    host = wait(run, lambda: working(lan, "_Remote"))
    wait(run, lambda: lines(rough, "games", "matches"))
    cut(lan, host)
    told = ended(run)
    assert TOLD.search(told), told
    found = {it["match"]: it["scores"] for it in lines(rough, "games", "matches")}
    assert len(found) == len(lines(rough, "games", "matches")) == 4000
    assert found == {it["match"]: it["scores"] for it in lines(calm, "games", "matches")}
    assert numbers(rough, "games") == numbers(calm, "games")
    back(lan, host)


@NEEDS_MODEL
@pytest.mark.engines
def test_engines(lan: Lan, place: Path) -> None:
    """An engine whose host dies comes up on another one, and is asked again."""
    run = started(
        lan, place / "engines", "+experiment=autobench", "roster=embedded_pair",
        "autobench.iterations=3", "autobench.at_once=1", "fleet.nodes={far: yes}",
    )  # fmt: skip
    wait(run, lambda: lines(place / "engines", "autobench", "iterations"))
    cut(lan, wait(run, lambda: working(lan, "ServeReplica")))
    told = ended(run)
    assert TOLD.search(told), told
    found = [it["iteration"] for it in lines(place / "engines", "autobench", "iterations")]
    assert found == [1, 2, 3]
    counts = results_of(place / "engines", "autobench")["counts"]
    assert all(it["infra_error"] == 0 for it in counts.values())
