"""What a reply settles on, in the forms that the methodology's pattern misses, and no more."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import extract
from raybench.grading.improved import choice
from raybench.grading.improved.statements import NoAnswer

OPTIONS = ("A dog", "Paris", "London", "E coli", "I only")


def stated(text: str, options: tuple[str, ...] = OPTIONS) -> str | None:
    try:
        return choice.stated(text, options)
    except NoAnswer:
        return None


@pytest.mark.parametrize(
    "response",
    [
        "Answer: C",
        "answer: c",
        "**Answer:** C",
        "**Answer: C**",
        "Answer: **C**",
        "Answer: (C)",
        "Answer: [C]",
        "Answer: $C$",
        "Answer: \\boxed{C}",
        "Answer: $\\boxed{\\text{(C)}}$",
        "So it is \\boxed{C}.",
        "\\boxed{\\textbf{C}}",
        "Answer: \\(C\\)",
        "Answer:\n\nC",
        "Answer:\u200b\u200bC",
        "The answer is: C",
        "The answer is C.",
        "The final answer is **C**.",
        "The correct option is (C)",
        "The best choice is C, because A is wrong",
        "The correct answer is London (C).",
        "The answer is most likely option C",
        "Answer: C because A is not one",
        "Answer: C) London",
        "Answer: C. London",
        "Answer: C - London",
        "Answer: London",
        "Answer: C, I think",
        "C",
        "(C)",
        "C) London",
        "It must be so.\n\n**C**",
        "Antwort: C",
        "Die richtige Antwort ist C",
        "La respuesta correcta es C",
        "La risposta corretta è C",
        "Réponse : C",
        "Re\u0301ponse : C",
        "A resposta correta é: C",
        "Jibu sahihi ni C",
        "Jawaban yang benar adalah C",
        "Ìdáhùn: C",
        "正确答案是 C。",
        "答案：Ｃ",
        "答えは C です",
        "정답은 C입니다",
        "الإجابة الصحيحة هي: ج",
        "উত্তর: গ",
        "उत्तर: ग",
        "सही उत्तर C है",
        "คำตอบคือ C",
        "Ответ: C",
    ],
)
def test_the_option_is_read_in_any_form(response: str) -> None:
    assert stated(response) == "C"


@pytest.mark.parametrize(
    "response",
    [
        "",
        "Answer:",
        "Answer: A/B/C/D",
        "Answer: A/B/C/D/E (e.g. 'Answer: A')",
        "Answer: $LETTER",
        "Answer: A or B",
        "Answer: either A or B",
        "Answer: A, B",
        "Answer: B and C",
        "Answer: B C",
        "Respuesta: A o B",
        "Answer: A cat",
        "Answer: a cow and a cat",
        "Answer: I think so",
        "Answer: C++",
        "Answer: C = 5",
        "Answer: B.C. 70",
        "Answer: because",
        "Answer: K",
        "Answer: 3",
        "Answer: C is wrong",
        "The answer is not C",
        "The wrong answer is C",
        "If the answer is C, then",
        "I do not know",
        "A) A dog\nB) Paris\nC) London",
        "উত্তর: গরু",
        "الإجابة: ت",
    ],
)
def test_what_settles_on_no_option_is_no_answer(response: str) -> None:
    assert stated(response) is None


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer: A", "A"),
        ("Answer: A.", "A"),
        ("Answer: A because dogs bark", "A"),
        ("Answer: A (a dog)", "A"),
        ("Answer: A dog", "A"),  # the option's text
        ("Answer: E", "E"),
        ("Answer: E coli", "D"),  # the text of another option
        ("Answer: E coli, which lives in guts", "D"),
        ("Answer: I only", "E"),
        ("Answer: A A dog", "A"),  # the letter with its own option's text
        ("Answer: E) I only", "E"),
        ("Answer: E I only, as I said", "E"),
        ("The answer is I only (E).", "E"),
        ("Answer: B) C is wrong", "B"),
    ],
)
def test_words_of_one_letter_are_told_from_letters(response: str, letter: str) -> None:
    assert stated(response) == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer: B\nNo, wait.\nAnswer: C", "C"),
        ("The answer is C.\n\nAnswer: B", "B"),
        ("Answer: B\n\nI hope this answer is helpful.", "B"),
        ("Answer: B or C. So the answer is C.", "C"),
        ("Answer: C\nAnswer: A/B/C/D", None),
        ("B) Answer: C) London", "C"),
        ("Answer: C) A dog", "C"),
        ("Is it A?\n\nB)", None),
        ("in the following format: 'Answer: A/B/C/D' (e.g. 'Answer: A').\n\nAnswer: C", "C"),
        ("Here it is in the format:\n\nAnswer: C", "C"),
    ],
)
def test_the_last_statement_that_names_an_option_counts(response: str, letter: str | None) -> None:
    assert stated(response) == letter


def test_it_is_said_why_there_is_no_answer() -> None:
    for response, why in (
        ("Answer: A or B", ": A, B"),
        ("Answer: K", "'K' "),
        ("Dogs bark.", "no option"),
    ):
        with pytest.raises(NoAnswer, match=why):
            choice.stated(response, OPTIONS)


@given(st.text(), st.lists(st.text(), min_size=2, max_size=10))
def test_no_text_breaks_it(text: str, options: list[str]) -> None:
    found = stated(f"Answer: {text}", tuple(options))
    assert found is None or found in choice.LETTERS[: len(options)]


@given(st.text("xyz.,\n"), st.sampled_from("ABCDE"), st.sampled_from(["", ".", "\n", "\n\n", ")"]))
def test_what_the_methodology_reads_in_the_asked_form_is_read_alike(
    before: str, letter: str, after: str
) -> None:
    response = f"{before}\nAnswer: {letter}{after}"
    assert stated(response) == letter == extract.choice(response)


@pytest.mark.parametrize(
    "hostile",
    ["Answer" + " " * 10**6, "Answer: A/" * 10**5, "\\boxed{" * 10**5, "Answer: " + "A," * 10**6,
     "答 " * 500_000, "\n" * 10**6, "*" * 10**6, "correct " * 10**5, "A" * 10**6],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_a_hostile_megabyte_is_read_quickly(hostile: str) -> None:
    begun = time.process_time()
    stated(hostile)
    assert time.process_time() - begun < 30  # some 1 s: no slow machine is to decide
