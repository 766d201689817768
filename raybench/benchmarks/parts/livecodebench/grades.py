"""What a program is worth, by either harness, and what the journal keeps of how it ran."""

from typing import Any, Literal

from raybench.benchmarks.parts.contract import Grade, Row, UngradableError
from raybench.benchmarks.parts.livecodebench import cases, running
from raybench.benchmarks.parts.livecodebench.running import Verdict
from raybench.grading import suspicion

Compat = Literal["strict", "official"]
"""Whose rules decide: a judge's, or those of the harness that published scores come from."""

_HONEST = (suspicion.EXIT, suspicion.AT_EXIT, suspicion.DESCRIPTORS)
"""What programs that read and write may well do to be fast, or done."""


def of(row: Row, program: str | None, compat: Compat) -> Grade:
    """Grade a program by all tests of its problem; None is a reply without one.

    The details always hold the official verdict, under the name `official`. Raises UngradableError
    where the row's tests cannot be read.
    """
    if compat not in ("strict", "official"):
        raise ValueError(f"compat is {compat!r}: it is 'strict' or 'official'")
    if program is None:
        none = "no code block"
        return Grade(False, none, details={"official": False, "official_reason": none})
    try:
        tests = cases.of(row)
    except ValueError as error:
        raise UngradableError(f"its tests cannot be read: {error}") from error
    if compat == "official":
        verdict = official = running.officially(program, tests)
    else:
        verdict = running.strictly(program, tests)
        failed = None if verdict.right else verdict.passed + 1
        official = running.officially(program, tests, first=failed)
    told = _told(verdict) | {"official": official.right, "official_reason": official.reason}
    told["crowded"] = _crowded(verdict, official)
    flags = suspicion.flags(program, ignore=() if tests.function else _HONEST)
    return Grade(verdict.right, verdict.reason, program, flags, told)


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "tests": verdict.total,
        "passed": verdict.passed,
        "slowest_s": round(max(run.wall_s for run in verdict.runs), 3),
        "memory_mb": round(max(run.memory_mb for run in verdict.runs), 1),
        **verdict.runs[-1].place,
    }


def _crowded(verdict: Verdict, official: Verdict) -> bool:
    """Tell whether a time limit may be others' doing: the official alarm rings by the clock."""
    rung = verdict.right and official.reason.endswith(running.LATE)
    return rung or any(run.crowded for run in (*verdict.runs, *official.runs))
