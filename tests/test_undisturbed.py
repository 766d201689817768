"""What holds disturbed runs against undisturbed ones sees what is lost, doubled and otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest
from undisturbed import Verdict, compared


def run(
    folder: Path,
    iterations: list[int],
    torn: str = "",
    models: str = "same",
    name: str = "one",
    **about: Any,
) -> Path:
    journal = folder / "runs" / "autobench" / name / "journal"
    journal.mkdir(parents=True)
    lines = "".join(json.dumps({"iteration": it}) + "\n" for it in iterations)
    (journal / "iterations.jsonl").write_text(lines + torn)
    results = {"models": models, "counts": {}, "agreement": {}, "run": {"units": 3} | about}
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
    assert compared(rough, calm, "autobench") == Verdict(3, lost, doubled)


def test_those_of_a_run_that_was_left_for_another_one_are_doubled(tmp_path: Path) -> None:
    calm = run(tmp_path / "calm", [1, 2, 3])
    run(tmp_path / "rough", [1, 2], name="left")
    rough = run(tmp_path / "rough", [1, 2, 3], name="new")
    assert compared(rough, calm, "autobench") == Verdict(3, lost=0, doubled=2)


def test_an_undisturbed_run_that_is_not_whole_proves_nothing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not whole"):
        compared(run(tmp_path / "b", [1]), run(tmp_path / "a", [1, 2]), "autobench")


@pytest.mark.parametrize(
    ("other", "seen"),
    [
        ({"models": "others"}, ("/models: others instead of same",)),
        ({"stopped": "spent"}, ("/run/stopped: spent instead of None",)),
        ({"seed": 7, "id": "two"}, ("/run/seed: 7 instead of None",)),
        ({"id": "two", "resumed": True, "seconds_this_session": 3.0}, ()),
    ],
)
def test_other_results_are_seen(
    other: dict[str, Any], seen: tuple[str, ...], tmp_path: Path
) -> None:
    calm, rough = run(tmp_path / "calm", [1, 2, 3]), run(tmp_path / "rough", [1, 2, 3], **other)
    assert compared(rough, calm, "autobench").other == seen
