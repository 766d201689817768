"""A command that has not graded all is no measurement, whatever it ended with."""

import zipfile
from pathlib import Path

import pytest

from perf.peers.graded import confirm


def written(file: Path, text: str = "{}\n{}\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def logged(folder: Path, *members: str) -> None:
    (folder / "logs").mkdir()
    with zipfile.ZipFile(folder / "logs" / "one.eval", "w") as archive:
        for name in members:
            archive.writestr(name, "{}")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("raybench", "runs/index/20260101/journal/units.jsonl"),
        ("lm-eval", "out/of/somebody/samples_asked_2026.jsonl"),
        ("raw", "replies.jsonl"),
    ],
)
def test_what_is_kept_is_counted(name: str, file: str, tmp_path: Path) -> None:
    written(tmp_path / file)
    confirm(name, tmp_path, 2, ["it"])
    (tmp_path / "said.txt").write_text("no room left")
    with pytest.raises(SystemExit, match="it graded 2 of 3:\nno room left"):
        confirm(name, tmp_path, 3, ["it"])


def test_inspect_has_graded_what_its_log_has_when_that_is_whole(tmp_path: Path) -> None:
    logged(tmp_path, "samples/1_epoch_1.json", "samples/2_epoch_1.json", "header.json")
    confirm("inspect", tmp_path, 2, ["it"])


def test_inspect_has_graded_nothing_where_it_gave_up(tmp_path: Path) -> None:
    logged(tmp_path, "samples/1_epoch_1.json", "_journal/start.json")
    (tmp_path / "said.txt").write_text("Task interrupted")
    with pytest.raises(SystemExit, match="graded 0 of 1:\nTask interrupted"):
        confirm("inspect", tmp_path, 1, ["it"])
