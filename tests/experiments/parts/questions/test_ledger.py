"""What the ledger makes of a journal's records."""

import contextlib
import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from raybench.errors import RunFailed
from raybench.experiments.parts.questions.ledger import Ledger
from raybench.pipeline.journal import Journal


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


@pytest.mark.parametrize(
    "damage",
    [
        {"prompt_tokens": -1},
        {"output_tokens": 2**40},
        {"output_tokens": "7"},
        {"prompt_tokens": 0.5},
        {"prompt_tokens": None},
        {"benchmark": 5},
        {"answer": ...},
    ],
    ids=str,
)
def test_a_record_that_cannot_be_counted_is_refused_by_its_line(
    tmp_path: Path, damage: dict[str, Any]
) -> None:
    damaged = {name: it for name, it in (record("2") | damage).items() if it is not ...}
    path = tmp_path / "my units.jsonl"
    lines = [json.dumps(it) + "\n" for it in (record("1"), damaged, record("3"))]
    path.write_text("".join(lines))
    with refused("journal.invalid", given=f"{path}, line 2", kind=RunFailed) as refusal:
        Journal(path, Ledger(1).enter)
    assert path.read_text() == "".join(lines)
    # What the fix says leaves the other lines, and a copy of the file.
    command = (refusal.value.fix or "").partition("with: ")[2].partition(" (")[0]
    assert shlex.split(command) == ["sed", "-i.bak", "2d", str(path)]


def test_a_record_that_cannot_be_counted_is_refused_while_the_run_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "units.jsonl"
    with contextlib.closing(Journal(path, Ledger(1).enter)) as journal:
        journal.append(record("1"))
        with refused("journal.invalid", given=f"{path}, line 3", kind=RunFailed):
            journal.extend([record("2"), record("3", prompt_tokens=-1)])
