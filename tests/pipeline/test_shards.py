"""The folder that a run keeps its questions in, and what becomes of it when the run is killed."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from refusals import refused

from raybench.pipeline import shards
from raybench.pipeline.questions import Question

HOLDER = """
import time
from raybench.pipeline import shards
from raybench.pipeline.questions import Question
with shards.scratch() as folder:
    (folder / "toy").mkdir()
    (folder / "toy" / "00000.jsonl").write_text("{}")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def holding() -> tuple["subprocess.Popen[str]", Path]:
    """Start a process that has a folder of its own."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_gone_when_its_run_ends(place: Path) -> None:
    with shards.scratch() as folder:
        (folder / "toy").mkdir()
        assert folder.parent == place
    assert list(place.iterdir()) == []
    with pytest.raises(ZeroDivisionError), shards.scratch():
        raise ZeroDivisionError
    assert list(place.iterdir()) == []


@pytest.mark.process
def test_what_a_killed_run_left_goes_and_what_others_use_stays(place: Path) -> None:
    (killed, left), (alive, used) = holding(), holding()
    try:
        killed.kill()
        killed.wait()
        assert left.is_dir()
        with shards.scratch() as one, shards.scratch() as other:
            assert {path for path in place.iterdir() if path.is_dir()} == {used, one, other}
            assert (used / "toy" / "00000.jsonl").read_text() == "{}"
    finally:
        alive.kill()
        alive.wait()
    with shards.scratch() as folder:
        assert list(place.iterdir()) == [folder]


def test_what_is_not_ours_stays(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "raybench-questions-file").touch()
    (place / "raybench-other").mkdir()
    (aim := place / "aim").mkdir()
    (place / "raybench-questions-link").symlink_to(aim)
    (place / "raybench-questions-another").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    before = set(place.iterdir())
    with shards.scratch():
        pass
    assert set(place.iterdir()) == before


def test_without_a_place_the_mend_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(prefix: str) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with (
        refused("file.unwritable"),
        shards.scratch(),
    ):
        pass


def test_what_follows_another_question_stays_in_its_shard(tmp_path: Path) -> None:
    questions = [
        Question({"number": number}, str(number), "en", None, None, number % 7 != 0)
        for number in range(200)
    ]
    paths = shards.write(questions, 200, tmp_path / "toy")
    found = [[json.loads(line)["number"] for line in it.open("rb")] for it in paths]
    assert [number for shard in found for number in shard] == list(range(200))
    assert len(found) > 4
    assert all(shard[0] % 7 == 0 for shard in found)
