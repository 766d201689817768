"""What MLflow was told of a run so far, and the entries that tell it how the run ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from raybench.tracking.mlflow import described, entries
from raybench.tracking.mlflow.spool import PARENT, Entry


class Point(NamedTuple):
    """A metric's value at a step."""

    run: str
    key: str
    value: float
    timestamp: int
    step: int


class Told:
    """The runs that count, and their metrics: told again they change nothing, results come last."""

    def __init__(self, told: Iterable[Entry] = ()) -> None:
        self._started_ms = 0
        self._models: list[str] = []
        self._known: set[Point] = set()
        self._last: dict[tuple[str, str], Point] = {}
        self._end = (0, 0)
        """Step and time of the last step: results are written at this step, a moment later."""
        for entry in told:
            self.enter(entry)

    def enter(self, entry: Entry) -> None:
        """Take note of what is told."""
        if entry["kind"] == "open":
            self._started_ms = entry["started_ms"]
            self._models = [run for run in entry["params"] if run != PARENT]
            self._known.clear()
            self._last.clear()
            self._end = (0, 0)
        elif entry["kind"] == "points":
            for each in entry["points"]:
                point = Point(*each)
                self._known.add(point)
                last = self._last.get((point.run, point.key))
                if last is None or (point.step, point.timestamp) >= (last.step, last.timestamp):
                    self._last[point.run, point.key] = point
                if not entry.get("final"):
                    self._end = max(self._end, (point.step, point.timestamp))

    def step(
        self,
        per_model: Mapping[str, Mapping[str, float]],
        overall: Mapping[str, float],
        *,
        step: int,
        timestamp_ms: int,
    ) -> list[Point]:
        """Return what is new of a step."""
        self._end = max(self._end, (step, timestamp_ms))
        found = (
            Point(run, entries.key(key), number, timestamp_ms, step)
            for run, values in [*per_model.items(), (PARENT, overall)]
            for key, value in values.items()
            if (number := entries.number(value)) is not None
        )
        return [point for point in dict.fromkeys(found) if point not in self._known]

    def results(
        self,
        results: Mapping[str, Any],
        paths: Sequence[str],
        *,
        ended_ms: int,
        tags: Mapping[str, str] = MappingProxyType({}),
        inputs: Mapping[str, str] = MappingProxyType({}),
        note: str = "",
    ) -> Iterator[Entry]:
        """Yield what results.json says, and that the runs are FINISHED.

        Where models failed, the parent is FAILED, and so are theirs, with the reason. `inputs` are
        digests of what was read, `note` (Markdown) is what MLflow shows the parent with.
        """
        found = (
            self._final(run, entries.key(key), entries.number(value))
            for run, key, value in described.numbers(results)
        )
        yield {"kind": "points", "final": True, "points": [it for it in found if it]}
        yield {"kind": "inputs", "inputs": described.inputs(results, inputs)}
        yield from self.end(
            "FINISHED",
            ended_ms,
            {**described.tags(results), **tags},
            paths,
            failed=described.failures(results),
            own={"mlflow.note.content": described.note(note)} if note else {},
        )

    def end(
        self,
        status: str,
        ended_ms: int,
        tags: Mapping[str, str],
        paths: Sequence[str] = (),
        *,
        failed: Mapping[str, str] = MappingProxyType({}),
        own: Mapping[str, str] = MappingProxyType({}),
    ) -> Iterator[Entry]:
        """Yield that the runs ended so, and what is to be kept; `own` are tags of the parent's."""
        models = {run: dict(tags) for run in (*self._models, PARENT)}
        models[PARENT] |= own
        yield {"kind": "tags", "tags": models}
        yield {"kind": "end", "status": status, "ended_ms": ended_ms, "failed": dict(failed)}
        # Files come last: a store of files that fails must not leave the run open for ever.
        if paths:
            yield {"kind": "files", "paths": [*paths]}

    def _final(self, run: str, key: str, value: float | None) -> Point | None:
        """Return a result as a point that is the metric's latest; None where it is that already."""
        if value is None:
            return None
        (step, moment), last = self._end, self._last.get((run, key))
        moment = (moment or self._started_ms) + 1
        if last is not None and last.step == step:
            if last.value == value:
                return None
            moment = max(moment, last.timestamp + 1)  # it was concluded to another number before
        return Point(run, key, value, moment, step)
