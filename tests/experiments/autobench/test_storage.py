"""Runs with a storage, on a server that speaks S3's protocol: another machine goes on with them."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gates import Gate
from helpers import SIMULATED, only_run, raybench, start_raybench, with_store
from in_process import compare_here, run_here
from shared_runs import AUTOBENCH, SharedRuns
from stopped_runs import go_on, held_at, kill_at
from stores import Store, serving

from raybench.tracking import __main__ as tracking

pytestmark = pytest.mark.process

ONE_BY_ONE = (*AUTOBENCH, "autobench.at_once=1")
_PATIENCE_S = 120
_HANGS = f"""
from raybench.pipeline.storage import objects
objects.Objects.__init__.__kwdefaults__["silence_s"] = {10.0 * _PATIENCE_S}
"""
"""Has S3's library wait for longer than the tests do."""


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with serving() as found:
        yield found


@pytest.fixture(scope="module")
def undisturbed(shared_runs: SharedRuns) -> Path:
    return only_run(shared_runs.copy(*AUTOBENCH))


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


def test_a_new_machine_goes_on_with_the_run_of_one_that_is_gone(
    store: Store, undisturbed: Path, tmp_path: Path
) -> None:
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    storage = at(store.uri("gone"))
    kill_at("iterations", 3, *ONE_BY_ONE, storage, cwd=first)
    begun = only_run(first)
    counted = journal(begun)
    assert len(counted) == 3
    segments = [it for it in store.names(f"gone/autobench/{begun.name}") if "/iterations/" in it]
    assert len(segments) >= 2
    shutil.rmtree(first)

    done = raybench(*ONE_BY_ONE, storage, cwd=second)

    assert done.returncode == 0, done.stderr
    run = only_run(second)
    assert run.name == begun.name
    assert f"Resuming runs/autobench/{run.name}" in done.stderr
    assert journal(run)[:3] == counted
    assert journal(run) == journal(undisturbed)
    assert results(run) == results(undisturbed)
    stored = store.names(f"gone/autobench/{run.name}")
    here = {str(it.relative_to(run)) for it in run.rglob("*") if it.is_file()}
    assert {*stored} - here == {"lease.json"}
    assert {it for it in here - {*stored} if not it.startswith(".")} == set()
    compared = compare_here(
        "--json",
        store.uri(f"gone/autobench/{run.name}"),
        cwd=tmp_path,
        environment={"XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert compared.returncode == 0, compared.stderr
    assert "sim-12" in compared.stdout
    for name in ("results.json", "journal/iterations.jsonl", "report.html"):
        with store.files.open_input_stream(f"bucket/gone/autobench/{run.name}/{name}") as object_:
            assert object_.read() == (run / name).read_bytes()


def test_a_run_in_a_store_is_extended_repeated_and_told_to_mlflow_from_anywhere(
    store: Store,
    undisturbed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    done = run_here(*AUTOBENCH, at(store.uri("far")), "tracking.uri=http://127.0.0.1:9", cwd=first)
    assert done.returncode == 0, done.stderr
    address = store.uri(f"far/autobench/{only_run(first).name}")
    shutil.rmtree(first)

    longer = (*SIMULATED, "autobench.iterations=8", f"autobench.extends='{address}'")
    extended = run_here(*longer, cwd=second)
    assert extended.returncode == 0, extended.stderr
    calls = json.loads((only_run(second) / "results.json").read_bytes())["run"]["calls"]
    assert calls["calls"] / 2 < calls["reused"] < calls["calls"]

    again = raybench("--from", address, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    # What its storage has of it has been fetched beside it.
    assert journal(max(tmp_path.glob("runs/autobench/*"))) == journal(undisturbed)

    uri = f"sqlite:///{with_store(tmp_path / 'told') / 'runs' / 'mlflow.db'}"
    assert tracking.main(["sync", address, "--uri", uri, "--instead"]) == 0
    assert "sent to sqlite:///" in capsys.readouterr().out


def until_told(process: "subprocess.Popen[str]", *texts: str) -> str:
    """Return what a run says, up to the line that has one of these in it."""
    assert process.stdout
    told = ""
    for line in process.stdout:
        told += line
        if any(text in line for text in texts):
            return told
    raise AssertionError(told)


def test_a_store_that_is_away_for_a_while_is_waited_for(
    store: Store, undisturbed: Path, tmp_path: Path
) -> None:
    with held_at("iterations", 2, *ONE_BY_ONE, at(store.uri("away")), cwd=tmp_path) as process:
        store.stop()
        try:
            go_on(process)
            told = until_told(process, "cannot be reached")
        finally:
            store.start()
        told += process.communicate()[0]
    assert process.returncode == 0, told
    assert told.count("cannot be reached") == 1
    assert told.count("is there again") == 1
    run = only_run(tmp_path)
    assert journal(run) == journal(undisturbed)
    assert results(run) == results(undisturbed)


def test_who_ends_a_run_that_waits_for_its_store_does_not_wait_with_it(
    store: Store, tmp_path: Path
) -> None:
    with held_at("iterations", 1, *ONE_BY_ONE, at(store.uri("ended")), cwd=tmp_path) as process:
        store.stop()
        try:
            go_on(process)
            until_told(process, "cannot be reached")
            process.terminate()
            told = process.communicate(timeout=_PATIENCE_S)[0]  # else for half an hour
        finally:
            store.start()
    assert process.returncode == 130
    assert "same command" in told
    assert "Traceback" not in told


def test_who_ends_a_run_whose_store_says_nothing_any_more_does_not_wait_for_it(
    store: Store, tmp_path: Path
) -> None:
    command = (*ONE_BY_ONE, at(store.uri("mute")))
    with held_at("iterations", 1, *command, cwd=tmp_path, also=_HANGS) as process:
        store.stop()
        try:
            with socket.create_server(("127.0.0.1", store.port), backlog=50):
                go_on(process)
                until_told(process, "has not answered", "cannot be reached")
                process.terminate()
                told = process.communicate(timeout=_PATIENCE_S)[0]
        finally:
            store.start()
    assert process.returncode == 130
    assert "same command" in told
    assert "Traceback" not in told


def said(_: str, prompt: str) -> str:
    return "<rank>4</rank>" if "<rank>" in prompt else "An answer."


def test_one_machine_at_a_time_is_at_work_on_a_run(store: Store, tmp_path: Path) -> None:
    first, second = machine(tmp_path, "first"), machine(tmp_path, "second")
    with Gate(
        lambda _, prompt: "<rank>4</rank>" if "<rank>" in prompt else "An answer.", 9
    ) as gate:
        command = ("+experiment=autobench", gate.models("a", "b", "c"), at(store.uri("both")))
        processes = [start_raybench(*command, cwd=first)]
        assert gate.reached.wait(_PATIENCE_S)
        processes.append(start_raybench(*command, cwd=second))
        told = until_told(processes[1], "Run runs/autobench/")
        for each in processes:
            os.killpg(each.pid, signal.SIGKILL)
            each.communicate()
    assert f" autobench/{only_run(first).name}" in told
    assert only_run(second).name != only_run(first).name
