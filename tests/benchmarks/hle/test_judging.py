import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.benchmarks.parts.hle import judging
from raybench.benchmarks.parts.judged import Judgement

TOLD = {
    "extracted_final_answer": "24",
    "reasoning": "They match.",
    "correct": "yes",
    "confidence": 85,
}
SAID = Judgement(True, "24", "They match.", 85)
LABELLED = """\
extracted_final_answer: 24

reasoning: They match.

correct: yes

confidence: 85%"""


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(TOLD),
        f"```json\n{json.dumps(TOLD, indent=2)}\n```",
        LABELLED,
        LABELLED.replace("85%", "85"),
        LABELLED.replace("correct:", "**correct**:").replace("extracted", "**extracted"),
        LABELLED.upper().replace("THEY MATCH", "They match"),
        f"Here is my judgement.\n\n{LABELLED}",
        f'{{"correct": "yes", {json.dumps(TOLD)[1:]}',  # twice, and the same
    ],
)
def test_json_and_labelled_lines_say_the_same(reply: str) -> None:
    assert judging.read(reply) == SAID


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        *(("yes", True), ("no", False), ("Yes.", True), (" NO ", False), ("'no'", False)),
        *(("yes, it matches", True), ("No. It is 25", False), ("**no**, it is not 24", False)),
        *(("Yes — exactly", True), ("no: 24 is not 25", False), ("yes - exactly", True)),
    ],
)
def test_yes_and_no_in_any_dress(told: str, verdict: bool) -> None:
    for reply in (json.dumps(TOLD | {"correct": told}), LABELLED.replace("yes", told)):
        judgement = judging.read(reply)
        assert judgement
        assert judgement.correct is verdict


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "yes",
        "The answer is correct.",
        json.dumps({name: of for name, of in TOLD.items() if name != "correct"}),
        json.dumps(TOLD | {"correct": "maybe"}),
        json.dumps(TOLD | {"correct": True}),
        json.dumps([TOLD]),
        json.dumps(TOLD)[:-30],
        # It says both, and who knows which it means.
        f"{LABELLED}\n\ncorrect: no",
        f'{json.dumps(TOLD)[:-1]}, "correct": "no"}}',
        f'{{"correct": "no", {json.dumps(TOLD)[1:]}',
        "correct: yes or no",
        "correct: yes/no",
        "correct: yes, or no",
        "correct: No meaningful difference.",
        "correct: No (significant) difference between them",
        "correct: no. of digits matches",
        "correct: yes, incorrect",
        "correct: yes, if the extracted answer matches",
        "correct: no-one knows",
        "correct: yesterday",
        "[" * 100_000,
    ],
)
def test_what_says_neither_yes_nor_no_is_no_judgement(reply: str) -> None:
    assert judging.read(reply) is None


@pytest.mark.parametrize(
    ("told", "percent"),
    [
        *((number, number) for number in (0, 7, 100)),
        *(("80%", 80), ("80 %", 80), ("99.5", 99), (85.0, 85), ("100.", 100)),
        *((0.95, 95), ("0.5", 50), (0.0, 0), ("0.5%", 0), ("1.0", 1)),
        *((None, None), ("", None), ("none", None), (101, None), (-3, None), (True, None)),
        *(("high", None), (1e9, None), ([80], None)),
    ],
)
def test_a_confidence_is_a_percentage_or_none(told: Any, percent: int | None) -> None:
    judgement = judging.read(json.dumps(TOLD | {"confidence": told}))
    assert judgement
    assert judgement.confidence == percent


def test_a_confidence_that_is_not_there_is_none() -> None:
    judgement = judging.read(LABELLED.partition("\n\nconfidence")[0])
    assert judgement == Judgement(True, "24", "They match.", None)


@pytest.mark.parametrize("none", ["None", "none", "", "'None'", " None. "])
def test_none_is_no_answer(none: str) -> None:
    judgement = judging.read(json.dumps(TOLD | {"extracted_final_answer": none}))
    assert judgement
    assert judgement.extracted is None


@given(st.text())
def test_whatever_a_judge_says_is_read_without_an_error(reply: str) -> None:
    judging.read(reply)
    judging.answer(reply)
    judging.confidence(reply)


@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.integers(min_value=0, max_value=100),
)
def test_json_that_fits_the_schema_is_always_read(text: str, right: bool, confidence: int) -> None:
    told = TOLD | {"reasoning": text, "correct": "yes" if right else "no", "confidence": confidence}
    judgement = judging.read(json.dumps(told))
    assert judgement == Judgement(right, "24", text.strip(), confidence)


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Explanation: x\nExact Answer: 42\nConfidence: 90%", "42"),
        ("Explanation: x\n\nAnswer: C\n\nConfidence: 90%", "C"),
        ("**Exact Answer:** $\\frac{1}{2}$\n**Confidence:** 5%", "$\\frac{1}{2}$"),
        ("Answer: A\nOn second thought:\nAnswer: B", "B"),
        ("Final Answer:\n1 2\n3 4\nConfidence: 1%", "1 2\n3 4"),
        ("- answer : none of them", "none of them"),
        ("Explanation: the answer: 3 is wrong", None),
        ("Answer:", None),
        ("Answer:\nConfidence: 90%", None),
        ("", None),
    ],
)
def test_the_last_answer_is_read(response: str, answer: str | None) -> None:
    assert judging.answer(response) == answer


@pytest.mark.parametrize(
    ("response", "percent"),
    [
        ("Confidence: 90%", 90),
        ("Answer: 4\n**Confidence:** 7 %", 7),
        ("confidence score: 100%", 100),
        ("Confidence: 20%\nConfidence: 30%", 30),
        ("Confidence: 99.5%", 99),
        ("Confidence: 0.85", 85),
        ("Confidence: 0.5 %", 0),
        ("Confidence: 250%", None),
        ("Confidence: 1234", None),
        ("Confidence: high", None),
        ("I have confidence: 80%", None),
        ("", None),
    ],
)
def test_the_last_confidence_is_read(response: str, percent: int | None) -> None:
    assert judging.confidence(response) == percent


@pytest.mark.parametrize(
    "hostile", ["answer:" * 30_000, "answer: \n" * 30_000, " " * 200_000, "correct: \n" * 30_000]
)
@pytest.mark.timeout(30)
def test_long_hostile_texts_take_no_time(hostile: str) -> None:
    judging.answer(hostile)
    judging.confidence(hostile)
    judging.read(hostile)
