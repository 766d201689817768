"""What a run tells of a model in its results.json."""

from collections.abc import Mapping

from raybench.compare.found import Side
from raybench.tracking.leaderboard import Cell
from raybench.types import Counts, Estimate


def estimate_of(side: Side, metric: str) -> Estimate | None:
    """Return what a run came to in a metric; None where it has none."""
    told = side.run.results.get("models", {}).get(side.model, {}).get(metric)
    return None if told is None else estimate(told)


def estimate(told: Mapping[str, object]) -> Estimate:
    """Return an estimate as results.json has it; an interval with an open end counts as none."""
    ends = told.get("ci95")
    whole = isinstance(ends, list) and len(ends) == 2 and None not in ends
    return Estimate(
        told.get("value"),  # type: ignore[arg-type]
        told.get("stderr"),  # type: ignore[arg-type]
        (float(ends[0]), float(ends[1])) if whole else None,  # type: ignore[index]
        int(told.get("n") or 0),  # type: ignore[call-overload]
        str(told.get("method", "")),
    )


def counts_of(side: Side) -> Counts:
    """Return what became of a side's work, as its run tells it."""
    told = side.run.results.get("counts", {}).get(side.model, {})
    return Counts(**{name: int(told.get(name) or 0) for name in Counts().to_json()})


def shown(found: Estimate, digits: int = 3) -> str:
    """Return an estimate as the reports show it: '0.731 [0.65, 0.81]', or '—'."""
    return Cell.of(found).text(digits)
