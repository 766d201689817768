"""What holds disturbed runs against undisturbed ones sees what is lost, doubled and otherwise."""

import json
from pathlib import Path

import pytest
from undisturbed import Verdict, compared


def run(folder: Path, iterations: list[int], torn: str = "", models: str = "same") -> Path:
    journal = folder / "runs" / "autobench" / "one" / "journal"
    journal.mkdir(parents=True)
    lines = "".join(json.dumps({"iteration": it}) + "\n" for it in iterations)
    (journal / "iterations.jsonl").write_text(lines + torn)
    results = {"models": models, "counts": {}, "agreement": {}}
    (journal.parent / "results.json").write_text(json.dumps(results))
    return folder


@pytest.mark.parametrize(
    ("iterations", "lost", "doubled"),
    [
        ([1, 2, 3], 0, 0),
        ([3, 1, 2], 0, 0),
        ([1, 3], 1, 0),
        ([1, 2, 2, 3, 3], 0, 2),
        ([1, 2, 3, 4], 0, 1),  # one that nobody has planned
        ([], 3, 0),
    ],
)
def test_units_are_counted(iterations: list[int], lost: int, doubled: int, tmp_path: Path) -> None:
    calm = run(tmp_path / "calm", [1, 2, 3])
    rough = run(tmp_path / "rough", iterations, torn='{"iteration": 1')
    assert compared(rough, calm, "autobench") == Verdict(3, lost, doubled, alike=True)


def test_other_results_are_seen(tmp_path: Path) -> None:
    calm, rough = run(tmp_path / "calm", [1]), run(tmp_path / "rough", [1], models="others")
    assert not compared(rough, calm, "autobench").alike
