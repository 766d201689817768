"""Rows by their place in a shard."""

import json
import os
from pathlib import Path

import pytest

from raybench.pipeline import rows

ROWS = [{"n": n, "text": "é\u2028\n" * n} for n in range(5)]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    path = tmp_path / "00000.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS))
    return path


@pytest.mark.parametrize(("start", "stop"), [(0, 5), (2, 4), (4, 5), (3, 3), (3, 99), (99, 100)])
def test_rows_are_those_between(shard: Path, start: int, stop: int) -> None:
    assert rows.read(str(shard), start, stop) == ROWS[start:stop]


def test_a_row_is_found_by_its_place(shard: Path) -> None:
    assert [rows.at((str(shard), line)) for line in (4, 0, 2)] == [ROWS[4], ROWS[0], ROWS[2]]


def test_a_last_line_need_not_end(shard: Path) -> None:
    shard.write_bytes(shard.read_bytes().rstrip(b"\n"))
    assert rows.read(str(shard), 3, 5) == ROWS[3:]


def test_a_shard_is_indexed_once_and_again_when_it_changed(shard: Path) -> None:
    rows._offsets.cache_clear()
    for line in range(5):
        rows.at((str(shard), line))
    assert rows._offsets.cache_info().misses == 1
    shard.write_text(json.dumps({"longer": "x" * 1000}) + "\n" + shard.read_text())
    os.utime(shard, ns=(0, 1))
    assert rows.at((str(shard), 1)) == ROWS[0]
