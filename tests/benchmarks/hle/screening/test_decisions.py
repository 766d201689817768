from typing import Any, get_args

import pytest
from hle_rows import exact
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.benchmarks.parts.hle.screening import review
from raybench.benchmarks.parts.hle.screening.decisions import (
    Decided,
    Review,
    State,
    decide,
    read,
    row_mistakes,
)
from raybench.benchmarks.parts.hle.screening.review import Reviewed, SheetError
from raybench.benchmarks.parts.hle.screening.rubric import CHECKS, DECISIONS, PROHIBITED

PASSED, GOOD_SO_FAR, TO_AUDIT, APPROVED, REVISE, LOW, REJECTED = get_args(State)
COMMENT = "-1 is an answer, too"  # no formula
GOOD = {**dict.fromkeys(CHECKS, "yes"), PROHIBITED: "no", "score": "4", "decision": "accept"}


def filled(turn: int = 2, key: str = "q", /, **cells: str) -> dict[str, str]:
    """Return a row as one reviewer leaves it; without cells it is blank."""
    row = {**dict.fromkeys(review.COLUMNS, ""), "id": key, "round": str(turn)}
    return row | ({"reviewer": "Ada", **cells} if any(cells.values()) else {})


def decisions(*sheets: Any) -> dict[str, Decided]:
    """Return what became of each question on sheets."""
    return {
        key: decide(key, [it for _, it in filled.rows], filled.asked)
        for key, filled in read(*sheets).items()
    }


def decided(*rows: dict[str, str]) -> Any:
    return decisions(enumerate(rows, start=2))


def state(*turns: tuple[int, str]) -> str:
    """Return the state after reviews, each a round with a decision and, behind it, a score."""
    rows = []
    for number, (turn, said) in enumerate(turns):
        decision, _, score = said.partition(" ")
        reviewer = f"{number}" if decision else ""
        rows.append(filled(turn, decision=decision, score=score, reviewer=reviewer))
    return str(decided(*rows)["q"].state)


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([(1, "accept 4"), (2, "accept")], APPROVED),
        ([(1, "accept 5"), (1, "accept 3"), (2, "accept 5")], APPROVED),
        # The second round overrules a first one whose scores are good.
        ([(1, "revise 4"), (1, "accept 4"), (2, "accept")], APPROVED),
        # Without the first round nothing is approved, nor without a score in it.
        ([(2, "accept")], PASSED),
        ([(2, "accept 5"), (2, "accept 5")], PASSED),
        ([(1, "accept"), (2, "accept")], PASSED),
        ([(1, ""), (1, ""), (2, "")], PASSED),
        ([(1, "accept 4")], GOOD_SO_FAR),
        ([(1, "accept 4"), (1, "")], GOOD_SO_FAR),
        ([(1, "accept 3"), (1, "accept 4"), (2, "accept")], LOW),
        ([(1, "accept 1")], LOW),
        ([(1, "accept 5"), (2, "accept 3")], LOW),
        ([(1, "accept 5"), (2, "accept"), (2, "revise")], REVISE),
        ([(1, "accept 5"), (1, "reject 0")], REVISE),
        ([(1, "revise 5")], REVISE),
        ([(1, "reject 1"), (1, "reject 1"), (2, "revise 1")], REVISE),
        ([(2, "accept"), (2, "reject")], REJECTED),
        ([(1, "accept 5"), (2, "reject 5")], REJECTED),
        ([(1, "reject"), (1, "reject")], REJECTED),
        # A blank row is a reviewer who has not spoken.
        ([(1, "reject"), (1, "")], REVISE),
        ([(1, ""), (1, "reject"), (1, "reject")], REVISE),
        ([(1, "reject"), (1, ""), (2, "reject")], REJECTED),
        ([(1, "reject"), (2, "")], REJECTED),
    ],
)
def test_what_is_good_in_the_first_round_and_accepted_in_the_second_is_approved(
    turns: list[tuple[int, str]], expected: str
) -> None:
    assert state(*turns) == expected


@pytest.mark.parametrize(
    ("searched", "expected", "rounds"),
    [
        (None, TO_AUDIT, (3,)),
        ("unsure", TO_AUDIT, (3,)),
        ("yes", APPROVED, ()),
        ("no", REJECTED, ()),
    ],
)
def test_what_a_search_may_find_is_approved_after_a_person_searched_in_vain(
    searched: str | None, expected: str, rounds: tuple[int, ...]
) -> None:
    rows = [filled(1, **GOOD), filled(2, **GOOD)]
    if searched:
        rows.append(filled(3, decision="accept", non_searchable=searched))
    reviews = [it for _, it in read(enumerate(rows, start=2))["q"].rows]
    found = decide("q", reviews, 1, searchable=True)
    assert (found.state, found.rounds) == (expected, rounds)
    assert decide("q", reviews[:2], 1).state == APPROVED
    assert decide("q", [], 1, searchable=True).rounds == (1, 2, 3)


def test_a_review_comes_back_from_json() -> None:
    (review_of,) = decided(filled(1, **GOOD))["q"].reviews
    assert Review.of_json(review_of.to_json()) == review_of


def test_copies_of_a_sheet_are_read_together_whichever_row_each_reviewer_took() -> None:
    ada = filled(1, decision="reject", reviewer="Ada")
    eve = filled(1, decision="reject", reviewer="Eve")
    blank = filled(1)

    def state_of(*sheets: list[dict[str, str]]) -> str:
        return decisions(*(enumerate(sheet, start=2) for sheet in sheets))["q"].state

    assert state_of([ada, blank], [blank, eve]) == REJECTED
    assert state_of([ada, blank], [eve, blank]) == REJECTED
    assert state_of([ada, blank]) == REVISE
    # The same review twice is one, and a reviewer's later word replaces the earlier one.
    assert state_of([ada, blank], [ada, blank]) == REVISE
    assert state_of([ada, blank], [ada | {"comments": "no", "reviewer": "ADA "}, blank]) == REVISE
    accepting = filled(1, **GOOD)
    assert state_of([ada], [accepting]) == GOOD_SO_FAR
    assert state_of([accepting], [ada]) == REJECTED
    # What they wrote about another text is another review.
    assert state_of([ada], [accepting | {"question": "another"}]) == REVISE


def test_a_reviewer_of_several_rows_counts_once_in_the_mean_score() -> None:
    twice = [filled(1, decision="accept", score="3") for _ in range(2)]
    other = filled(1, decision="accept", score="5", reviewer="Bob")
    assert decided(*twice, other)["q"].state == GOOD_SO_FAR


def test_a_question_is_rejected_if_one_reviewer_fills_in_all_rows_with_reject() -> None:
    ada, blank = filled(1, decision="reject", reviewer="Ada"), filled(1)
    both = [ada, ada | {"reviewer": "ADA "}]
    assert decided(*both)["q"].state == REJECTED
    assert decisions(enumerate(both, start=2), enumerate([blank, blank], 2))["q"].state == REJECTED
    assert decided(*both, blank)["q"].state == REVISE


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(1, "reject"), (1, "")], {"by_decision": {"reject": "0"}, "blank": 1}),
        (
            [(1, "reject"), (1, "revise"), (1, "accept")],
            {"by_decision": {"reject": "0", "revise": "1", "accept": "2"}, "blank": 0},
        ),
        ([(1, ""), (2, "accept"), (2, "revise")], {"round": 2, "blank": 0}),
    ],
)
def test_a_question_to_be_revised_says_who_decided_what(
    rows: list[tuple[int, str]], told: dict[str, Any]
) -> None:
    found = decided(
        *(
            filled(turn, decision=said, reviewer=str(number) if said else "")
            for number, (turn, said) in enumerate(rows)
        )
    )["q"]
    assert (found.state, code(found.why)) == (REVISE, "review.revise")
    assert told.items() <= values(found.why).items()


def test_a_sheet_that_nobody_filled_in_leaves_all_open() -> None:
    text = review.sheet([Reviewed(exact("a"), ""), Reviewed(exact("=b"), "")], reviewers=2)
    found = decisions(review.rows(text))
    assert {key: (it.state, it.reviews) for key, it in found.items()} == {
        "a": (PASSED, ()),
        "=b": (PASSED, ()),
    }


def test_a_sheet_that_was_filled_in_is_read_back() -> None:
    text = review.sheet([Reviewed(exact("a"), ""), Reviewed(exact("b"), "")])
    rows = [row for _, row in review.rows(text)]
    rows[1] |= {**GOOD, "reviewer": " Ada ", "score": "4.0", "decision": " Accept", "round": "2.0"}
    rows[2] |= {"reviewer": "Eve", "decision": "revise", "comments": COMMENT}
    found = decisions(review.rows(review.table(rows)))
    assert [it.state for it in found.values()] == [PASSED, REVISE]
    (ada,) = found["a"].reviews
    assert (ada.reviewer, ada.round, ada.score, ada.decision) == ("Ada", 2, 4, "accept")
    assert ada.checks["precise"] == "yes"
    assert found["b"].reviews[0].comments == COMMENT
    assert found["b"].reviews[0].checks == {}


def test_prohibited_content_turns_a_question_down_whoever_says_so() -> None:
    first = filled(1, prohibited_content="yes", decision="reject")
    assert decided(first, filled(2, **GOOD))["q"].state == REJECTED


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ({"precise": "maybe", "decision": "accept"}, ("no_value", "precise", "maybe")),
        ({"score": "6", "decision": "accept"}, ("no_value", "score", "6")),
        ({"score": "good", "decision": "accept"}, ("no_value", "score", "good")),
        ({"score": "4.5", "decision": "accept"}, ("no_value", "score", "4.5")),
        ({"decision": "ok"}, ("no_value", "decision", "ok", ", ".join(DECISIONS))),
        ({"comments": "nice"}, ("empty", "decision", ", ".join(DECISIONS))),
        ({"decision": "accept", "reviewer": " "}, ("empty", "reviewer")),
        ({"round": "9"}, ("no_value", "round", "9")),
        ({"id": " "}, ("no_id",)),
        ({PROHIBITED: "Yes", "decision": "accept"}, ("accepts_prohibited", PROHIBITED)),
    ],
)
def test_values_that_are_none_are_said_with_their_row(
    cells: dict[str, str], why: tuple[str, ...]
) -> None:
    row = filled(**cells)
    with pytest.raises(SheetError) as refused:
        decided(filled(), row)
    (mistake,) = row_mistakes(row)
    assert str(refused.value) == f"row 3: {mistake}"
    assert code(mistake) == f"sheet.{why[0]}"
    assert set(why[1:]) <= {*values(mistake).values()}


def test_all_wrong_rows_are_told_at_once() -> None:
    lacking = filled(decision="accept")
    del lacking["score"], lacking["precise"]
    with pytest.raises(SheetError) as refused:
        decided(filled(decision="no"), filled(score="7", decision="maybe"), lacking)
    told = str(refused.value).split("; ")
    assert [it.split(":")[0] for it in told] == ["row 2", "row 3", "row 3", "row 4"]
    assert "'precise', 'score'" in told[-1]


def test_of_many_mistakes_the_first_are_told() -> None:
    with pytest.raises(SheetError, match=r"row 11: [^;]*; and 40 more$"):
        decided(*(filled(decision="no") for _ in range(50)))


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([filled(1, **GOOD), filled(2, **GOOD)], []),
        (
            [filled(1, decision="reject"), filled(1, decision="accept")],
            [{"round": 1, "decisions": "accept, some reject"}],
        ),
        # Rounds may differ: the question was mended between them.
        ([filled(1, decision="revise"), filled(2, decision="accept")], []),
        (
            [filled(decision="accept", score="5"), filled(decision="accept", score="3")],
            [{"round": 2, "low": 3, "high": 5}],
        ),
        ([filled(decision="accept", score="5"), filled(decision="accept", score="4")], []),
        (
            [filled(1, decision="revise", precise="no"), filled(**GOOD)],
            [{"column": "precise"}],
        ),
        (
            [filled(1, decision="accept", reviewer="Ada", solvable="no")],
            [{"round": 1, "reviewer": "Ada", "lacking": "solvable"}],
        ),
    ],
)
def test_disagreements_are_told(rows: list[dict[str, str]], told: list[dict[str, Any]]) -> None:
    assert [values(it) for it in decided(*rows)["q"].disagreements] == told


reviews = st.lists(
    st.builds(
        lambda turn, key, decision, score: (
            filled(turn, key, decision=decision, score=score) if decision else filled(turn, key)
        ),
        st.sampled_from([1, 2]),
        st.sampled_from("ab"),
        st.sampled_from(["", *DECISIONS]),
        st.sampled_from(["", "3", "4", "5"]),
    ),
    max_size=8,
)


@given(reviews, st.randoms(use_true_random=False))
def test_the_order_of_reviews_decides_nothing(rows: list[dict[str, str]], order: Any) -> None:
    def states(of: list[dict[str, str]]) -> dict[str, Any]:
        return {key: (it.state, it.disagreements) for key, it in decided(*of).items()}

    assert states(order.sample(rows, len(rows))) == states(rows)


@given(reviews)
def test_nothing_is_approved_without_the_second_round_and_nothing_that_it_rejects(
    rows: list[dict[str, str]],
) -> None:
    for key, it in decided(*rows).items():
        own = [row for row in rows if row["id"] == key and row["decision"]]
        first, last = ([row for row in own if row["round"] == turn] for turn in "12")
        scores = [int(row["score"]) for row in first if row["score"]]
        good = bool(scores) and sum(scores) >= 4 * len(scores)
        if it.state == APPROVED:
            assert good and {row["decision"] for row in last} == {"accept"}
        assert it.state == REJECTED or "reject" not in {row["decision"] for row in last}
