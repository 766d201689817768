"""A game of Liar's Dice as people read it: round by round, with all dice in front."""

from typing import TYPE_CHECKING, cast

from raybench.games.parts.contract import Written
from raybench.games.parts.seats import named
from raybench.games.parts.transcript import ended, last, line, sentence, steps

if TYPE_CHECKING:
    from raybench.games.liars_dice import Dice


def written(match: Written) -> str:
    """Return a match as plain text."""
    lines = [f"Liar's Dice, match {line(match.round)}"]
    for role, name in match.players.items():
        score = match.scores.get(role)
        lines.append(f"{role}: {line(name)}" + ("" if score is None else f" ({score:+.3g})"))
    told, round_ = 0, -1
    for state, role, move in steps(match):
        dice = cast("Dice", state)
        lines += map(sentence, dice.told[told:])
        told = len(dice.told)
        if dice.round != round_:
            round_ = dice.round
            lines += ["", f"Round {round_ + 1}: {_hands(dice)}"]
        lines.append(f"  {role} {'forfeits' if move is None else move}")
    end = cast("Dice", last(match))
    lines += map(sentence, end.told[told:])
    if ended(match) != end.outcome:
        lines += ["", f"{sentence(ended(match))}."]
    return "\n".join(lines) + "\n"


def _hands(dice: "Dice") -> str:
    return "; ".join(
        f"{named(seat)} has {' '.join(map(str, hand))}"
        for seat, hand in enumerate(dice.hands)
        if hand
    )
