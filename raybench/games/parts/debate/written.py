"""A debate as people read it: all that was said, and each juror's vote."""

from typing import TYPE_CHECKING, cast

from raybench.games.parts.contract import Written
from raybench.games.parts.debate.speeches import shown
from raybench.games.parts.transcript import head, last

if TYPE_CHECKING:
    from raybench.games.debate import Debate


def written(match: Written) -> str:
    """Return a match in Markdown."""
    state = cast("Debate", last(match))
    said = shown(state.speeches, state.rules.words, lambda side: f"**{side}**")
    ballot = "\n".join(
        f"- {vote.juror}: 'for' {_signed(vote.for_first)} when read first, "
        f"{_signed(vote.against_first)} when read second"
        for vote in state.votes
    )
    jury = ballot and f"The jury, by how many points 'for' was better:\n\n{ballot}"
    parts = (head("Debate", match), f"The motion: {state.topic}", said, jury)
    return "\n\n".join(part for part in parts if part) + "\n"


def _signed(points: int | None) -> str:
    return "(no vote)" if points is None else f"{points:+d}"
