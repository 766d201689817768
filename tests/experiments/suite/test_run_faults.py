"""What becomes of a suite that is killed, of which a part fails, or that has few models."""

import json
import shutil
from pathlib import Path

import pytest
from helpers import last_run, raybench, with_store
from in_process import run_here
from shared_runs import SharedRuns
from stopped_runs import cut_off
from suites import COMPARED, EXTERNAL, PARTS, SMALL, part, roster

from raybench.experiments.suite import words

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(900),  # several runs each
    pytest.mark.usefixtures("on_lasting_ray"),
]


def test_killed_it_goes_on_in_the_middle_of_each_part(
    shared_runs: SharedRuns, tmp_path: Path
) -> None:
    """The first part is over, and every other one is in the middle of its units."""
    finished = shared_runs.copy(*COMPARED, files=EXTERNAL, sent=True)
    whole = last_run(finished, "suite")
    folder = with_store(tmp_path / "killed")
    run = cut_off(whole, folder / "runs", {"parts": 1})
    for name, text in EXTERNAL.items():
        (folder / name).write_text(text)
    shutil.copytree(whole / "parts" / "index", run / "parts" / "index")
    for name, lines in (
        ("hle", {"units": 12}),
        ("autobench", {"iterations": 2, "replies": 60}),
        ("games", {"turns": 30, "matches": 5}),
    ):
        cut_off(part(finished, name), run / "parts", lines)
    done = raybench(*COMPARED, cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    assert f"Resuming {run.relative_to(folder)}" in done.stderr
    assert "index: finished" in done.stderr
    journals = {name: part(folder, name) / "journal" for name in PARTS}  # one run each
    for name, units, key in (
        ("index", 4 * 12, ("benchmark", "model", "key")),
        ("hle", 4 * 8, ("model", "key")),
    ):
        kept = [json.loads(it) for it in (journals[name] / "units.jsonl").open()]
        assert len(kept) == len({tuple(it[of] for of in key) for it in kept}) == units
    played = [json.loads(it)["match"] for it in (journals["games"] / "matches.jsonl").open()]
    assert sorted(played) == [*range(1, 25)]
    iterations = journals["autobench"] / "iterations.jsonl"
    assert [json.loads(it)["iteration"] for it in iterations.open()] == [*range(1, 7)]
    assert [json.loads(it)["part"] for it in (run / "journal" / "parts.jsonl").open()] == [*PARTS]
    results = [json.loads((it / "results.json").read_text()) for it in (run, whole)]
    assert results[0]["models"] == results[1]["models"]


def test_a_part_that_fails_does_not_lose_the_others(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "failing")
    gone = "{name: gone, engine: openai, weights: gone, options: {base_url: 'http://127.0.0.1:9'}}"
    models, judges = roster([0.2, 0.5, 0.8])
    command = (
        *SMALL, models, judges.replace("]", f", {gone}]"), "hle.judges=[gone]",
        "suite.parts=[hle,autobench,games]", "fleet.endpoint_attempts=1",
    )  # fmt: skip
    done = raybench(*command, cwd=folder, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "hle failed" in done.stderr and "1 part failed" in done.stderr
    run = last_run(folder, "suite")
    assert not (run / "results.json").exists()
    page = (run / "report.html").read_text()
    assert "Exam failed" in page
    assert "two ways" in page
    for name in ("autobench", "games"):
        assert (part(folder, name) / "results.json").exists()
    again = raybench(*command, cwd=folder, timeout=300)
    assert again.returncode == 1
    for name in ("autobench", "games"):
        assert f"{name}: finished" in again.stderr


@pytest.mark.long(
    short="tests/experiments/suite/test_run_faults.py::test_two_models_are_told_what_can_be_told"
)
def test_one_model_is_told_what_can_be_told(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "few")
    done = raybench(*SMALL, *roster([0.5]), "suite.parts=[index,hle]", cwd=folder, timeout=300)
    assert done.returncode == 0, done.stderr
    told = words.ONE_MODEL
    assert told in " ".join(done.stdout.split())
    assert told in (last_run(folder, "suite") / "report.html").read_text()


def test_two_models_are_told_what_can_be_told(tmp_path: Path) -> None:
    folder = with_store(tmp_path / "few")
    given = (*SMALL, *roster([0.2, 0.8]), "suite.parts=[autobench,games]")
    done = run_here(*given, cwd=folder)
    assert done.returncode == 0, done.stderr
    told = words.few(2)
    assert told in " ".join(done.stdout.split())
    assert told in (last_run(folder, "suite") / "report.html").read_text()
