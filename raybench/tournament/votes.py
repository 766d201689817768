"""Jurors' votes: those that came of a jury, and those that are missing, and why."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from raybench import games
from raybench.games import MANAGER
from raybench.games.parts.debate.missing import missing
from raybench.games.parts.debate.settings import ROLES
from raybench.games.parts.debate.verdict import marks
from raybench.games.parts.transcript import literal

MISSING = "vote missing"
"""What kind of failure that is; the juror may have replied, and nothing in it was a vote."""


def unjudged(record: Mapping[str, Any]) -> bool:
    """Tell whether a match is void because its jury, which was heard, decided nothing."""
    if record["void"] is None or record["missing"] is not None or not record["turns"]:
        return False
    return record["turns"][-1]["role"] == MANAGER and games.load(record["game"]).jury


def lost(record: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return each juror without a vote in the record of a match, with the reason."""
    if not record["ballots"][1] and not unjudged(record):
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


def by_juror(moves: Iterable[str]) -> dict[str, tuple[int, int]]:
    """Return how often each juror was asked for a vote in the manager's moves, and gave none."""
    asked, gone = Counter[str](), Counter[str]()
    for move in moves:
        asked.update(vote["juror"] for vote in json.loads(move)["votes"])
        gone.update(juror for juror, _ in missing(move))
    return {juror: (count, gone[juror]) for juror, count in asked.items()}


def written(move: str) -> str:
    """Return what came of each juror, in Markdown: points, and why there are none."""
    why = dict(missing(move))
    lines = []
    for vote in json.loads(move)["votes"]:
        both = zip(ROLES, reversed(ROLES), vote["replies"], strict=False)
        told = [
            f"'{first}' read first: '{first}' {of[0]} points, '{second}' {of[1]}"
            for first, second, reply in both
            if (of := marks(reply)) is not None
        ]
        told += [why[vote["juror"]]] if vote["juror"] in why else []
        lines.append(f"- {literal(vote['juror'])}: {literal('; '.join(told))}")
    return "\n".join(lines)
