"""A command that has not graded all is no measurement, whatever it ended with."""

import zipfile
from pathlib import Path

import pytest

from perf.peers.graded import confirm


def logged(folder: Path, *members: str) -> None:
    (folder / "logs").mkdir()
    with zipfile.ZipFile(folder / "logs" / "one.eval", "w") as archive:
        for name in members:
            archive.writestr(name, "{}")


@pytest.mark.parametrize(
    ("name", "path", "lines"),
    [
        (
            "raybench",
            "runs/index/20260101/journal/units.jsonl",
            ['{"correct": true}', '{"correct": null}', '{"correct": false}'],
        ),
        (
            "lm-eval",
            "out/of/somebody/samples_asked_2026.jsonl",
            ['{"exact_match": 0.0}', '{"exact_match": 1.0}'],
        ),
        ("raw", "replies.jsonl", ['"A"', '""']),
    ],
)
def test_what_has_a_grade_is_counted(
    name: str, path: str, lines: list[str], tmp_path: Path
) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("".join(f"{it}\n" for it in lines))
    confirm(name, tmp_path, 2, ["it"])
    (tmp_path / "said.txt").write_text("full")
    with pytest.raises(SystemExit, match="2 of 3:\nfull"):
        confirm(name, tmp_path, 3, ["it"])


def test_inspect_has_graded_what_its_log_has_when_that_is_whole(tmp_path: Path) -> None:
    logged(tmp_path, "samples/1_epoch_1.json", "samples/2_epoch_1.json", "header.json")
    (tmp_path / "said.txt").write_text("match\naccuracy  0.5")
    confirm("inspect", tmp_path, 2, ["it"])


@pytest.mark.parametrize("last", ["_journal/start.json", "header.json"])
def test_inspect_has_graded_nothing_where_it_gave_up(last: str, tmp_path: Path) -> None:
    logged(tmp_path, "samples/1_epoch_1.json", last)
    (tmp_path / "said.txt").write_text("Task interrupted")
    with pytest.raises(SystemExit, match="0 of 1:\nTask"):
        confirm("inspect", tmp_path, 1, ["it"])
