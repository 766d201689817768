"""A game as people read it: who was what, and then what happened, the secrets too."""

from typing import TYPE_CHECKING, cast

from raybench.games.parts.contract import Written
from raybench.games.parts.transcript import last, literal, sentence, titled
from raybench.games.parts.werewolf.record import Event

if TYPE_CHECKING:
    from raybench.games.werewolf import Village


def written(match: Written) -> str:
    """Return a match in Markdown."""
    village = cast("Village", last(match))
    lines = [titled("Werewolf", match), "", f"{sentence(match.outcome)}.", ""]
    lines += ["| seat | player | was | score |", "|---|---|---|---|"]
    for seat, part in zip(village.roles, village.cast, strict=True):
        left = " (left)" if seat in match.forfeits else ""
        player = literal(match.players.get(seat, "?"))
        lines.append(f"| {seat} | {player}{left} | {part} | {match.scores.get(seat, 0):+.3g} |")
    for event in village.log:
        lines += _lines(event)
    return "\n".join(lines) + "\n"


def _lines(event: Event) -> list[str]:
    if event.kind == "dusk":
        return ["", f"## {event.text.rstrip('.')}", ""]
    if event.kind == "dawn":
        day, how = event.text.split(". ", 1)
        return ["", f"## {day}", "", how, ""]
    if event.kind == "vote":
        return []
    if event.kind == "end":
        return ["", f"**{event.text}**"]
    if event.kind in ("guard", "look"):
        seen = f": {event.shown}" if event.shown else ""
        did = "protected" if event.kind == "guard" else "looked at"
        return [f"- *{event.seat} {did} {event.move}{seen}*"]
    if event.kind == "kill":
        return [f"- *{event.text.rstrip('.')}*"]
    return [f"- {literal(event.text)}"]
