"""Files are written whole or not at all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from raybench.pipeline import whole


def test_what_was_there_stays_until_all_of_the_new_is(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    whole.write(path, ["one ", b"two"])

    def broken() -> Iterator[str]:
        yield "three"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        whole.write(path, broken())
    assert path.read_text() == "one two"
    whole.write(path, ["half a pair: \ud83d"])
    assert path.read_text() == "half a pair: ?"


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        whole.write(tmp_path / "file" / "below", ["text"])
