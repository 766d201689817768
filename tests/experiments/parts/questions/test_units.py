"""Every sample as the report's reader has it, and what nobody may read there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from reading import page, read_back

from raybench.experiments.parts.questions.units import ABSENT, HIDDEN, units
from raybench.pipeline import put
from raybench.pipeline.datasets import Dataset, Prepared
from raybench.pipeline.stages import Asking
from raybench.pipeline.units import unit_id
from raybench.tracking import addresses
from raybench.tracking.report import Unit
from raybench.types import ModelSpec

SECRET = "of which nobody may read"


def row(key: int) -> dict[str, Any]:
    return {
        "question_id": key,
        "question": f"Which is prime, {key} asks, {SECRET}?",
        "options": ["4", "6", "7"],
        "answer": "C",
        "category": "math",
        "language": "en",
    }


def record(model: str, key: int, **changes: Any) -> dict[str, Any]:
    plain = {
        "model": model,
        "benchmark": "mmlu_pro",
        "key": str(key),
        "language": "en",
        "subject": "math",
        "repeat": 0,
        "finish": "stop",
        "response": f"{model} says: Answer: C, {SECRET}",
        "reasoning": "",
        "error": None,
        "correct": True,
        "answer": "C",
        "truth": "C",
        "reason": "right",
        "by": "script",
        "judge_error": None,
        "output_tokens": 3,
        "seconds": 0.5,
    }
    return plain | changes


def made(
    folder: Path,
    records: Sequence[dict[str, Any]],
    withheld: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> tuple[list[Unit], str]:
    shard, journal = folder / "shard.jsonl", folder / "units.jsonl"
    shard.write_text("".join(json.dumps(row(key)) + "\n" for key in (2, 1)))
    journal.write_text("".join(json.dumps(it) + "\n" for it in records))
    part = Dataset("mmlu_pro", "hub", (), (shard,), 2, "", {"en": 2}, {})
    models = {name: ModelSpec(name, "vllm", "w") for name in ("b", "a")}
    data = Prepared((part,), {}, ())
    found = units(data, journal, Asking(models, 0), withheld, hidden)
    return list(found.each()), page(found)


def test_the_replies_to_a_question_follow_one_another_and_name_their_lines(tmp_path: Path) -> None:
    given = [record("a", 1), record("a", 2), record("b", 2, repeat=1), record("b", 2)]
    found, html = made(tmp_path, given)
    assert [(it.group, it.facets["model"], it.line) for it in found] == [
        ("mmlu_pro/en/2", "b", 4),
        ("mmlu_pro/en/2", "a", 2),
        ("mmlu_pro/en/2", "b", 3),
        ("mmlu_pro/en/1", "a", 1),
    ]
    read = dict(read_back(html))
    texts = dict(read[addresses.sample(unit_id(given[0]))]["texts"])
    assert row(1)["question"] in texts["asked"]
    assert texts["reply (stop)"] == given[0]["response"]
    assert texts["grade"].startswith("right, ") and texts["grade"].endswith(" script")


@pytest.mark.parametrize(
    ("changes", "outcome", "line"),
    [
        ({}, "right", "1: answered C"),
        ({"correct": False, "answer": "A"}, "wrong", "1: answered A, right is C"),
        (
            {"correct": False, "answer": None, "reason": "no answer"},
            "unparsed",
            "1: no answer",
        ),
        ({"finish": "length"}, "cut off", "1: answered C"),
        ({"finish": "error", "error": "gone\n\x1b"}, "error", "1: gone \ufffd"),
        ({"judge_error": "no verdict"}, "not graded", "1: no verdict"),
        ({"finish": "unsupported", "answer": None, "reason": "images"}, "not asked", "1: images"),
    ],
)
def test_what_became_of_a_sample(
    tmp_path: Path, changes: dict[str, Any], outcome: str, line: str
) -> None:
    ((found,), _) = made(tmp_path, [record("a", 1, **changes)])
    assert (found.facets["outcome"], found.summary) == (outcome, line)


def test_a_question_that_could_not_be_put_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the run at its report, with all else asked, each time anew."""

    def refuse(*_: Any, **__: Any) -> None:
        raise ValueError("no options")

    monkeypatch.setattr("raybench.benchmarks.parts.choices.MultipleChoice.prompt", refuse)
    broken = record("a", 1, finish="error", error="cannot be put", answer=None, response="")
    ((found,), _) = made(tmp_path, [broken])
    texts = {it.label: it.text for it in found.body().texts}
    assert texts["asked"] == put._NOT_PUT
    with pytest.raises(ValueError, match="no options"):
        made(tmp_path, [record("a", 1)])


def test_a_judge_is_heard_in_its_own_words(tmp_path: Path) -> None:
    judgements = {
        "j": {"correct": False, "extracted": "25", "reasoning": "They differ.", "confidence": 0},
        "k": {"error": "mute"},
    }
    ((found,), _) = made(tmp_path, [record("a", 1, judgements=judgements)])
    texts = {it.label: it.text for it in found.body().texts}
    assert texts["judge j"].split("\n\n") == [
        "wrong", "They differ.", "extracted: 25\nconfidence: 0",
    ]  # fmt: skip
    assert texts["judge k"].endswith(": mute")


def test_of_a_benchmark_that_is_not_to_be_published_there_is_no_text(tmp_path: Path) -> None:
    given = [record("a", 1, answer=f"C {SECRET}"), record("b", 2, error=SECRET, finish="error")]
    found, html = made(tmp_path, given, withheld=["mmlu_pro"])
    assert SECRET not in json.dumps(dict(read_back(html)))
    assert "MMLU-Pro, whose" in html
    assert [it.facets for it in found] == [
        {"model": "b", "benchmark": "MMLU-Pro", "outcome": "error"},
        {"model": "a", "benchmark": "MMLU-Pro", "outcome": "right"},
    ]
    assert [it.summary for it in found] == ["2", "1"]


def test_of_a_question_that_is_held_out_there_is_nothing(tmp_path: Path) -> None:
    found, html = made(tmp_path, [record("a", 1), record("a", 2)], hidden=["2"])
    assert [it.group for it in found] == ["mmlu_pro/en/1"]
    assert "2 asks" not in json.dumps(dict(read_back(html)))
    assert HIDDEN in html


def test_a_reply_to_a_question_that_is_gone_is_still_there(tmp_path: Path) -> None:
    ((found,), _) = made(tmp_path, [record("a", 9)])
    assert found.body().texts[0].text == ABSENT
    assert found.body().texts[1].text.startswith("a says")
