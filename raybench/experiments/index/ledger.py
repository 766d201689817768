"""What stays in memory of the journal while a run of benchmarks goes on."""

from typing import Any

from raybench import benchmarks
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.errors import RunFailed
from raybench.experiments.index.report.graders import Differences
from raybench.experiments.index.report.programs import Programs
from raybench.experiments.index.report.reading import Samples
from raybench.pipeline import chains
from raybench.pipeline.units import unit_id
from raybench.types import Grader


class Ledger:
    """What stays in memory of the journal: who is done, what it adds up to, what needs an eye."""

    def __init__(self, models: int, grader: Grader) -> None:
        self.tally = Tally()
        self.samples = Samples(models)
        self.differences = Differences() if grader == "improved" else None
        self.programs = Programs()
        self.done: list[int] = []
        self.said: dict[int, str | None] = {}
        """What was replied to those of them that others may follow."""
        self.failures: list[dict[str, Any]] = []
        self.reused = 0

    def enter(self, record: dict[str, Any]) -> None:
        """Count a record of the journal."""
        try:
            self.done.append(unit_id(record))
            unit = Unit(
                **{name: record[name] for name in _NAMED},
                cluster=record.get("cluster"),
                parsed=record["answer"] is not None,
                judge_error=record["judge_error"] is not None,
                beside=_beside(record),
            )
            self.tally.add(unit)
            self.said |= chains.heard([record])
            if self.differences:
                self.differences.enter(unit, record)
        except (LookupError, TypeError) as error:
            raise RunFailed(
                f"the journal holds a record that is none of a unit ({error!r}): mend it, or start "
                "anew with resume=false"
            ) from error
        self.reused += record["reused"]
        self.samples.enter(record)
        self.programs.enter(record)
        if record["finish"] == "error" or record["judge_error"] is not None:
            names = ("model", "benchmark", "key", "language", "repeat")
            why = record["error"] or record["judge_error"]
            self.failures.append({name: record[name] for name in names} | {"why": why})


def _beside(record: dict[str, Any]) -> dict[str, bool]:
    """Return the other verdicts on a unit; a reply that has none is right by none."""
    details = record.get("details", {})
    names = benchmarks.load(record["benchmark"]).verdicts
    return {name: bool(details.get(name, False)) for name in names}


_NAMED = (
    "model",
    "benchmark",
    "key",
    "language",
    "subject",
    "repeat",
    "correct",
    "finish",
    "by",
    "prompt_tokens",
    "output_tokens",
)
