import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from raybench.pipeline.journal import Journal

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    # Line ends of every kind, among them those that only str.splitlines knows.
    | st.text() | st.sampled_from(["a\nb", "a\r\nb", "a\u2028b", "a\x85b", "\x00"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
json_records = st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=5)


def reopened(path: Path) -> list[dict[str, Any]]:
    journal = Journal(path)
    journal.close()
    return journal.records


def test_a_record_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal" / "units.jsonl")
    journal.append({"unit": 1, "text": "größer ≥"})
    # Read by another handle while the first is still open.
    assert reopened(tmp_path / "journal" / "units.jsonl") == [{"unit": 1, "text": "größer ≥"}]
    journal.append({"unit": 2})
    assert [record["unit"] for record in journal.records] == [1, 2]
    assert reopened(tmp_path / "journal" / "units.jsonl") == journal.records


def test_a_journal_keeps_in_memory_what_it_is_told_to(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    journal = Journal(path, lambda record: record["unit"])
    journal.extend([{"unit": 1, "text": "long"}, {"unit": 2, "text": "longer"}])
    journal.close()
    assert journal.records == [1, 2]
    assert Journal(path, lambda record: record["unit"]).records == [1, 2]
    assert [record["text"] for record in reopened(path)] == ["long", "longer"]


def test_half_a_surrogate_pair_is_kept_as_it_came(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "units.jsonl")
    journal.append({"text": "\ud83e"})
    assert reopened(tmp_path / "units.jsonl") == [{"text": "\ud83e"}]


def test_a_record_is_sent_to_the_disk_before_it_counts(tmp_path: Path, synced: list[bytes]) -> None:
    journal = Journal(tmp_path / "units.jsonl")
    journal.append({"unit": 1})
    journal.append({"unit": 2})
    assert synced == [b'{"unit": 1}\n', b'{"unit": 1}\n{"unit": 2}\n']


@given(json_records)
def test_every_json_record_comes_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
) -> None:
    path = tmp_path_factory.mktemp("journal") / "units.jsonl"
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()
    assert journal.records == records
    assert reopened(path) == records
    assert path.read_bytes().count(b"\n") == len(records)


@given(json_records, st.data())
def test_wherever_the_last_line_was_torn_the_whole_ones_stay(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]], data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("journal") / "units.jsonl"
    journal = Journal(path)
    for record in records:
        journal.append(record)
    journal.close()
    kept = data.draw(st.integers(0, path.stat().st_size), label="bytes that reached the disk")
    os.truncate(path, kept)
    whole = records[: path.read_bytes().count(b"\n")]

    journal = Journal(path)
    assert journal.records == whole
    journal.append({"after": "the tear"})
    journal.close()
    assert reopened(path) == [*whole, {"after": "the tear"}]


@pytest.mark.parametrize(
    "damage",
    [b'{"unit": 2', b"", b"\x00\x00\x00", b"\xff\xfe", b"<<<<<<< HEAD", b'"no record"', b"2"],
)
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_changed(
    tmp_path: Path, damage: bytes
) -> None:
    path = tmp_path / "units.jsonl"
    path.write_bytes(b'{"unit": 1}\n' + damage + b'\n{"unit": 3}\n')
    before = path.read_bytes()
    with refused("journal.invalid"):
        Journal(path)
    assert path.read_bytes() == before


def test_a_record_that_is_not_json_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    journal = Journal(path)
    journal.append({"unit": 1})
    with pytest.raises(ValueError, match="JSON"):
        journal.append({"unit": 2, "score": float("nan")})
    with pytest.raises(TypeError):
        journal.append({"unit": 2, "score": object()})
    journal.append({"unit": 3})
    assert reopened(path) == journal.records == [{"unit": 1}, {"unit": 3}]


@pytest.mark.process
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from raybench.pipeline.journal import Journal\n"
            "journal = Journal(Path(sys.argv[1]))\n"
            "for unit in range(10**6):\n"
            "    journal.append({'unit': unit, 'text': 'x' * 5000})\n"
            "    print(unit, flush=True)",
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    for _ in range(20):
        writer.stdout.readline()
    writer.kill()
    acknowledged = [*range(20), *(int(line) for line in writer.stdout if line.endswith("\n"))]
    writer.wait()
    writer.stdout.close()
    units = [record["unit"] for record in reopened(path)]
    # The last one may have reached the disk without having been acknowledged.
    assert units in (acknowledged, [*acknowledged, len(acknowledged)])


@pytest.mark.process
def test_a_full_disk_is_said_and_what_was_whole_stays(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    written = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, sys; from pathlib import Path\n"
            "from raybench.errors import RunFailed\n"
            "from raybench.pipeline.journal import Journal\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
            "journal = Journal(Path(sys.argv[1]))\n"
            "journal.append({'unit': 1, 'text': 'x' * 500})\n"
            "try:\n"
            "    journal.append({'unit': 2, 'text': 'x' * 500})\n"
            "except RunFailed as error:\n"
            "    print(error)\n"
            "journal.close()\n"
            "print(len(journal.records))",
            str(path),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    said, counted = written.stdout.splitlines()
    assert str(path) in said
    assert os.strerror(errno.EFBIG) in said
    assert counted == "1"
    assert path.stat().st_size == 1000
    assert [record["unit"] for record in reopened(path)] == [1]
