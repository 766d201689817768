"""simple-evals' conventions for Multilingual MMLU."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.grading import choice


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("Answer: B", "B"),
        ("ANSWER : B", "B"),
        ("Answer:\tB", "B"),
        ("**Answer:** B", "B"),
        ("**Answer: B**", "B"),
        ("Answer: **B**", "B"),
        ("Answer: $B$", "B"),
        ("Answer: $\\boxed{B}$", "B"),
        ("Answer: \\boxed{B}", "B"),
        ("Answer: $\\text{B}$", "B"),
        ("Answer: \\mathrm{B}", "B"),
        ("Answer: \\mathbf{B}", "B"),
        ("Answer: \\(B\\)", "B"),
        ("Answer:\u200b\u200b\u200b\u200b\u200b\u200bB", "B"),
        ("Antwort: B", "B"),
        ("Respuesta : B", "B"),
        ("Réponse : B", "B"),
        ("Re\u0301ponse : B", "B"),
        ("Resposta: B", "B"),
        ("Risposta: B", "B"),
        ("Jawaban: B", "B"),
        ("Jibu: B", "B"),
        ("Ìdáhùn: B", "B"),
        ("I\u0300da\u0301hu\u0300n: B", "B"),
        ("উত্তর: খ, উত্তর: ব", "B"),
        ("উত্তরঃ অ", "A"),
        ("উত্তর: ড", "C"),
        ("উত্তর: ঢ", "D"),
        ("उत्तर: D", "D"),
        ("답변: B", "B"),
        ("정답: B", "B"),
        ("答案：B", "B"),
        ("答え: Ｂ", "B"),
        ("回答：Ｄ", "D"),
        ("الإجابة: أ", "A"),
        ("الإجابة الصحيحة هي: ب", "B"),
        ("الجواب: ج", "C"),
        ("إجابة: د", "D"),
    ],
)
def test_the_answer_is_read_in_its_language(response: str, letter: str) -> None:
    assert choice.localised(response) == letter


@pytest.mark.parametrize(
    "response",
    ["", "B", "Answer: (B)", "Answer is B", "Answer: 2", "Answer:\nB", "Ответ: B", "คำตอบ: B"],
)
def test_other_forms_are_not_read(response: str) -> None:
    assert choice.localised(response) is None


@pytest.mark.parametrize(
    ("response", "captured"), [("Answer: b", "b"), ("Answer: because", "b"), ("الإجابة: ت", "ت")]
)
def test_what_is_no_option_comes_back_as_it_is(response: str, captured: str) -> None:
    assert choice.localised(response) == captured


def test_languages_are_tried_in_order_and_the_first_answer_counts() -> None:
    assert choice.localised("Antwort: C\nAnswer: B") == "B"
    assert choice.localised("Answer: A would be wrong.\nAnswer: B") == "A"
    assert choice.localised("Answer: unknown. Antwort: C") == "C"


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    found = choice.localised(text)
    assert found is None or len(found) == 1


@given(st.text("xyz \n"), st.sampled_from("ABCD"), st.text("xyz \n"))
def test_an_answer_is_found_in_any_chatter(before: str, letter: str, after: str) -> None:
    assert choice.localised(f"{before}\nRespuesta: {letter}\n{after}") == letter


@pytest.mark.parametrize(
    "hostile",
    ["Answer" + " " * 1_000_000, "Answer:" + "\t" * 1_000_000, "答 " * 500_000, "$" * 1_000_000],
    ids=lambda text: repr(text[:12]),
)
def test_a_hostile_megabyte_is_read_quickly(hostile: str) -> None:
    begun = time.process_time()
    choice.localised(hostile)
    # Some 0.5 s here: forty patterns. What is quadratic takes hours. No slow machine is to decide.
    assert time.process_time() - begun < 30
