"""Whose vote is missing, and why: as the manager's move of a debate tells it."""

import json
from collections.abc import Iterator
from typing import Any

from raybench.games.parts.debate.settings import ROLES
from raybench.games.parts.debate.verdict import marks

_UNREADABLE = "the reply holds no scores of the rubric"


def missing(move: str) -> Iterator[tuple[str, str]]:
    """Yield each juror without a vote, with the reason, of a move that the game has taken."""
    for vote in json.loads(move)["votes"]:
        if reasons := list(_reasons(vote)):
            yield vote["juror"], "; ".join(reasons)


def _reasons(vote: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with each reply, by the side that was read first."""
    # Moves of older journals say of no reply why it is missing.
    told = vote.get("why") or [None] * len(vote["replies"])
    for side, reply, why in zip(ROLES, vote["replies"], told, strict=False):
        if reply is None:
            yield f"'{side}' read first: {why or 'there is no reply'}"
        elif marks(reply) is None:
            yield f"'{side}' read first: {_UNREADABLE}" + (f", {why}" if why else "")
