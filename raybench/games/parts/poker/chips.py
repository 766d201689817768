"""What the chips of a match come to at its end."""

from collections.abc import Sequence

from raybench.games.parts.seats import named


def told(stacks: Sequence[int], gone: Sequence[int], hands: int) -> str:
    """Return who has what after so many hands."""
    won = ", ".join(
        f"{named(seat)} {'left with' if seat in gone else 'has'} {chips}"
        for seat, chips in enumerate(stacks)
    )
    return f"after {hands} hand{'s' * (hands != 1)}: {won}"


def scored(stacks: Sequence[int], gone: Sequence[int], start: int) -> dict[str, float]:
    """Return the scores: what each has won, of so many chips at the start, where nobody left.

    Who left counts as having lost one more than all. What that leaves goes to those who still have
    chips, as who is bust has lost them all; to all who stayed, where whoever was all in left and
    won the pot.
    """
    shared = sum(stacks[seat] + 1 for seat in gone)
    stayed = {seat for seat in range(len(stacks)) if seat not in gone}
    left = {seat for seat in stayed if stacks[seat]} or stayed
    return {
        named(seat): -start - 1.0
        if seat in gone
        else chips - start + (shared / len(left) if seat in left else 0.0)
        for seat, chips in enumerate(stacks)
    }
