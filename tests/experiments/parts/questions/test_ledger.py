"""What the ledger makes of a journal's records."""

from typing import Any

from refusals import refused

from raybench.errors import RunFailed
from raybench.experiments.parts.questions.ledger import Ledger


def record(key: str, **changes: Any) -> dict[str, Any]:
    return {
        "model": "a",
        "benchmark": "livecodebench",
        "key": key,
        "language": "en",
        "subject": "easy",
        "repeat": 0,
        "correct": True,
        "finish": "stop",
        "by": "script",
        "prompt_tokens": 1,
        "output_tokens": 1,
        "answer": "print()",
        "reason": "right",
        "response": "",
        "judge_error": None,
        "error": None,
        "reused": False,
        **changes,
    }


def test_the_other_harness_verdicts_are_those_of_the_details() -> None:
    ledger = Ledger(1)
    ledger.enter(record("1", details={"official": True}))
    ledger.enter(record("2", details={"official": False}))
    # What has no program has no verdict, and is right by none.
    ledger.enter(record("3", correct=False, answer=None, by=None))
    ledger.enter(record("4", finish="error", error="gone", by=None, answer=None))
    found = ledger.tally.asked_beside("a", "livecodebench", ["en"], "official")
    assert found.right.tolist() == [[1, 0, 0, 0]]
    assert found.times.tolist() == [[1, 1, 1, 0]]
    assert ledger.tally.asked("a", "livecodebench", ["en"]).right.tolist() == [[1, 1, 0, 0]]


def test_benchmarks_with_one_verdict_have_no_other() -> None:
    ledger = Ledger(1)
    ledger.enter(record("1", benchmark="math_500", details={"official": True}))
    assert ledger.tally.beside("math_500") == []


def test_a_record_that_is_none_is_told() -> None:
    with refused("journal.invalid", None, kind=RunFailed):
        Ledger(1).enter({"benchmark": "livecodebench"})
