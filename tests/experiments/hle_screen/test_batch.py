"""Candidates as a screening finds them: read, and checked against the dataset as it is."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from hle_rows import choice, exact
from refusals import refused
from screening import Row, batch, configured, rows, screened
from toys import WRITERS

from raybench.errors import Code, ConfigurationError
from raybench.experiments.hle_screen import entries
from raybench.pipeline import shards

publishing = partial(configured, review="skip")


def reasons(folder: Path, *candidates: Row | str) -> dict[str, tuple[str, ...]]:
    """Return why candidates are invalid, by where they stand."""
    found = batch(configured(folder, candidates))
    return {each.place: each.candidate.reasons for each in found.invalid}


@pytest.mark.parametrize("kind", WRITERS)
def test_candidates_come_in_every_format_and_from_folders(tmp_path: Path, kind: str) -> None:
    there = [row | {"options": []} for row in [exact("a"), choice("b")]]
    (tmp_path / "in").mkdir()
    for name, some in (("1", there[:1]), ("2", there[1:])):
        (tmp_path / "in" / f"{name}.{kind}").write_bytes(WRITERS[kind](some))
    (tmp_path / "in" / ".hidden.jsonl").write_text("no JSON")
    (tmp_path / "in" / "notes.txt").write_text("no candidate")
    if kind == "tsv":  # whose cells are lines
        pytest.skip("TSV holds no lines of options")
    found = batch(configured(tmp_path, None, candidates=str(tmp_path / "in")))
    assert list(found.valid) == ["a", "b"]
    assert found.files == (f"1.{kind}", f"2.{kind}")


def test_what_is_no_row_is_an_invalid_candidate_and_costs_the_others_nothing(
    tmp_path: Path,
) -> None:
    found = reasons(tmp_path, exact("a"), "{broken", "[1]", exact("b", answer=""))
    assert list(found) == ["in.jsonl, line 2", "in.jsonl, line 3", "in.jsonl, line 4"]
    assert found["in.jsonl, line 2"][0].partition("JSON")[2].startswith(" (")
    assert found["in.jsonl, line 3"][0].partition("JSON")[2].startswith(" object")
    assert found["in.jsonl, line 4"][0].startswith("'answer' ")


def test_the_digest_is_of_all_that_stands_there_in_its_order(tmp_path: Path) -> None:
    a, b = rows("a", "b")
    given: list[list[Row | str]] = [
        [a, b],
        [b, a],
        [a, b, "{broken"],
        [a, b, "[1]"],
        [a, b | {"answer": ""}],
    ]
    found = [batch(configured(tmp_path, it)).digest for it in given]
    assert len(set(found)) == len(found)
    assert batch(configured(tmp_path, [a, b])).digest == found[0]


def test_where_none_is_valid_all_is_told_by_kinds(tmp_path: Path) -> None:
    config = configured(tmp_path, [*(exact(f"q{it}", rationale="") for it in range(5)), "{broken"])
    with (
        shards.scratch() as folder,
        refused("data.invalid", "hle_screen.candidates", kind=ConfigurationError) as caught,
    ):
        batch(config).prepared(config, folder)
    told = str(caught.value).splitlines()
    assert told[0].endswith("in.jsonl: 0 valid, 6 invalid.")
    assert told[1].startswith("  - 5: 'rationale' ")
    assert re.findall(r"in\.jsonl, line (\d)", told[1]) == ["1", "2", "3"]
    assert "2" in told[1].partition("line 3")[2]
    assert "validate=true" in told[-1]


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        ("nowhere", "file.missing"),
        ("empty", "data.missing"),
        ("notes.txt", "file.format"),
        ("broken.parquet", "file.unreadable"),
    ],
)
def test_files_that_are_none_are_said(tmp_path: Path, given: str, mistake: Code) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("notes.txt", "broken.parquet"):
        (tmp_path / name).write_text("x")
    with refused(mistake, kind=ConfigurationError) as caught:
        batch(configured(tmp_path, None, candidates=str(tmp_path / given)))
    assert str(tmp_path / given) in str(caught.value)


def test_the_shipped_candidates_are_there() -> None:
    assert [path.name for path in entries.paths("samples")] == ["hle_candidates.jsonl"]


# ------------------------------------------------------------------- against the dataset as it is


def test_what_the_dataset_has_is_not_screened_again_be_it_held_out(tmp_path: Path) -> None:
    screened(publishing(tmp_path, rows("a"), private=0.0), {"a": "ww"})
    screened(publishing(tmp_path, rows("b"), private=1.0), {"b": "ww"})
    again = [*rows("a"), rows("b")[0] | {"id": "another"}, *rows("c")]
    found = batch(publishing(tmp_path, again))
    assert list(found.valid) == ["c"]
    assert [it.candidate.repeats[0][0] for it in found.invalid] == ["a", "b"]
    assert found.invalid[0].candidate.reasons[0].startswith("'id' ")
    assert found.invalid[1].candidate.reasons[0].startswith("'question' ")


def test_a_screening_that_was_killed_finds_its_candidates_as_they_were(tmp_path: Path) -> None:
    screened(publishing(tmp_path, rows("old")), {"old": "ww"})
    config = publishing(tmp_path, rows("a", "b", "c"))
    marks = {"a": "ww", "b": "ww", "c": "Rw"}
    _, killed = screened(config, marks, finish=False)
    before = batch(config)
    assert before.standing.newest is not None
    assert before.standing.newest.number == 2
    assert list(before.valid) == ["a", "b", "c"]
    outcome, folder = screened(config, {})  # its journal has all replies
    assert folder == killed
    assert outcome.about["screening"]["revision"] == 2
    assert list(lines_of(folder.parents[1].parent / "set")) == ["old", "a", "b"]
    # When it is finished they are questions like others.
    assert list(batch(config).valid) == ["c"]


def lines_of(dataset: Path) -> dict[str, Row]:
    found = {}
    for half in ("revisions", "private"):
        newest = max((dataset / half).glob("[0-9]*"))
        for line in (newest / "hle.jsonl").read_text().splitlines():
            found[json.loads(line)["id"]] = json.loads(line)
    return dict(sorted(found.items(), key=lambda it: (it[0] != "old", it[0])))


@pytest.mark.parametrize("change", ["other candidates", "another rule", "anew"])
def test_what_another_screening_published_stands_though_it_was_killed(
    tmp_path: Path, change: str
) -> None:
    config = publishing(tmp_path, rows("a"))
    screened(config, {"a": "ww"}, finish=False)
    if change == "other candidates":
        config = publishing(tmp_path, rows("a", "b"))
    elif change == "another rule":
        config.hle_screen.rule = "worse_than_chance"
    else:
        config.resume = False
    assert "a" not in batch(config).valid
