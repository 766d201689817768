"""Tables from elsewhere: what is taken, and how mistakes are told."""

from pathlib import Path

import pytest
from refusals import refusal, refused
from statements import code, the, values

from raybench.autobench.analysis.tables import parse, parse_leniently, problems, read
from raybench.statements import Statement

MODELS = ("ada", "bob", "cyd", "dan")


def told(text: str) -> list[Statement]:
    """Return the mistakes in a table, all of which its refusal has."""
    with refused("file.format", "autobench.external.mmlu") as error:
        parse(text, "mmlu", "t.csv", MODELS)
    _, mistakes = parse_leniently(text, "mmlu", "t.csv", MODELS)
    assert all(it in str(error.value) for it in mistakes)
    return mistakes


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
    assert [(code(it), values(it)["at"]) for it in said] == [
        ("table.repeated", "t.csv:4"),
        ("table.number", "t.csv:5"),
        ("table.width", "t.csv:6"),
        ("table.width", "t.csv:7"),
        ("table.number", "t.csv:8"),
    ]
    assert values(said[0])["first"] == 2


def test_headings_are_missed() -> None:
    assert code(told("ada,1\nbob,2\ncyd,3\ndan,4\n")[0]) == "table.no_headings"
    for text in ("name,elo,votes\nada,1,2\n", "model\nada\n"):
        assert the("table.columns", told(text))["at"] == "t.csv:1"


def test_a_wider_table_of_more_models_is_taken_and_who_is_left_out_is_told() -> None:
    text = (
        "Rank,Model,Score,Votes\n1,zoe,9,5\n2,bop,8,1\n3,ada,7,2\n4,cyd,6,3\n5,dan,5,-\n6,yan,,\n"
    )
    table = parse(text, "arena", "t.csv", MODELS)
    assert dict(table.scores) == {"ada": 7.0, "cyd": 6.0, "dan": 5.0}
    assert (table.missing, table.others) == (("bob",), ("zoe", "bop", "yan"))
    assert values(table.remark)["meant"] == {"bop": "bob"}
    exact = parse("model,score\nada,1\nbob,2\ncyd,3\ndan,4\n", "mmlu", "t.csv", MODELS)
    assert exact.remark == ""


def test_a_table_of_other_models_alone_is_refused_by_their_names() -> None:
    said = the("table.few_models", told("model,score\nAda,1\nBob,2\nCyd,3\n"))
    assert (said["there"], said["roster"]) == (0, ", ".join(MODELS))
    assert all(name.title() in said["known"] for name in MODELS[:3])


@pytest.mark.parametrize("text", ["", "model,score\n", "model,score\nada,1\nbob,2\n"])
def test_too_few_models_are_refused(text: str) -> None:
    assert the("table.few_models", told(text))["least"] == 3


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"model,score\n\xff\xfe\n")
    given = {name: str(tmp_path / f"{name}.csv") for name in ("none", "bad")}
    given["folder"] = str(tmp_path)
    none, bad, folder = problems(given, MODELS)
    assert refusal(none) == ("file.missing", "autobench.external.none")
    assert refusal(bad) == ("file.unreadable", "autobench.external.bad")
    assert refusal(folder) == ("file.unreadable", "autobench.external.folder")
