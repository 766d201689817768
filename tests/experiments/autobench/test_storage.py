"""Runs with a storage, on a server that speaks S3's protocol: another machine goes on with them."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import SIMULATED, only_run, raybench, start_raybench
from stores import Store, serving

pytestmark = pytest.mark.slow

QUICK = (*SIMULATED, "autobench.iterations=6")
SLOW = (*QUICK, "autobench.at_once=1", "++roster.models.0.options.latency_s=0.15")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = raybench(*QUICK, cwd=folder)
    assert done.returncode == 0, done.stderr
    return only_run(folder)


def machine(folder: Path, name: str) -> Path:
    """Return a machine's empty disk."""
    (folder / name).mkdir()
    return folder / name


def at(uri: str) -> str:
    return f"storage='{uri}'"  # it has an equals sign


def journal(run: Path) -> list[dict[str, Any]]:
    lines = (run / "journal" / "iterations.jsonl").read_bytes().splitlines()
    untimed = [json.loads(line) for line in lines]
    return [
        {key: it[key] for key in it.keys() - {"seconds", "ended_ms", "calls"}} for it in untimed
    ]


def results(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "results.json").read_bytes())
    return {name: found[name] for name in ("models", "counts", "simulated")}


def wait_for_units(folder: Path, units: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        files = list(folder.glob("runs/autobench/*/journal/iterations.jsonl"))
        if files and files[0].read_bytes().count(b"\n") >= units:
            return
        time.sleep(0.02)
    raise AssertionError(f"no {units} units: {process.communicate()[0]}")


def test_a_new_machine_goes_on_with_the_run_of_one_that_is_gone(
    store: Store, undisturbed: Path, tmp_path: Path
) -> None:
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    storage = at(store.uri("gone"))
    process = start_raybench(*SLOW, storage, cwd=first)
    wait_for_units(first, 3, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    begun = only_run(first)
    counted = journal(begun)[:2]  # of the last, the store may not know: then it did not count
    segments = [it for it in store.names(f"gone/autobench/{begun.name}") if "/iterations/" in it]
    assert len(segments) >= 2
    shutil.rmtree(first)

    done = raybench(*SLOW, storage, cwd=second)

    assert done.returncode == 0, done.stderr
    run = only_run(second)
    assert run.name == begun.name
    assert f"Resuming runs/autobench/{run.name}" in done.stderr
    assert journal(run)[:2] == counted
    assert journal(run) == journal(undisturbed)
    assert results(run) == results(undisturbed)
    stored = store.names(f"gone/autobench/{run.name}")
    here = {str(it.relative_to(run)) for it in run.rglob("*") if it.is_file()}
    assert {*stored} - here == {"lease.json"}
    assert {it for it in here - {*stored} if not it.startswith(".")} == set()
    compared = subprocess.run(
        [
            *(sys.executable, "-m", "raybench.compare", "--json"),
            store.uri(f"gone/autobench/{run.name}"),
        ],
        cwd=tmp_path,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert compared.returncode == 0, compared.stderr
    assert "sim-12" in compared.stdout
    for name in ("results.json", "journal/iterations.jsonl", "report.html"):
        with store.files.open_input_stream(f"bucket/gone/autobench/{run.name}/{name}") as object_:
            assert object_.read() == (run / name).read_bytes()


def test_a_run_in_a_store_is_extended_repeated_and_told_to_mlflow_from_anywhere(
    store: Store, undisturbed: Path, tmp_path: Path
) -> None:
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    done = raybench(*QUICK, at(store.uri("far")), "tracking.uri=http://127.0.0.1:9", cwd=first)
    assert done.returncode == 0, done.stderr
    address = store.uri(f"far/autobench/{only_run(first).name}")
    shutil.rmtree(first)
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    extended = raybench(
        *SIMULATED, "autobench.iterations=8", f"autobench.extends='{address}'",
        cwd=second, environment=environment,
    )  # fmt: skip
    assert extended.returncode == 0, extended.stderr
    calls = json.loads((only_run(second) / "results.json").read_bytes())["run"]["calls"]
    assert calls["calls"] / 2 < calls["reused"] < calls["calls"]

    again = raybench("--from", address, cwd=tmp_path, environment=environment)
    assert again.returncode == 0, again.stderr
    # What its storage has of it has been fetched beside it.
    assert journal(max(tmp_path.glob("runs/autobench/*"))) == journal(undisturbed)

    told = subprocess.run(
        [
            *(sys.executable, "-m", "raybench.tracking", "sync", address),
            *("--uri", f"sqlite:///{tmp_path / 'mlflow.db'}", "--instead"),
        ],
        env={**os.environ, **environment}, cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    assert "sent to sqlite:///" in told.stdout


def until_told(process: "subprocess.Popen[str]", *texts: str) -> str:
    """Return what a run says, up to the line that has one of these in it."""
    assert process.stdout
    told = ""
    for line in process.stdout:
        told += line
        if any(text in line for text in texts):
            return told
    raise AssertionError(told)


def rest_of(process: "subprocess.Popen[str]") -> str:
    """Return what a run still says, to its end."""
    assert process.stdout
    return process.stdout.read()


def test_a_store_that_is_away_for_a_while_is_waited_for(
    store: Store, undisturbed: Path, tmp_path: Path
) -> None:
    process = start_raybench(*SLOW, at(store.uri("away")), cwd=tmp_path)
    wait_for_units(tmp_path, 2, process)
    store.stop()
    try:
        told = until_told(process, "cannot be reached")
    finally:
        store.start()
    told += rest_of(process)
    assert process.wait() == 0, told
    assert told.count("cannot be reached") == 1
    assert told.count("is there again") == 1
    run = only_run(tmp_path)
    assert journal(run) == journal(undisturbed)
    assert results(run) == results(undisturbed)


def test_who_ends_a_run_that_waits_for_its_store_does_not_wait_with_it(
    store: Store, tmp_path: Path
) -> None:
    process = start_raybench(*SLOW, at(store.uri("ended")), cwd=tmp_path)
    wait_for_units(tmp_path, 1, process)
    store.stop()
    try:
        until_told(process, "cannot be reached")
        process.terminate()
        told = rest_of(process)  # else for half an hour
    finally:
        store.start()
    assert process.wait() == 130
    assert "the same command goes on from there" in told
    assert "Traceback" not in told


def test_who_ends_a_run_whose_store_says_nothing_any_more_does_not_wait_for_it(
    store: Store, tmp_path: Path
) -> None:
    process = start_raybench(*SLOW, at(store.uri("mute")), cwd=tmp_path)
    wait_for_units(tmp_path, 1, process)
    store.stop()
    try:
        with socket.create_server(("127.0.0.1", store.port), backlog=50):
            until_told(process, "has not answered", "cannot be reached")
            time.sleep(1)  # whatever it asks meanwhile is not answered
            since = time.monotonic()
            process.terminate()
            told = rest_of(process)
            assert process.wait() == 130
            assert time.monotonic() - since < 20  # of which Ray's end takes some
    finally:
        store.start()
    assert "the same command goes on from there" in told
    assert "Traceback" not in told


def test_one_machine_at_a_time_is_at_work_on_a_run(store: Store, tmp_path: Path) -> None:
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    storage = at(store.uri("both"))
    longer = (*SLOW, "autobench.iterations=60", storage)
    process = start_raybench(*longer, cwd=first)
    wait_for_units(first, 1, process)
    other = start_raybench(*longer, cwd=second)
    deadline = time.monotonic() + 60
    while not list(second.glob("runs/autobench/*/journal/iterations.jsonl")):
        assert time.monotonic() < deadline
        assert other.poll() is None, other.communicate()[0]
        time.sleep(0.1)
    assert process.poll() is None
    for each in (process, other):
        os.killpg(each.pid, signal.SIGKILL)
    told = other.communicate()[0]
    assert f"Another machine is at work on autobench/{only_run(first).name}" in told
    assert only_run(second).name != only_run(first).name
