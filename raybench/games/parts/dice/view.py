"""What a player at the table sees of a round, and what is told of it when it is over."""

from collections.abc import Sequence

from raybench.games.parts.dice.bids import Bid, some
from raybench.games.parts.dice.hands import Hands
from raybench.games.parts.seats import named, seats
from raybench.statements import Statement

Made = tuple[int, int, int]
"""A bid that was made: seat, how many, of which face."""


def shown(seat: int, hands: Hands, bids: Sequence[Made], told: Sequence[str]) -> str:
    """Return the round under way as a seat sees it, below how the earlier ones ended."""
    names = seats(len(hands))
    mine = " ".join(map(str, hands[seat])) or "none, you are out"
    counts = ", ".join([f"{name} {len(hand)}" for name, hand in zip(names, hands, strict=True)])
    made = "; ".join([f"{names[each]} {some(n)} of {face}" for each, n, face in bids]) or "none yet"
    view = f"You are {names[seat]}. Your dice: {mine}\nDice on the table: {counts}\nBids: {made}"
    if not told:
        return view
    return "Earlier rounds:\n" + "\n".join(told) + f"\n\nThis round:\n{view}"


def task(last: Bid | None) -> str:
    """Return what is asked of whoever is to move."""
    how = ", or 'call'." if last else ". There is no bid to call yet."
    return f"Your move: 'bid QUANTITY FACE', as in 'bid 3 5'{how}"


def called(caller: int, bid: Made, found: int, hands: Hands, loser: int) -> str:
    """Return how a round ended at a call, with all dice shown."""
    bidder, quantity, face = bid
    dice = ", ".join(
        f"{named(seat)} {' '.join(map(str, hand))}" for seat, hand in enumerate(hands) if hand
    )
    there = "there was 1" if found == 1 else f"there were {found or 'none'}"
    return Statement(
        "dice.called",
        "{caller} called {bidder}'s {bid}; {there} ({dice}): {loser} lost",
        caller=named(caller),
        bidder=named(bidder),
        bid=f"{some(quantity)} of {face}",
        there=there,
        found=found,
        dice=dice,
        loser=named(loser),
    )
