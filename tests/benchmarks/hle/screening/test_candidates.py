from typing import Any

import pytest
import real_rows
from hle_rows import Row, choice, exact, png, uri
from hypothesis import given
from hypothesis import strategies as st
from statements import code, codes, the, values

from raybench.benchmarks.parts.hle.options import CHOICE, EXACT, LETTERS
from raybench.benchmarks.parts.hle.screening import candidates

LONG = (
    "A drum of mass 3 kg and radius 20 cm rolls down a slope of 30 degrees without slipping, "
    "while a thread that is wound around it lifts a mass of 100 g over a pulley without friction; "
    "after how many seconds has the drum rolled down 2 m?"
)


def reasons(row: Row) -> tuple[str, ...]:
    (candidate,) = candidates.check([row])
    assert candidate.valid == (not candidate.reasons)
    return candidate.reasons


@pytest.mark.parametrize(
    "row",
    [
        exact(),
        exact(answer=42, raw_subject="Physics"),
        exact(image=None),
        exact(image=uri(png())),
        exact(author_affiliation="Somewhere"),
        exact(author_affiliation=""),
        exact(answer="No"),
        choice(),
        choice(options=26, answer="Z"),
        choice(options=["Bb", "BB", "bb", "bB", "B"], answer="E"),
        choice(options=["x²", "x2", "(x)", "{x}", "-x"]),
        choice(options=["", "", "", "", ""], image=uri(png())),
        choice(rationale="It is B, as the others have finite order."),
    ],
)
def test_what_is_right_is_valid(row: Row) -> None:
    assert reasons(row) == ()


@pytest.mark.parametrize("column", candidates.REQUIRED)
@pytest.mark.parametrize("value", [None, "", " \n", float("nan")])
def test_every_component_is_required(column: str, value: Any) -> None:
    told = reasons(exact(**{column: value}))
    row = exact()
    del row[column]
    for why in (told, reasons(row)):
        assert the("candidate.required", why)["mend"] == candidates.REQUIRED[column]
        assert len(why) == 1 and why[0].startswith(f"'{column}' ")
    assert told != reasons(row)


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (exact(question=["a"]), ("no_text", "question")),
        (exact(author_name=True), ("no_text", "author_name")),
        (exact(answer_type="exact"), ("answer_type", "exact")),
        (exact(answer="a\nb"), ("several_lines",)),
        (exact(question="Discuss the war."), ("open_ended", "Discuss")),
        (choice(options=4), ("few_options", 4, 5)),
        (exact(answer_type=CHOICE, answer="B"), ("no_options",)),
        (choice(answer="F"), ("no_option", "F", "E", "")),
        (choice(answer="b)"), ("no_option", "b)", "E", ", as 'B'")),
        (choice(answer="AB"), ("no_option", "AB", "E", "")),
        (choice(options=["a", "b", "c", "d", " a ."]), ("same_options", "A", "E")),
        (choice(options=["a", "b", "", "d", "e"]), ("empty_option", "C")),
        (exact(rationale="The answer is 42."), ("no_rationale",)),
        (exact(rationale="42"), ("no_rationale",)),
        (choice(rationale="(B)"), ("no_rationale",)),
        (choice(rationale="B, so the 1th root."), ("no_rationale",)),
        (exact(image="https://example.org/a.png"), ("image",)),
        (exact(image={"bytes": b""}), ("image",)),
        (exact(rationale="so \ud800 on and on"), ("half_character", "rationale")),
    ],
)
def test_what_is_wrong_is_said_with_the_mend(row: Row, why: tuple[object, ...]) -> None:
    (told,) = reasons(row)
    assert code(told) == f"candidate.{why[0]}"
    assert set(why[1:]) <= {*values(told).values()}
    assert any(mend in told for mend in (": ", ". Ask"))


def test_all_that_is_wrong_with_a_row_is_told_at_once() -> None:
    row = choice(options=["x", "x", "y"], answer="D", rationale="D", author_name="", image="x")
    assert {it.removeprefix("candidate.") for it in codes(reasons(row))} == {
        *("required", "few_options", "no_option", "same_options", "no_rationale", "image")
    }
    assert len(reasons(row)) == 6
    assert len(reasons({})) == len(candidates.REQUIRED)


def test_a_row_is_returned_in_the_hubs_columns_as_text() -> None:
    row = exact(answer=42, image=None, question=" Why 1? ", image_preview={"bytes": b"\0"}, more=1)
    (candidate,) = candidates.check([row])
    assert tuple(candidate.row) == candidates.COLUMNS
    assert candidate.row["answer"] == "42"
    assert candidate.row["image"] == ""
    assert candidate.row["question"] == "Why 1?"
    (told,) = candidates.check([exact(author_affiliation=" ETH ")])
    assert told.row["author_affiliation"] == "ETH"


def test_the_first_of_two_that_ask_the_same_stays() -> None:
    rows = [
        exact("old", question=LONG),
        exact("same", question=LONG.upper()),
        exact("near", question=LONG.replace("drum", "disc", 1)),
        exact("other"),
    ]
    valid = [candidate.valid for candidate in candidates.check(rows)]
    assert valid == [True, False, False, True]
    there = candidates.check(rows[1:], rows[:1])
    (same,), (near,) = ([values(why) for why in it.reasons] for it in there[:2])
    assert (same["id"], same["exact"], near["id"], near["exact"]) == ("old", True, "old", False)
    assert 0.8 <= near["share"] < 0.9
    assert there[2].valid
    assert candidates.check(rows[1:], rows[:1], alike=1.0)[1].valid


def test_one_that_is_turned_down_for_something_else_keeps_no_other_from_staying() -> None:
    rows = [exact("a", question=LONG, rationale=""), exact("b", question=LONG)]
    assert [candidate.valid for candidate in candidates.check(rows)] == [False, True]
    told = candidates.check([rows[1], rows[0]])
    assert told[0].valid
    assert len(told[1].reasons) == 2


def test_ids_are_unique_among_candidates_and_in_the_dataset() -> None:
    rows = [exact("a"), exact("b", rationale=""), exact("b", question=LONG), exact("c")]
    told = candidates.check(rows, [exact("c", question="Of what else?")])
    assert [candidate.valid for candidate in told] == [True, False, False, False]
    (earlier,), (there,) = ([values(why) for why in it.reasons] for it in told[2:])
    assert (earlier["id"], there["id"]) == ("b", "c")
    assert earlier["by"] != there["by"]


@pytest.mark.parametrize(
    ("row", "note"),
    [
        (
            exact(answer="Noether", question="Whom did Noether teach?"),
            "answer_told",
        ),
        (exact(answer="No"), "one_of_two"),
        (exact(answer="2 or 3"), "several_answers"),
        (choice(answer_type=EXACT), "options_listed"),
        (
            choice(options=["a", "b", "c", "d", "All of the above"]),
            "about_options",
        ),
        (choice(options=["a", "b", "c", "d", "Both A and C"]), "about_options"),
        (
            choice(options=["a", "b", "c", "d", "B, C, and D only"]),
            "about_options",
        ),
        (
            choice(options=["Bb", "BB", "c", "d", "e"]),
            "alike_options",
        ),
        (exact(question="Find n, and prove that it is least."), "asks_more"),
        (exact(question="What is seen in the image?"), "image_meant"),
        (exact(rationale="By Pick's theorem."), "brief"),
        (exact(answer="$x"), "dollars"),
        (exact(question="What is $\\frac{1}{2$?"), "braces"),
        (exact(question="What is }{?"), "braces"),
        (exact(author_affiliation=""), "no_affiliation"),
    ],
)
def test_what_reviewers_should_look_at_is_noted(row: Row, note: str) -> None:
    (candidate,) = candidates.check([row])
    assert candidate.valid
    (told,) = candidate.notes
    assert code(told) == f"candidate.{note}"


@pytest.mark.parametrize(
    "row",
    [
        exact(question="What do 3 cost, if 2 cost $5?"),
        exact(question="How much is \\$5 and $x$?"),
        exact(question="Is \\{1\\ a set?"),
        exact(answer="18", question="What is 18 + 0?"),
        exact(image=uri(png()), question="What is seen in the image?"),
        choice(options=["A and B antigens", "b", "I and II only", "d", "Bothnia"]),
    ],
)
def test_what_is_usual_is_not_noted(row: Row) -> None:
    (candidate,) = candidates.check([row])
    assert candidate.notes == ()


cells = st.none() | st.text(max_size=20) | st.integers() | st.floats() | st.lists(st.none())
some_rows = st.lists(
    st.dictionaries(st.sampled_from([*candidates.COLUMNS, "author_affiliation"]), cells), max_size=5
)


@given(some_rows, some_rows)
def test_any_rows_are_checked(some: list[Row], existing: list[Row]) -> None:
    told = candidates.check(some, existing)
    assert len(told) == len(some)
    assert all(candidate.valid for candidate in told if candidate.reasons == ())
    assert all(isinstance(value, str) for candidate in told for value in candidate.row.values())


@given(st.permutations([exact("a"), choice("b"), exact("c", rationale=""), exact("d", answer="")]))
def test_rows_that_have_nothing_in_common_are_checked_each_for_itself(some: list[Row]) -> None:
    for row, candidate in zip(some, candidates.check(some), strict=True):
        assert candidate.reasons == reasons(row)


@pytest.mark.parametrize("stem", ["math500", "aime2024", "gsm8k_test", "math_test_5000"])
def test_real_questions_are_valid(stem: str) -> None:
    asked = [
        exact(str(row["id"]), question=row["question"], answer=row["answer"])
        for row in real_rows.plain(stem)
    ]
    told = [it for it in candidates.check(asked) if any("nearly" not in why for why in it.reasons)]
    assert len(told) <= len(asked) / 1000  # MATH has a question twice, and an answer in two lines


def test_real_multiple_choice_questions_are_valid_where_they_have_options_enough() -> None:
    there = [row for row in real_rows.plain("mmlu_pro_test")[::4] if len(row["options"]) >= 5]
    asked = []
    for row in there:
        listed = "\n".join(
            f"{it}. {text}" for it, text in zip(LETTERS, row["options"], strict=False)
        )
        question = f"{row['question']}\n\nAnswer Choices:\n{listed}"
        asked.append(choice(str(row["id"]), question=question, answer=row["answer"]))
    told = [why for it in candidates.check(asked) for why in it.reasons]
    wrong = [why for why in told if "same" not in why and "open-ended" not in why]
    assert not wrong
    assert len(told) < 0.02 * len(asked)
