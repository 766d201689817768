import pytest
import real_rows
from statements import values

from raybench.benchmarks.parts.hle.screening import closed


@pytest.mark.parametrize(
    "answer",
    [
        "42",
        "-1",
        "$\\frac{\\pi}{2}$",
        "Fundamentals of Musical Acoustics",
        "x = 2 or x = 3",
        "No",
        "((a, b), (c, d))",
        "3" * closed.MOST_LETTERS,
        " ".join(["ab"] * closed.MOST_WORDS),
        "Etcetera",
        "  42\n",
    ],
)
def test_what_can_be_compared_at_a_glance_is_closed(answer: str) -> None:
    assert list(closed.answer(answer)) == []


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("first\nsecond", {}),
        (
            "3" * (closed.MOST_LETTERS + 1),
            {"letters": 251, "words": 1, "most_letters": 250, "most_words": 40},
        ),
        (" ".join(["a"] * 41), {"letters": 81, "words": 41, "most_letters": 250, "most_words": 40}),
        ("Answers may vary", {"words": "Answers may vary"}),
        ("iron, nickel, etc.", {"words": "etc"}),
        ("It depends on the observer", {"words": "It depends"}),
        ("a large city, e.g. Oslo", {"words": "e.g."}),
        ("any reasonable estimate", {"words": "any reasonable"}),
        ("see rationale", {"words": "see rationale"}),
    ],
)
def test_what_is_long_or_left_open_is_refused(answer: str, why: dict[str, object]) -> None:
    (told,) = closed.answer(answer)
    assert values(told) == why


def test_all_that_is_wrong_with_an_answer_is_told() -> None:
    assert len(list(closed.answer("a " * 50 + "\nand so on"))) == 3


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is 2 + 2?", "What is 2 + 2?"),
        ("Let $x = 1$. What is $x$? Give your answer as a fraction.", "What is $x$?"),
        ("What is $x$? Round to 3 digits. Show your work.", "What is $x$?"),
        ("Find n.\n\nNote that n is prime.", "Find n."),
        ("Your answer is wanted.", "Your answer is wanted."),
        ("It is 3.5 m long. How wide?", "How wide?"),
        ('He said "no." "Why?" she asked', '"Why?" she asked'),
        ("", ""),
    ],
)
def test_the_request_is_the_last_sentence_that_is_not_about_its_form(
    question: str, asked: str
) -> None:
    assert closed.request(question) == asked


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Discuss the causes of the war.", "Discuss"),
        ("The war began in 1618. Please explain why.", "explain"),
        ("Let G be a group. Prove that G is abelian.", "Prove"),
        ("Let G be a group.\n\n(b) Show that G is abelian.", "Show that"),
        ("Give an example of a nowhere differentiable function.", "Give an example"),
        ("What is the best proof? What do you think?", "What do you think"),
        ("Which poem, in your opinion, is his best?", "in your opinion"),
        ("Who is your favourite composer?", "your favourite"),
        ("Critically discuss this view. Round to two digits.", "discuss"),
        ("Write a short essay on tides.", "Write a short essay"),
        ("Prove or disprove: G is abelian.", "Prove"),
    ],
)
def test_open_ended_requests_are_refused(question: str, words: str) -> None:
    (told,) = closed.question(question, choice=False)
    assert values(told) == {"words": words}


@pytest.mark.parametrize(
    "question",
    [
        "In 'Explain Yourself!', who plays the lead?",
        "Some prove that P implies Q. What is Q?",
        "Prove that X holds for n > N. What is the least such N?",
        "Discuss is a magazine. In which city was it printed first?",
        "How many scholars discuss this, and which explain why it fails?",
        "Evaluate the integral. Explain your reasoning.",
        "What is $n$? Justify your answer. Show all your work.",
        "Describe the group up to isomorphism.",
        "Which example did Euler give an example of?",
    ],
)
def test_the_words_of_open_requests_are_no_matter_elsewhere(question: str) -> None:
    assert list(closed.question(question, choice=False)) == []


def test_options_close_a_question_but_not_one_of_opinion() -> None:
    assert list(closed.question("Explain why the war began:", choice=True)) == []
    assert list(closed.question("Which poem do you prefer?", choice=True)) != []


def test_asking_for_more_than_the_answer_is_seen() -> None:
    assert closed.besides("Find n, and prove that it is least.") == "and prove"
    assert closed.besides("Find n and prove it. What is n + 1?") is None


@pytest.mark.parametrize("stem", ["math500", "aime2024", "gsm8k_test", "math_test_5000"])
def test_answers_and_questions_of_real_datasets_are_closed(stem: str) -> None:
    rows = real_rows.plain(stem)
    refused = [row["answer"] for row in rows if list(closed.answer(str(row["answer"])))]
    assert len(refused) <= len(rows) / 1000  # one of math_test_5000 breaks within a formula
    assert not [row for row in rows if list(closed.question(row["question"], choice=False))]


def test_right_options_of_a_real_dataset_are_short_and_closed_answers() -> None:
    rows = real_rows.plain("mmlu_pro_test")
    right = [row["options"]["ABCDEFGHIJ".index(row["answer"])] for row in rows]
    assert sum(not list(closed.answer(answer)) for answer in right) > 0.985 * len(rows)
    opinion = [row for row in rows if list(closed.question(row["question"], choice=True))]
    assert len(opinion) <= 2


def test_essay_questions_of_a_real_dataset_are_open_without_their_options() -> None:
    # MMLU-Pro took some of its questions from lists of essays, and gave them options afterwards.
    asked = [row["question"].strip() for row in real_rows.plain("mmlu_pro_test")]
    # Of one sentence: where another question follows, that one is the request.
    one = [it for it in asked if not {"?", ";"} & set(it) and it.count(".") <= 1]
    essays = [it for it in one if it.startswith(("Discuss ", "Explain "))]
    assert len(essays) > 50
    assert all(list(closed.question(it, choice=False)) for it in essays)
