"""A debate as people read it: all that was said, and each juror's vote."""

from typing import TYPE_CHECKING, cast

from raybench.games.parts.contract import MANAGER, Written
from raybench.games.parts.debate.missing import reasons
from raybench.games.parts.debate.speeches import shown
from raybench.games.parts.transcript import head, last, literal, speech

if TYPE_CHECKING:
    from raybench.games.debate import Debate


def written(match: Written) -> str:
    """Return a match in Markdown."""
    state = cast("Debate", last(match))
    said = shown(state.speeches, state.rules.words, lambda side: f"**{side}**", speech)
    brought = next((move for role, move in match.moves[::-1] if role == MANAGER), None)
    wrong = reasons(brought) if brought else {}
    ballot = "\n".join(
        f"- {literal(vote.juror)}: 'for' {_signed(vote.for_first, why.get('for'))} when read "
        f"first, {_signed(vote.against_first, why.get('against'))} when read second"
        for vote in state.votes
        for why in [wrong.get(vote.juror, {})]
    )
    jury = ballot and f"The jury, by how many points 'for' was better:\n\n{ballot}"
    parts = (head("Debate", match), f"The motion: {literal(state.topic)}", said, jury)
    return "\n\n".join(part for part in parts if part) + "\n"


def _signed(points: int | None, why: str | None) -> str:
    if points is not None:
        return f"{points:+d}"
    return f"(no vote: {literal(why)})" if why else "(no vote)"
