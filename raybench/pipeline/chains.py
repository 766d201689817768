"""Questions that follow others: each is put when those before it have been answered.

The questions of a chain lie one after the other in one shard and travel in one job, so that
whatever a question follows is either in its job or was done before.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from raybench import benchmarks
from raybench.pipeline.units import unit_id

Said = Mapping[int, str | None]
"""What units were replied, by their ids; None where no reply came."""


def heard(units: Iterable[Mapping[str, Any]]) -> dict[int, str | None]:
    """Return what units were replied, of those that are done and that others may follow."""
    return {
        unit_id(unit): None if unit["finish"] == "error" else unit["response"]
        for unit in units
        if "finish" in unit and benchmarks.load(unit["benchmark"]).chained
    }


def before(unit: Mapping[str, Any]) -> dict[str, int]:
    """Return the ids of the units that a unit follows, by the keys of their questions."""
    benchmark = benchmarks.load(unit["benchmark"])
    if not benchmark.chained:
        return {}
    return {key: unit_id({**unit, "key": key}) for key in benchmark.follows(unit["row"])}


def is_ready(unit: Mapping[str, Any], said: Said) -> bool:
    """Tell whether everything that a unit follows is done."""
    return all(number in said for number in before(unit).values())


def continued(unit: Mapping[str, Any], said: Said) -> Any:
    """Return a unit's question as it is put after the replies before it.

    Raises LookupError where one of these never came.
    """
    replies = {key: said[number] for key, number in before(unit).items()}
    if missing := [key for key, reply in replies.items() if reply is None]:
        raise LookupError(f"it follows {', '.join(missing)}, which got no reply")
    given = {key: reply for key, reply in replies.items() if reply is not None}
    return benchmarks.load(unit["benchmark"]).after(unit["row"], given) if given else unit["row"]
