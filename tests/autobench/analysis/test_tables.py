"""Tables from elsewhere: what is taken, and how mistakes are told."""

from pathlib import Path

import pytest

from raybench.autobench.analysis.tables import parse, problems, read
from raybench.errors import ConfigurationError

MODELS = ("ada", "bob", "cyd", "dan")


def told(text: str) -> str:
    with pytest.raises(ConfigurationError) as error:
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
    assert said.startswith("autobench.external.mmlu: t.csv:3: unknown model 'bop'")
    assert "did you mean 'bob'?" in said
    assert "t.csv:4: 'ada' stands in line 2 already: keep one" in said
    assert "t.csv:5: 'good' is no number" in said
    assert "t.csv:6: 3 columns where two are expected" in said
    assert "t.csv:7: one column where two are expected" in said
    assert "t.csv:8: 'nan' is no number" in said


def test_headings_are_missed() -> None:
    assert "t.csv:1: the first line is headings" in told("ada,1\nbob,2\ncyd,3\ndan,4\n")


@pytest.mark.parametrize("text", ["", "model,score\n", "model,score\nada,1\nbob,2\n"])
def test_too_few_models_are_refused(text: str) -> None:
    assert "rankings are compared over 3 or more" in told(text)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"model,score\n\xff\xfe\n")
    given = {name: str(tmp_path / f"{name}.csv") for name in ("none", "bad")}
    given["folder"] = str(tmp_path)
    none, bad, folder = problems(given, MODELS)
    assert none.startswith("autobench.external.none: there is no file")
    assert "no text in UTF-8" in bad
    assert "Is a directory" in folder
