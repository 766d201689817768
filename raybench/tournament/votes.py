"""Jurors' votes that are missing, and why."""

from collections.abc import Iterator, Mapping
from typing import Any

from raybench.games import MANAGER
from raybench.games.parts.debate.missing import missing

MISSING = "vote missing"
"""What kind of failure that is; the juror may have replied, and nothing in it was a vote."""


def lost(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return each juror without a vote in the record of a match, with the reason."""
    if not record["ballots"][1]:
        return ()
    return tuple(
        each
        for turn in record["turns"]
        if turn["role"] == MANAGER
        for each in missing(turn["move"])
    )


def failures(
    lost: tuple[tuple[str, str], ...], about: Mapping[str, object]
) -> Iterator[dict[str, object]]:
    """Yield a line for each vote that is missing, under its juror's name."""
    for juror, why in lost:
        yield {**about, "model": juror, "kind": MISSING, "why": why}
