"""What becomes of a suite that is killed, of which a part fails, or that has few models."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from helpers import last_run, raybench, start_raybench, with_store
from suites import PARTS, SMALL, part, roster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),  # several runs each
    pytest.mark.usefixtures("on_lasting_ray"),
]
_JOURNALS = {"index": "units", "hle": "units", "autobench": "replies", "games": "turns"}


def test_killed_in_the_middle_of_each_part_it_goes_on_there(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "killed")
    command = (*SMALL, *roster([0.2, 0.5, 0.8], latency_s=0.3))
    for name in PARTS:
        process = start_raybench(*command, cwd=folder)
        deadline = time.monotonic() + 240
        while not _begun(folder, name):
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, name
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        own = part(folder, name)
        assert not (own / "results.json").exists(), f"{name} was over before the kill"
    done = raybench(*command, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "runs" / "suite").iterdir()
    assert f"Resuming {run.relative_to(folder)}" in done.stderr
    for name in ("index", "hle", "autobench"):
        assert f"{name}: finished" in done.stderr
    journals = {name: part(folder, name) / "journal" for name in PARTS}  # one run each
    for name, units, key in (
        ("index", 3 * 12, ("benchmark", "model", "key")),
        ("hle", 3 * 8, ("model", "key")),
    ):
        lines = [json.loads(it) for it in (journals[name] / "units.jsonl").open()]
        assert len(lines) == len({tuple(it[of] for of in key) for it in lines}) == units
    played = [json.loads(it)["match"] for it in (journals["games"] / "matches.jsonl").open()]
    assert sorted(played) == [*range(1, 25)]
    kept = journals["autobench"] / "iterations.jsonl"
    assert [json.loads(it)["iteration"] for it in kept.open()] == [*range(1, 7)]
    assert [json.loads(it)["part"] for it in (run / "journal" / "parts.jsonl").open()] == [*PARTS]


def _begun(folder: Path, name: str) -> bool:
    pattern = f"runs/suite/*/parts/{name}/*/journal/{_JOURNALS[name]}.jsonl"
    return any(it.stat().st_size for it in folder.glob(pattern))


def test_a_part_that_fails_does_not_lose_the_others(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "failing")
    gone = "{name: gone, engine: openai, weights: gone, options: {base_url: 'http://127.0.0.1:9'}}"
    models, judges = roster([0.2, 0.5, 0.8])
    command = (
        *SMALL, models, judges.replace("]", f", {gone}]"), "hle.judges=[gone]",
        "index.judges=[]", "fleet.endpoint_attempts=1",
    )  # fmt: skip
    done = raybench(*command, cwd=folder, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "hle failed" in done.stderr and "1 part failed" in done.stderr
    run = last_run(folder, "suite")
    assert not (run / "results.json").exists()
    page = (run / "report.html").read_text()
    assert "This suite is not over: Exam failed" in page
    assert "the three ways" in page.lower()
    for name in ("index", "autobench", "games"):
        assert (part(folder, name) / "results.json").exists()
    again = raybench(*command, cwd=folder, timeout=300)
    assert again.returncode == 1
    for name in ("index", "autobench", "games"):
        assert f"{name}: finished" in again.stderr


@pytest.mark.parametrize(
    ("abilities", "parts", "told"),
    [
        ([0.5], "[index,hle]", "One model has no order to agree on"),
        ([0.2, 0.8], "[autobench,games]", "two orders are the same or the opposite"),
    ],
)
def test_few_models_are_told_what_can_be_told(
    tmp_path: Path, abilities: list[float], parts: str, told: str
) -> None:
    folder = with_store(tmp_path / "few")
    done = raybench(*SMALL, *roster(abilities), f"suite.parts={parts}", cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout
    assert told in (last_run(folder, "suite") / "report.html").read_text()
