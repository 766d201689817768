"""What is made of a run: of the harness' word, or of none."""

import json
from dataclasses import replace
from typing import Any

import pytest
from statements import code

from raybench import sandbox
from raybench.benchmarks.parts import functions
from raybench.benchmarks.parts.contract import UngradableError
from raybench.benchmarks.parts.functions import Verdict
from raybench.sandbox import Limits, Outcome

OUTCOME = Outcome(
    "ok", "so", 0, None, 0.5, 1.0, 20.0, "", "", (), "namespaces", "3.12.1", "6.1", Limits()
)  # fmt: skip


def after(monkeypatch: pytest.MonkeyPatch, outcome: Outcome, **told: Any) -> Verdict:
    """Return what is made of an outcome whose program's harness told something, if it did."""

    def run(source: str, *, stdin: str, **_: Any) -> Outcome:
        task = json.loads(stdin)
        said = {"word": task["word"], **told} if told else None
        return replace(outcome, stdout=outcome.stdout + (json.dumps(said) if said else ""))

    monkeypatch.setattr(sandbox, "run", run)
    return functions.verdict("", prompt="", name="f", tests="", limits=Limits())


def test_the_harness_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = after(monkeypatch, OUTCOME, verdict="passed", reason="right", assertions=3)
    assert (passed.passed, passed.reason) == (True, "right")
    assert passed.details == {
        **{"status": "ok", "cpu_s": 0.5, "wall_s": 1.0, "memory_mb": 20.0, "crowded": False},
        **{"backend": "namespaces", "python": "3.12.1", "kernel": "6.1", "assertions": 3},
    }
    failed = after(monkeypatch, OUTCOME, verdict="failed", reason="why", assertion=2)
    assert (failed.passed, failed.reason, failed.details["assertion"]) == (False, "why", 2)


def test_a_fault_of_the_tests_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UngradableError, match=r": so$"):
        after(monkeypatch, OUTCOME, verdict="fault", reason="so")


@pytest.mark.parametrize(
    "forged",
    [
        *('{"verdict": "passed", "reason": "right"}', '{"verdict": "passed", "word": null}'),
        *("[1]", "null", "[" * 100_000, "passed", '{"verdict": "passed", "word": ""}'),
    ],
)
def test_who_does_not_know_the_word_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, forged: str
) -> None:
    outcome = replace(OUTCOME, stdout=f"{forged}\n")
    assert not after(monkeypatch, outcome).passed
    assert after(monkeypatch, outcome, verdict="passed").passed
    assert not after(monkeypatch, outcome, verdict="failed", reason="why").passed


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("timeout", "timeout"),
        ("memory", "memory"),
        ("output", "output"),
        ("error", "ended"),
        ("killed", "ended"),
        ("ok", "ended"),
    ],
)
def test_no_verdict_is_told_by_how_it_ended(
    monkeypatch: pytest.MonkeyPatch, status: Any, reason: str
) -> None:
    outcome = replace(OUTCOME, status=status)
    assert code(after(monkeypatch, outcome).reason) == f"program.{reason}"
    if status != "ok":  # passed, and beyond a limit all the same
        found = after(monkeypatch, outcome, verdict="passed", reason="right")
        assert (found.passed, code(found.reason)) == (False, f"program.{reason}")


def test_every_run_has_a_word_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    words = set()

    def run(source: str, *, stdin: str, **_: Any) -> Outcome:
        words.add(json.loads(stdin)["word"])
        return OUTCOME

    monkeypatch.setattr(sandbox, "run", run)
    for _ in range(3):
        functions.verdict("", prompt="", name="f", tests="", limits=Limits())
    assert len(words) == 3
    assert all(len(word) >= 32 for word in words)
