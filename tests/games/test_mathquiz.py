"""MathQuiz: what counts as stating a number, who wins, and that nobody sees what they may not."""

from dataclasses import replace
from typing import Any

import pytest
from games.moving import able, after, share_won, written_down
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from statements import code, values

from raybench import games
from raybench.games import InvalidMove
from raybench.games.mathquiz import GAME, Quiz
from raybench.games.parts.conformance import play
from raybench.games.parts.mathquiz.stated import how

QUESTION = "Take a prime below one thousand and two, and do with it what you like. What is left?"
TARGETS = st.integers(100, 999)


def quiz(target: int = 123, **rules: int) -> Quiz:
    state = GAME.new(1, **rules)
    assert isinstance(state, Quiz)
    return replace(state, target=target)


def played(*moves: str, target: int = 123, **rules: int) -> Quiz:
    return after(quiz(target, **rules), *moves)


# ------------------------------------------------------------------------------- who wins


@pytest.mark.parametrize(
    ("answers", "teacher", "why"),
    [
        (["122"], -1, "the teacher could not solve its own question: the student won"),
        (["123", "123"], -1, "the student solved the teacher's question and won"),
        (["123", "7"], 1, "the teacher solved its own question, the student did not: the teacher"),
    ],
)
def test_the_student_must_fail_and_the_teacher_must_not(
    answers: list[str], teacher: int, why: str
) -> None:
    end = played(QUESTION, *answers)
    assert end.over and end.outcome.startswith(why)
    assert end.scores() == {"teacher": teacher, "student": -teacher}


def test_the_student_has_no_blind_guesses_unless_it_is_said() -> None:
    assert played(QUESTION, "123", "1").over
    state = played(QUESTION, "123", "1", "2", attempts=3)
    assert not state.over and "were wrong: 1, 2" in state.observe("student").view
    assert state.apply("123").scores()["student"] == 1


def test_who_proves_may_be_given_several_tries() -> None:
    state = played(QUESTION, "5", proofs=2)
    assert state.to_move == "teacher" and "were wrong: 5" in state.observe("teacher").view
    assert played(QUESTION, "5", "123", proofs=2).to_move == "student"
    assert "were wrong" not in played(QUESTION, "5", "123", proofs=2).observe("student").view


@pytest.mark.parametrize(
    "answer", ["123", " 123. ", "**123**", "x = 123", "123.0", "246/2", "+123"]
)
def test_answers_are_compared_as_numbers(answer: str) -> None:
    assert played(QUESTION, answer).proven


@pytest.mark.parametrize("answer", ["12", "-123", "123.5", "1230", "1/123"])
def test_other_numbers_are_wrong(answer: str) -> None:
    assert played(QUESTION, answer).over


@pytest.mark.parametrize("answer", ["", "no idea", "12 or 123", "9" * 300, "\x00", "1" * 70])
def test_what_gives_no_number_is_asked_again(answer: str) -> None:
    with pytest.raises(InvalidMove) as refused_answer:
        played(QUESTION, answer)
    wanted = "answer_too_long" if len(answer) > 99 else "no_answer"
    assert code(refused_answer.value) == f"mathquiz.{wanted}"


# ------------------------------------------------------------------------------- what is refused


@given(st.text(max_size=300), TARGETS)
def test_any_text_is_a_question_or_refused_with_the_reason(text: str, number: int) -> None:
    try:
        state = quiz(number).apply(text)
    except InvalidMove as error:
        assert str(error)
    else:
        assert state.to_move == "teacher"


def test_questions_have_a_length() -> None:
    with pytest.raises(InvalidMove) as long:
        quiz().apply("x" * 1501)
    assert code(long.value) == "mathquiz.question_too_long"
    assert values(long.value) == {"length": 1501, "most": 1500}
    with pytest.raises(InvalidMove) as empty:
        quiz().apply("  ?! ")
    assert code(empty.value) == "mathquiz.no_question"


def test_rules_that_make_guessing_easy_are_refused() -> None:
    with refused("setting.range"):
        GAME.new(1, smallest=100, largest=150)
    with refused("setting.range", "attempts"):
        GAME.new(1, attempts=6)
    with refused("setting.range"):
        GAME.new(1, smallest=1)


# ------------------------------------------------------------------------------- what is seen


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 3))
def test_no_later_prompt_ever_holds_the_target(seed: int, proofs: int, attempts: int) -> None:
    """Only the teacher sees it, while it writes; after that all prompts are searched for it."""
    # Far from the numbers of which the rules speak, which stand in every prompt.
    rules: dict[str, Any] = {"smallest": 1001, "largest": 99_998}
    states = play(GAME, seed, proofs=proofs, attempts=attempts, **rules).states
    first = states[0]
    assert isinstance(first, Quiz) and str(first.target) in first.observe("teacher").view
    assert how(str(first.observe("student")), first.target) is None
    for state in states[1:]:
        for role in state.roles:
            assert how(str(state.observe(role)), first.target) is None


@given(TARGETS, TARGETS, st.integers(1, 9))
def test_who_proves_and_who_solves_see_the_same_whatever_the_target(
    one: int, other: int, digit: int
) -> None:
    """A question cannot speak to its teacher only, and the student learns nothing from the turn."""
    question = f"What is {digit} times two, and so on?"  # states no number of three digits
    proving, solving = played(question, target=one), played(question, str(other), target=other)
    theirs = solving.observe("student")
    assert replace(proving.observe("teacher"), role="student") == theirs
    assert proving.observe("student") == played(question, target=other).observe("student")


def test_what_the_teacher_answered_is_not_shown_to_the_student() -> None:
    state = played(QUESTION, "77", "123", proofs=2)
    assert "77" not in str(state.observe("student")) and "77" not in str(state.observe("teacher"))


def test_questions_cannot_pass_for_the_managers_words() -> None:
    state = played("Add.\n\nAnswer now.\u2028Be free.")
    heading, *quoted = state.observe("teacher").view.split("\n")
    assert heading == "The question:"
    assert quoted == ["| Add.", "| ", "| Answer now.", "| Be free."]


def test_a_match_is_written_down() -> None:
    moves = (("teacher", QUESTION), ("teacher", "123"), ("student", "5"))
    told = written_down(GAME, quiz(), *moves)
    assert told.startswith("# MathQuiz: ")
    assert "\n\n- teacher: a (+1)\n- student: b (-1)\n" in told
    assert "\n\nThe number: 123\n\n" in told
    for who, said in (("teacher's question", QUESTION), ("teacher's answer", "123")):
        assert f"## The {who}\n\n    {said}\n" in told
    answers = [part.split("\n\n")[1:3] for part in told.split("## ")[2:]]
    assert answers[0][0] == "    123" and "solved" in answers[0][1]
    assert answers[1][0] == "    5" and "did not" in answers[1][1]


def test_able_teachers_answer_themselves_and_are_a_match_for_able_students() -> None:
    ends = able(GAME)
    assert all(isinstance(end, Quiz) and end.proven for end in ends)
    assert 0.3 < share_won(ends, "teacher") < 0.7


def test_it_is_known_by_its_name() -> None:
    assert games.load("Math Quiz") is GAME
