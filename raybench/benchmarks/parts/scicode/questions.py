"""SciCode's problems as questions: one for each step, with what files beside the problems tell."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from raybench.benchmarks.parts.contract import Row, Source, UngradableError
from raybench.benchmarks.parts.scicode import steps, targets
from raybench.benchmarks.parts.scicode.given import GIVEN
from raybench.benchmarks.parts.scicode.split import needs_target
from raybench.statements import Statement

COLUMNS = (
    *("problem_id", "problem_name", "problem_description_main"),
    *("required_dependencies", "sub_steps"),
)
"""What the hub has of a problem."""
_H5 = Source(
    "Srimadh/Scicode-test-data-h5",
    "72c247d3a8410921b2e848e046d71ed63d9a0ddb",
    {"en": "test_data.h5"},
    licence="Apache-2.0 (upstream's)",
)
_TARGETS: Mapping[str, Source | None] = {
    "test_data.h5": _H5,
    "scicode_targets.jsonl": None,
    "scicode_dev_targets.jsonl": None,
}
BESIDE: Mapping[str, Source | None] = {**_TARGETS, **{f"{step}.txt": None for step in GIVEN}}
"""Upstream's targets and regenerated ones, and upstream's code of the steps that are given."""
_MEND = "put upstream's test_data.h5 beside the questions, or name its folder with data.beside"
NO_TARGET = f"no target, so that no reply to them can be graded; {_MEND}"


def of(row: Row, beside: Mapping[str, Path]) -> Iterator[Row]:
    """Yield a question for each step of a problem, but for those whose code is given.

    An unsound problem stays one row, so that what is wrong is told of it, and once.
    """
    if "step" in row:
        known = row.get("targets")
        yield {**row, "targets": [_held(it) for it in known]} if isinstance(known, list) else row
        return
    if any(steps.unsound(row)):
        yield {**row, "step": None}
        return
    for number, step in enumerate(row["sub_steps"], start=1):
        if (name := str(step["step_number"])) not in GIVEN:
            sub_steps = row["sub_steps"][:number]
            yield {
                **row,
                "step": name,
                "sub_steps": sub_steps,
                "given": _given([str(it["step_number"]) for it in sub_steps], beside),
                "targets": _targets(name, len(step["test_cases"] or ()), beside),
            }


def _held(target: Any) -> Any:
    """Return a target that stands in a file's row: where others lie, only we may say."""
    return None if isinstance(target, Mapping) and "_path" in target else target


def _given(numbers: Sequence[str], beside: Mapping[str, Path]) -> dict[str, str]:
    files = {number: beside.get(f"{number}.txt") for number in numbers if number in GIVEN}
    return {
        number: path.read_text(encoding="utf-8") if path else GIVEN[number]
        for number, path in files.items()
    }


def _targets(step: str, cases: int, beside: Mapping[str, Path]) -> list[Any]:
    """Return a step's targets, of the first file that has each."""
    found: list[Any] = [None] * cases
    for name in _TARGETS:
        if name in beside and None in found:
            more = targets.read(beside[name], step, cases)
            found = [it if it is not None else new for it, new in zip(found, more, strict=True)]
    return found


def missing(row: Row) -> list[int]:
    """Return the test cases of a question, counted from 1, whose targets are not there."""
    return [number for number, (needed, target) in _needed(row) if needed and target is None]


def targets_of(row: Row) -> list[Any]:
    """Return the targets of a question's test cases, encoded; None for what needs none.

    Raises UngradableError where one is missing.
    """
    if lacking := missing(row):
        raise UngradableError(
            Statement(
                "ungradable.no_target",
                "no target for step {step}, test case {cases}: {mend}",
                step=row["step"],
                cases=", ".join(map(str, lacking)),
                mend=_MEND,
            )
        )
    try:
        return [targets.fetched(it) if needed else None for _, (needed, it) in _needed(row)]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UngradableError(
            Statement(
                "ungradable.target_unreadable",
                "the targets of step {step} cannot be read here ({error}): put test_data.h5 "
                "where every machine of the cluster reads it",
                step=row["step"],
                error=repr(error),
            )
        ) from error


def _needed(row: Row) -> Iterator[tuple[int, tuple[bool, Any]]]:
    """Yield of each test case its number, whether it needs a target, and the target known."""
    cases = steps.so_far(row)[-1]["test_cases"]
    known = [*(row.get("targets") or ()), *[None] * len(cases)]
    pairs = ((needs_target(case), it) for case, it in zip(cases, known, strict=False))
    yield from enumerate(pairs, start=1)
