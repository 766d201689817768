"""Programs against a problem's tests: by a judge's rules, and by those of the official harness.

Strict: every test is a run of its own. A program that reads and writes is the main program there,
as at the contest; a function is called by `inside`, which tells its result. Official: one process
for all tests, as `inside` does what the official harness does. Either way the sandbox gets inputs
only: expected outputs stay here, and so does comparing.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import resources
from textwrap import shorten

from raybench import sandbox
from raybench.benchmarks.parts import libraries
from raybench.benchmarks.parts.livecodebench import comparing
from raybench.benchmarks.parts.livecodebench.cases import Case, Cases
from raybench.sandbox import Limits, Outcome
from raybench.statements import Statement

TEST_S = 6
"""CPU time of a test; twice that may pass. It is the official harness' alarm, too."""
MEMORY_MB = 4096
LATE = "time limit"
"""What `inside` says, too, when the official harness' alarm went off."""
_SPARE_S = 5
_LONGEST = 200
"""Letters of an error that are told."""
_MIB = 2**20
_INSIDE = resources.files(__package__).joinpath("inside.py").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program's tests, up to the first that it failed."""

    reason: str
    """'right', or which test failed and how."""
    passed: int
    total: int
    runs: tuple[Outcome, ...]

    @property
    def right(self) -> bool:
        """Tell whether all tests passed."""
        return self.passed == self.total


def strictly(program: str, cases: Cases) -> Verdict:
    """Run a program on one test after another, each in a sandbox of its own."""
    source, profile = program, libraries.profile(program)
    if cases.function:
        source = f"{_INSIDE}\n\nfunctional({program!r}, {cases.function!r})\n"
    total, runs = len(cases.cases), []
    for number, case in enumerate(cases.cases, start=1):
        limits = _limits([case], TEST_S, 2 * TEST_S)
        run = sandbox.run(source, stdin=_ended(case.given), limits=limits, profile=profile)
        runs.append(run)
        if wrong := _wrong(run, case, cases.function):
            return Verdict(_failed(number, total, wrong), number - 1, total, tuple(runs))
    return Verdict("right", total, total, tuple(runs))


def _ended(given: str) -> str:
    """Return an input whose last line has its end, as at the contest: some tests lack it."""
    return f"{given}\n" if given and not given.endswith("\n") else given


def officially(program: str, cases: Cases, *, first: int | None = None) -> Verdict:
    """Run a program on all tests in one sandbox, as the official harness would.

    `first` is a test that it is thought to fail, counted from 1. That harness stops at the first
    test that is failed; nobody can stop here who does not know what is expected. So those up to
    `first` run alone, and only if they pass, which tells nothing of the rest, all do.
    """
    total = len(cases.cases)
    if first is not None and first < total:
        verdict = _officially(program, replace(cases, cases=cases.cases[:first]), total)
        if verdict.passed < first:
            return verdict
    return _officially(program, cases, total)


def _officially(program: str, cases: Cases, total: int) -> Verdict:
    whole_s = (TEST_S + 1) * len(cases.cases) + _SPARE_S
    asked = {
        "code": program,
        "function": cases.function,
        "inputs": [case.given for case in cases.cases],
    }
    run = sandbox.run(
        f"{_INSIDE}\n\nofficial({TEST_S})\n",
        stdin=json.dumps(asked),
        limits=_limits(cases.cases, whole_s, whole_s),
        profile=libraries.profile(program),
    )
    for number, wrong in enumerate(_officially_wrong(run, cases), start=1):
        if wrong:
            return Verdict(_failed(number, total, wrong), number - 1, total, (run,))
    return Verdict("right", len(cases.cases), total, (run,))


def _failed(number: int, total: int, wrong: str) -> Statement:
    return Statement(
        "program.failed",
        "test {number} of {total}: {wrong}",
        number=number,
        total=total,
        wrong=wrong,
    )


def _limits(cases: list[Case] | tuple[Case, ...], cpu_s: float, wall_s: float) -> Limits:
    """Return limits under which no right output is cut, however it is spaced or escaped."""
    expected = sum(len(case.expected) for case in cases) / _MIB
    kept = 1 + 4 * expected
    return Limits(
        cpu_s=cpu_s,
        wall_s=wall_s,
        memory_mb=MEMORY_MB,
        output_kept_mb=kept,
        output_killed_mb=max(64.0, 2 * kept),
    )


def _wrong(run: Outcome, case: Case, function: str | None) -> str:
    """Return how a program failed a test, or ''."""
    if told := _broken(run):
        return told
    if function is None:
        return "" if comparing.same_text(run.stdout, case.expected) else "wrong answer"
    if not run.stdout:
        return "runtime error: it ended before the function returned"
    return _wrong_value(run.stdout, case)


def _wrong_value(told: str, case: Case) -> str:
    try:
        return "" if comparing.same_value(told, case.expected) else "wrong answer"
    except ValueError as error:
        return f"wrong answer: {error}"


def _broken(run: Outcome) -> str:
    match run.status:
        case "ok":
            return "wrong answer: too much output" if "stdout" in run.cut else ""
        case "timeout":
            return LATE
        case "memory":
            return "memory limit"
        case "output":
            return "output limit"
    last = [line for line in run.stderr.splitlines() if line.strip()][-1:]
    return f"runtime error: {_short(*(last or [run.reason]))}"


def _officially_wrong(run: Outcome, cases: Cases) -> Iterator[str]:
    """Yield how each test was failed, or '', as far as the tests went."""
    if told := _broken(run):
        yield told
        return
    try:
        results = json.loads(run.stdout)
        for case, result in zip(cases.cases, results, strict=False):
            if (error := result.get("error")) is not None:
                yield LATE if error == LATE else f"runtime error: {_short(str(error))}"
                return
            gave = result["gave"]
            if cases.function:
                yield _wrong_value(json.dumps(gave), case)
            else:
                yield "" if comparing.same_text(str(gave), case.expected) else "wrong answer"
        if len(results) < len(cases.cases):
            yield "runtime error: the tests ended early"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        yield "runtime error: it ended before all tests were done"


def _short(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return shorten(shown, _LONGEST, placeholder=" …")
