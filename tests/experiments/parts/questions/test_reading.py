import random
import re
from typing import Any

import pytest
from statements import values

from raybench import benchmarks
from raybench.config import DataConf
from raybench.experiments.parts.questions import reading
from raybench.experiments.parts.questions.reading import MOST, Samples, kind_of, place_of
from raybench.pipeline import questions, sources
from raybench.pipeline.stages import Asking
from raybench.types import ModelSpec

ROW = {
    "question_id": 7,
    "question": "Which of these is a prime?",
    "options": ["4", "6", "7"],
    "answer": "C",
    "category": "math",
}


def record(**changes: Any) -> dict[str, Any]:
    plain = {
        "model": "a",
        "benchmark": "mmlu_pro",
        "key": "7",
        "language": "en",
        "repeat": 0,
        "finish": "stop",
        "response": "Answer: C",
        "reasoning": "",
        "correct": True,
        "answer": "C",
        "truth": "C",
        "reason": "right",
        "judge_error": None,
    }
    return plain | changes


def asking(**changes: Any) -> Asking:
    return Asking({"a": ModelSpec("a", "vllm", "w", **changes)}, 0)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "right"),
        ({"correct": False}, "wrong"),
        ({"correct": False, "answer": None}, "unparsed"),
        ({"finish": "length"}, "cut off"),
        ({"finish": "thinking", "answer": None, "correct": False}, "cut off"),
        ({"finish": "error"}, None),
        ({"judge_error": "the checker gave no verdict"}, None),
        ({"finish": "unsupported", "answer": None, "correct": False}, None),
    ],
)
def test_kinds(changes: dict[str, Any], kind: str | None) -> None:
    assert kind_of(record(**changes)) == kind


def test_samples_are_few_of_each_kind_and_the_same_in_any_order() -> None:
    every = [
        record(model=model, key=str(key), correct=key % 2 == 0)
        for model in ("a", "b", "c")
        for key in range(50)
    ]
    found = []
    for seed in range(3):
        random.Random(seed).shuffle(every)
        samples = Samples(3)
        for each in every:
            samples.enter(each)
        found.append(samples.chosen(["mmlu_pro"]))
    assert found[0] == found[1] == found[2]
    kinds = [kind_of(each) for each in found[0]]
    assert kinds == ["right"] * 9 + ["wrong"] * 9  # three of each model
    # All models' replies are to the same questions: here they got the same ones right.
    assert len({each["key"] for each in found[0]}) == 6


def test_many_models_share_the_room() -> None:
    samples = Samples(40)
    for model in range(40):
        for key in range(5):
            samples.enter(record(model=str(model), key=str(key)))
    assert len(samples.chosen(["mmlu_pro"])) == MOST


def test_a_reply_stands_below_the_question_as_it_was_asked() -> None:
    unit = record(reasoning="Hm.")
    section = reading.section(
        [unit], {place_of(unit): ROW}, asking(system_prompt="Be concise."), ()
    )
    (item,) = section.items
    assert item.group == "MMLU-Pro: 1 right"
    assert list(item.body) == ["system prompt", "asked", "thinking", "reply (stop)", "right answer"]
    assert item.body["system prompt"] == "Be concise."
    assert str(ROW["question"]) in item.body["asked"]
    assert "C) 7" in item.body["asked"]
    assert "Think step" in item.body["asked"]
    told = {"kind": "right", "found": "a, answer 'C'", "why": "", "key": "7", "language": "en"}
    assert values(item.summary) == told | {"asking": 1}


def test_the_line_says_why_where_that_is_news() -> None:
    unit = record(answer=None, correct=False, reason="no 'Answer: A'", repeat=2)
    section = reading.section([unit], {place_of(unit): ROW}, asking(), ())
    told = values(section.items[0].summary)
    assert (told["kind"], told["found"], told["asking"]) == ("unparsed", "a", 3)
    assert told["why"] == ", no 'Answer: A'"


def test_a_question_that_follows_others_shows_where_the_models_own_replies_stood() -> None:
    benchmark = benchmarks.load("scicode")
    place = sources.find(benchmark, DataConf(source="samples"))
    row = list(questions.of(benchmark, place))[1].row
    program = "def advance(u, h, a, dt):\n    return u"
    unit = record(benchmark="scicode", key=benchmark.key(row), answer=program, response=program)
    (item,) = reading.section([unit], {place_of(unit): row}, asking(), ()).items
    assert re.search("^# .*step 901.1", item.body["asked"], re.MULTILINE)
    assert "padded[:-2]" not in item.body["asked"]  # nor is the solution in its place
    assert values(item.summary)["found"] == "a", "no program in a line"
    assert values(item.summary)["key"] == "901.2"
    assert item.body["reply (stop)"] == program


def test_a_model_that_reasons_was_asked_in_other_words() -> None:
    unit = record()
    section = reading.section([unit], {place_of(unit): ROW}, asking(reasoning=True), ())
    assert "Think step" not in section.items[0].body["asked"]


def test_questions_that_are_not_to_be_published_are_not() -> None:
    unit = record(benchmark="gpqa_diamond")
    section = reading.section([unit], {}, asking(), ["gpqa_diamond"])
    assert not section.items
    assert "GPQA Diamond" in section.text
