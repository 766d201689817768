"""What stays in memory of the journal while a run of benchmarks goes on."""

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

from raybench import benchmarks
from raybench.benchmarks.parts.tally import Tally, Unit
from raybench.experiments.parts.questions.reading import Samples
from raybench.pipeline import chains
from raybench.pipeline.units import unit_id


class Watcher(Protocol):
    """What keeps something of its own of every record."""

    def enter(self, unit: Unit, record: dict[str, Any]) -> None:
        """Look at a record of the journal, and at the unit that it is."""
        ...


class Ledger:
    """What stays in memory of the journal: who is done, what it adds up to, what needs an eye."""

    def __init__(self, models: int, watchers: Sequence[Watcher] = ()) -> None:
        self.tally = Tally()
        self.samples = Samples(models)
        self._watchers = watchers
        self.done: array[int] = array("Q")
        """The ids of units that are done: eight bytes each, as there may be millions."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """Of them, how many each model has of each benchmark."""
        self.said: dict[int, str | None] = {}
        """What was replied to those of them that others may follow."""
        self.failures: list[dict[str, Any]] = []
        self.reused = 0

    def enter(self, record: dict[str, Any]) -> None:
        """Count a record of the journal; the journal names the line of an invalid one."""
        unit = Unit.of(record, beside=_beside(record))
        self.done.append(unit_id(record))
        self.counts[unit.model, unit.benchmark] += 1
        self.tally.add(unit)
        self.said |= chains.heard([record])
        for watcher in self._watchers:
            watcher.enter(unit, record)
        self.reused += record["reused"]
        self.samples.enter(record)
        unit_named = {name: record[name] for name in _NAMES}
        if record["finish"] == "error" or record["judge_error"] is not None:
            self.failures.append(unit_named | {"why": record["error"] or record["judge_error"]})
        # Without the first judge's verdict there is none; without another's, only that is missing.
        for name, told in [*record.get("judgements", {}).items()][1:]:
            if "error" in told:
                self.failures.append(unit_named | {"why": f"{name}, who judges, {told['error']}"})


def _beside(record: dict[str, Any]) -> dict[str, bool]:
    """Return the other verdicts on a unit; a reply that has none is right by none."""
    details = record.get("details", {})
    names = benchmarks.load(record["benchmark"]).verdicts
    return {name: bool(details.get(name, False)) for name in names}


_NAMES = ("model", "benchmark", "key", "language", "repeat")
