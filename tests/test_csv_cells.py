"""No cell of a CSV file of ours is run by a spreadsheet, and each comes back as it was."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import raybench
from raybench.autobench.analysis import tables
from raybench.csv_cells import guard_cell, unguard_cell
from raybench.tracking.leaderboard import Column, to_csv

SIGNS = tuple("=+-@\t\r\n＝＋－＠")
CELLS = st.text() | st.builds(
    str.__add__, st.text("'", max_size=2), st.builds(str.__add__, st.sampled_from(SIGNS), st.text())
)


@given(CELLS)
def test_a_guarded_cell_is_no_formula_and_comes_back(text: str) -> None:
    guarded = guard_cell(text)
    assert not guarded.startswith(SIGNS)
    assert unguard_cell(guarded) == text
    assert guarded in (text, f"'{text}")


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "@SUM(A1)", "-2", "'=1", "plain"])
def test_a_models_name_in_the_leaderboard_is_no_formula(name: str) -> None:
    estimate = {"value": -0.5, "stderr": 0.1, "ci95": [-0.7, -0.3], "n": 9, "method": "-mean"}
    results = {"models": {name: {"t/score": estimate}}, "counts": {name: {"ok": 9}}}
    text = to_csv(results, [Column("t/score", "Score")])
    (row,) = csv.DictReader(io.StringIO(text))
    assert not row["model"].startswith(SIGNS) and unguard_cell(row["model"]) == name
    assert unguard_cell(row["t/score/method"]) == "-mean"
    assert float(row["t/score"]) == -0.5  # a number is no text: it stays one


def test_our_own_names_are_found_again_in_a_table_from_elsewhere() -> None:
    names = ["=a", "'=a", "b"]
    text = "model,score\n" + "".join(f"{guard_cell(it)},{at}\n" for at, it in enumerate(names))
    assert tables.parse(text, "t", "t.csv", names).scores == dict(zip(names, range(3), strict=True))


def test_every_writer_of_csv_files_guards_its_cells() -> None:
    sources = (path.read_text("utf-8") for path in Path(raybench.__file__).parent.rglob("*.py"))
    writers = [source for source in sources if "csv.writer(" in source or "DictWriter(" in source]
    assert writers
    assert all("guard_cell(" in source or "guard_cell," in source for source in writers)
