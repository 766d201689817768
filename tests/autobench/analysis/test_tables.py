"""Tables from elsewhere: what is taken, and how mistakes are told."""

from pathlib import Path

import pytest
from refusals import refusal, refused

from raybench.autobench.analysis.tables import parse, problems, read

MODELS = ("ada", "bob", "cyd", "dan")


def told(text: str) -> str:
    with refused("file.format", "autobench.external.mmlu") as error:
        parse(text, "mmlu", "t.csv", MODELS)
    return str(error.value)


def test_marks_spaces_blank_lines_and_percent_signs_are_taken(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_bytes(
        b'\xef\xbb\xbfName , MMLU-Pro\r\n\r\n ada , 61.5 %\r\n"bob",7e1\r\ncyd,-3%\r\n,\r\n'
    )
    table = read("mmlu", str(file), MODELS)
    assert dict(table.scores) == {"ada": 61.5, "bob": 70.0, "cyd": -3.0}
    assert table.missing == ("dan",)
    assert list(problems({"mmlu": str(file)}, MODELS)) == []


def test_every_mistake_is_told_with_its_line_and_mend() -> None:
    said = told("model,score\nada,1\nbop,2\nada,3\ncyd,good\ndan,1,2\nbob\nbob,nan\n")
    assert said.startswith("autobench.external.mmlu: t.csv:4: 'ada' stands in line 2 already: keep")
    assert "t.csv:5: 'good' is no number" in said
    assert "t.csv:6: its columns are 3, those of the headings 2" in said
    assert "t.csv:7: its columns are 1, those of the headings 2" in said
    assert "t.csv:8: 'nan' is no number" in said


def test_headings_are_missed() -> None:
    assert "t.csv:1: the first line is headings" in told("ada,1\nbob,2\ncyd,3\ndan,4\n")
    assert "t.csv:1: 3 columns where two are expected" in told("name,elo,votes\nada,1,2\n")
    assert "t.csv:1: one column where two are expected" in told("model\nada\n")


def test_a_wider_table_of_more_models_is_taken_and_who_is_left_out_is_told() -> None:
    text = (
        "Rank,Model,Score,Votes\n1,zoe,9,5\n2,bop,8,1\n3,ada,7,2\n4,cyd,6,3\n5,dan,5,-\n6,yan,,\n"
    )
    table = parse(text, "arena", "t.csv", MODELS)
    assert dict(table.scores) == {"ada": 7.0, "cyd": 6.0, "dan": 5.0}
    assert (table.missing, table.others) == (("bob",), ("zoe", "bop", "yan"))
    assert table.remark == (
        "arena has 3 of the 4 models, and not bob; not in the roster: zoe, bop, yan "
        "(another name: bop for bob?)"
    )
    exact = parse("model,score\nada,1\nbob,2\ncyd,3\ndan,4\n", "mmlu", "t.csv", MODELS)
    assert exact.remark == ""


def test_a_table_of_other_models_alone_is_refused_by_their_names() -> None:
    said = told("model,score\nAda,1\nBob,2\nCyd,3\n")
    assert "has 0 of the roster's models, but Ada, Bob, Cyd: rankings" in said
    assert "by the names of the roster (ada, bob, cyd, dan)" in said


@pytest.mark.parametrize("text", ["", "model,score\n", "model,score\nada,1\nbob,2\n"])
def test_too_few_models_are_refused(text: str) -> None:
    assert "rankings are compared over 3 or more" in told(text)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"model,score\n\xff\xfe\n")
    given = {name: str(tmp_path / f"{name}.csv") for name in ("none", "bad")}
    given["folder"] = str(tmp_path)
    none, bad, folder = problems(given, MODELS)
    assert refusal(none) == ("file.missing", "autobench.external.none")
    assert refusal(bad) == ("file.unreadable", "autobench.external.bad")
    assert refusal(folder) == ("file.unreadable", "autobench.external.folder")
