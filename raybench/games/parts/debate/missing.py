"""Whose vote is missing, and why: as the manager's move of a debate tells it."""

import json
from collections.abc import Iterator
from typing import Any

from raybench.games.parts.debate.settings import ROLES
from raybench.games.parts.debate.verdict import marks

NO_JUROR_REPLY = "there is no reply"
NO_SCORES = "the reply holds no scores of the rubric"


def missing(move: str) -> Iterator[tuple[str, str]]:
    """Yield each juror without a vote, with the reason, of a move that the game has taken."""
    for juror, wrong in reasons(move).items():
        if wrong:
            yield juror, "; ".join(f"'{side}' read first: {why}" for side, why in wrong.items())


def reasons(move: str) -> dict[str, dict[str, str]]:
    """Return for each juror what is wrong with its replies, by the side that was read first."""
    return {vote["juror"]: dict(_wrong(vote)) for vote in json.loads(move)["votes"]}


def _wrong(vote: dict[str, Any]) -> Iterator[tuple[str, str]]:
    # Moves of older journals say of no reply why it is missing.
    told = vote.get("why") or [None] * len(vote["replies"])
    for side, reply, why in zip(ROLES, vote["replies"], told, strict=False):
        if reply is None:
            yield side, why or NO_JUROR_REPLY
        elif marks(reply) is None:
            yield side, NO_SCORES + (f", {why}" if why else "")
