"""How a unit's question was put: its prompt is no part of the journal, and is made again."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from raybench import benchmarks
from raybench.fleet import resolved
from raybench.pipeline import chains
from raybench.pipeline.stages import Asking
from raybench.types import Message, Role

_LABELS: Mapping[Role, str] = {"system": "system prompt", "user": "asked", "assistant": "shown"}
_NOT_PUT = "It could not be put: the error says why."


def messages(
    record: Mapping[str, Any],
    row: Any,
    asking: Asking,
    said: Mapping[int, str | None] | None = None,
) -> Sequence[Message]:
    """Return the messages that the model got.

    There are none where they could not be made for the run either, and the unit says so. Where it
    was shown replies of its own to questions before, `said` has these by unit; else something
    stands in for them.
    """
    benchmark = benchmarks.load(record["benchmark"])
    unit = {**record, "row": row}
    try:
        if said is not None:
            unit["row"] = chains.continued(unit, said)
        elif earlier := {key: benchmark.standing_in(key) for key in benchmark.follows(row)}:
            unit["row"] = benchmark.after(row, earlier)
        request = asking.request(benchmark, unit)
    except Exception:  # the benchmark's own, on a row that is not as it should be
        if record["finish"] != "error":
            raise
        return ()
    return resolved(request, asking.models[record["model"]]).messages


def asked(record: Mapping[str, Any], row: Any, asking: Asking) -> dict[str, str]:
    """Return the messages that the model got, by whose they are.

    Where it was shown replies of its own to questions before, these are not looked up again.
    """
    put = messages(record, row, asking)
    if not put:
        return {"asked": _NOT_PUT}
    times = Counter(message.role for message in put)
    return {
        _LABELS[message.role] + (f" {number}" if times[message.role] > 1 else ""): _content(message)
        for number, message in enumerate(put, start=1)
    }


def _content(message: Message) -> str:
    count = len(message.images)
    return message.content + f"\n\n[{count} image{'s' * (count > 1)}]" * (count > 0)
