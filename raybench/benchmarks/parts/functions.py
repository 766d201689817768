"""Runs a function that a model wrote, and the tests that a question has for it."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from raybench import sandbox
from raybench.benchmarks.parts import harness, libraries
from raybench.benchmarks.parts.contract import UngradableError
from raybench.sandbox import Limits, Outcome
from raybench.statements import Statement

_HARNESS = ("codec", "channel", "apart", "solver", "asserting")
_TOLD = ("status", "cpu_s", "wall_s", "memory_mb", "crowded")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a program's tests."""

    passed: bool
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """How the run ended and what it used; of how many assertions which one failed, if one did."""


def verdict(program: str, *, prompt: str, name: str, tests: str, limits: Limits) -> Verdict:
    """Run a program after a prompt, and call the function of that name by `check(candidate)`.

    Raises UngradableError where the question is at fault, and whatever `sandbox.run` raises.
    """
    word = secrets.token_hex()
    task = {"prompt": prompt, "program": program, "name": name, "tests": tests, "word": word}
    outcome = sandbox.run(
        harness.source(*_HARNESS),
        stdin=json.dumps(task),
        limits=limits,
        profile=libraries.profile(program),
    )
    told = harness.told(outcome.stdout, word)
    if told.get("verdict") == "fault":
        raise UngradableError(f"its tests cannot be run: {told['reason']}")
    details = used(outcome) | {it: told[it] for it in ("assertion", "assertions") if it in told}
    if told.get("verdict") == "passed" and outcome.ok:
        return Verdict(True, "right", details)
    # Whoever passes and breaks a limit all the same has not passed.
    return Verdict(
        False, told["reason"] if told.get("verdict") == "failed" else ended(outcome), details
    )


def used(outcome: Outcome) -> dict[str, Any]:
    """Return what a journal keeps of a run."""
    return {name: getattr(outcome, name) for name in _TOLD} | outcome.place


def ended(outcome: Outcome) -> str:
    """Return in words why a run came to no verdict."""
    match outcome.status:
        case "timeout":
            return Statement("program.timeout", "time limit: {reason}", reason=outcome.reason)
        case "memory":
            return Statement("program.memory", "memory limit: {reason}", reason=outcome.reason)
        case "output":
            return Statement("program.output", "output limit: {reason}", reason=outcome.reason)
    return Statement(
        "program.ended", "ended before its tests were over: {reason}", reason=outcome.reason
    )
