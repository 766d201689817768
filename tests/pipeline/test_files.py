import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from toys import WRITERS, rows, write

from raybench.pipeline import files
from raybench.pipeline.files import Read


def read(path: Path, content: bytes) -> list[Read]:
    path.write_bytes(content)
    return list(files.rows(path))


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format_gives_the_rows_and_where_they_stand(tmp_path: Path, kind: str) -> None:
    made = rows(700)
    path = write(tmp_path / f"some.{kind}", made)
    found = list(files.rows(path))
    first = 2 if kind in ("csv", "tsv") else 1  # their first line names the columns
    assert [number for number, _ in found] == list(range(first, 700 + first))
    assert [row["ask"] for _, row in found if isinstance(row, dict)] == [row["ask"] for row in made]
    assert all(isinstance(row, dict) and row["options"] == made[0]["options"] for _, row in found)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.JSONL", ".jsonl"), ("a.b.jsonl.gz", ".jsonl.gz"), ("jsonl", ""), ("", "")],
)
def test_a_file_is_known_by_its_ending(name: str, kind: str) -> None:
    assert files.ending(name) == kind


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        (b'{"a": 1', "JSON (Expecting"),
        (b'{"a": NaN}', "JSON (NaN"),
        (b"[1, 2]", "JSON object"),
        (b'{"a": "Gr\xfc\xdfe"}', "byte 10)"),
        (b'{"a": ' + b"[" * 200_000 + b"}", "too deep"),
    ],
)
def test_a_line_that_is_no_json_object_costs_itself(
    tmp_path: Path, line: bytes, mistake: str
) -> None:
    before, wrong, after = read(tmp_path / "a.jsonl", b'{"a": 1}\n' + line + b'\n{"a": 3}\n')
    assert (before, after) == ((1, {"a": 1}), (3, {"a": 3}))
    number, said = wrong
    assert number == 2
    assert isinstance(said, str)
    assert mistake in said


def test_empty_lines_and_a_byte_order_mark_are_no_matter(tmp_path: Path) -> None:
    text = b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 4}'
    assert read(tmp_path / "a.jsonl", text) == [(1, {"a": 1}), (4, {"a": 4})]
    assert read(tmp_path / "a.csv", b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4") == [
        (2, {"a": "1", "b": "2"}),
        (4, {"a": "3", "b": "4"}),
    ]


def test_a_cell_of_several_lines_stands_where_it_begins(tmp_path: Path) -> None:
    text = b'a,b\n1,"two\r\nlines, ""quoted"""\n3,4\n'
    assert read(tmp_path / "a.csv", text) == [
        (2, {"a": "1", "b": 'two\r\nlines, "quoted"'}),
        (4, {"a": "3", "b": "4"}),
    ]


@pytest.mark.parametrize(
    ("line", "mistake"),
    [
        (b"1", " 1 cells "),
        (b"1,2,3", " 3 cells "),
        (b'"1"2,3', "table's row"),
        (b"1,\xfc", "UTF-8"),
    ],
)
def test_a_wrong_row_of_a_table_costs_itself(tmp_path: Path, line: bytes, mistake: str) -> None:
    before, wrong, after = read(tmp_path / "a.csv", b"a,b\n1,2\n" + line + b"\n5,6\n")
    assert (before, after) == ((2, {"a": "1", "b": "2"}), (4, {"a": "5", "b": "6"}))
    assert wrong[0] == 3
    assert mistake in str(wrong[1])


def test_a_table_cut_short_within_a_cell_is_noticed(tmp_path: Path) -> None:
    whole, cut = read(tmp_path / "a.csv", b'a,b\n1,2\n3,"and so')
    assert whole == (2, {"a": "1", "b": "2"})
    assert (cut[0], "unexpected end" in str(cut[1])) == (3, True)


def test_tabs_part_cells_and_quotes_are_text(tmp_path: Path) -> None:
    assert read(tmp_path / "a.tsv", b'a\tb\n"Aye," she said\t"2\n') == [
        (2, {"a": '"Aye," she said', "b": '"2'})
    ]


def test_options_of_a_table_are_a_json_list_and_other_cells_are_text(tmp_path: Path) -> None:
    text = b'options,answer\n"[""a"", ""b""]","[1, 2]"\n[0;1],[\n'
    assert read(tmp_path / "a.csv", text) == [
        (2, {"options": ["a", "b"], "answer": "[1, 2]"}),
        (3, {"options": "[0;1]", "answer": "["}),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.parquet", b"PAR1 and no more"),
        ("a.parquet", b""),
        ("a.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)[:-9]),
        ("a.jsonl.gz", b'{"a": 1}\n'),
        ("a.jsonl.gz", gzip.compress(b'{"a": "b"}\n', mtime=0)[:10] + b"\xff" * 9),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    with refused("file.unreadable"):
        read(tmp_path / name, content)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.jsonl", gzip.compress(b'{"a": 1}', mtime=0), "gzip"),
        ("a.csv", b"PAR1 and so on", "NAME.parquet"),
        ("a.parquet", b"PK\3\4 and so on", " zip "),
        ("a.jsonl", '{"a": 1}'.encode("utf-16"), "UTF-16"),
        ("a.jsonl", json.dumps([{"a": 1}], indent=1).encode(), "line 1, opens"),
        ("a.jsonl", json.dumps({"a": 1}, indent=1).encode(), "line 1, opens"),
        ("a.csv", b"a,b,a\n1,2,3\n", "line 1, names"),
    ],
)
def test_a_file_of_another_kind_than_its_name_says_is_one_mistake(
    tmp_path: Path, name: str, content: bytes, named: str
) -> None:
    with refused("file.format") as told:
        read(tmp_path / name, content)
    assert told.value.given.startswith(str(tmp_path / name))
    assert named in str(told.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused("file.unreadable"):
        list(files.rows(tmp_path / "none.csv"))
    (tmp_path / "folder.jsonl").mkdir()
    with refused("file.unreadable"):
        list(files.rows(tmp_path / "folder.jsonl"))


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\t\x00"), min_size=1)


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "csv", "tsv", "parquet"])
@given(asks=st.lists(texts, min_size=1, max_size=5))
def test_any_text_comes_through_every_format(
    tmp_path_factory: pytest.TempPathFactory, kind: str, asks: list[str]
) -> None:
    made: list[dict[str, Any]] = [{"ask": ask, "options": [ask], "gold": "A"} for ask in asks]
    path = write(tmp_path_factory.mktemp("any") / f"some.{kind}", made)
    assert [json.dumps(row) for _, row in files.rows(path)] == [json.dumps(row) for row in made]
