"""Archives of samples: whole or not there."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import examined
import pytest

from raybench.tracking.inspect.archive import archive, encoded
from raybench.tracking.inspect.samples import Put, sample
from raybench.types import Message


def made(key: str, **changes: Any) -> dict[str, Any]:
    record = examined.record(key, cached_tokens=None, seconds=0.0, **changes)
    return sample(
        record,
        Put((Message("user", "?"),), "42"),
        name=key,
        uuid=key,
        at="2026-01-02T03:04:05+00:00",
    )


def read(path: Path, member: str) -> Any:
    with ZipFile(path) as file:
        return json.loads(file.read(member))


def test_an_archive_has_a_file_for_each_sample_their_list_and_a_head(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "a.eval"
    with archive(path) as log:
        log.start({"version": 2})
        for key in ("HumanEval/0", "1"):
            log.add(made(key))
        assert not path.exists()  # it is not whole yet
        log.finish({"status": "success"})
    with ZipFile(path) as file:
        assert file.testzip() is None
        assert file.namelist() == [
            "_journal/start.json",
            "samples/HumanEval/0_epoch_1.json",
            "samples/1_epoch_1.json",
            "summaries.json",
            "header.json",
        ]
    assert read(path, "samples/1_epoch_1.json") == json.loads(encoded(made("1")))
    assert [it["id"] for it in read(path, "summaries.json")] == ["HumanEval/0", "1"]


def test_an_archive_of_nothing_has_an_empty_list(tmp_path: Path) -> None:
    with archive(tmp_path / "a.eval") as log:
        log.start({})
        log.finish({})
    assert read(tmp_path / "a.eval", "summaries.json") == []


def test_one_that_is_cut_off_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    path.write_bytes(b"the last one")
    with pytest.raises(KeyboardInterrupt), archive(path) as log:
        log.start({})
        raise KeyboardInterrupt
    assert [it.name for it in tmp_path.iterdir()] == ["a.eval"]
    assert path.read_bytes() == b"the last one"


def test_what_is_no_text_and_what_is_no_number() -> None:
    assert encoded("a\ud800b\0") == b'"a?b\\u0000"'
    with pytest.raises(ValueError, match="JSON"):
        encoded(float("nan"))
