"""Liar's Dice: bid or call, scored by how likely it is to be right, given one's own dice.

A round of two players is bid up for some turns. A bid is worth how likely it holds, if it were
called; a call how likely the last bid does not hold; both by the exact odds of the dice that are
not seen, against the move that is likeliest to be right. What a bid tells is left out: the other
side may bluff.

Example: with two 4s of one's own and "bid 3 4" to answer, 'call' is right where none of the dice
that are not seen is a 4; it is worth how likely that is, as a share of the likeliest move.
"""

import random
from typing import cast

from raybench import games
from raybench.games import State
from raybench.games.liars_dice import Dice
from raybench.games.parts.dice.bids import Bid, above, chance, read
from raybench.games.parts.seats import seats
from raybench.positions.parts.contract import Positions, relative

_TURNS = (0, 4)


def _draw(rng: random.Random) -> State:
    while True:
        state = cast(Dice, games.load("liars_dice").new(rng.getrandbits(32)))
        for _ in range(rng.randint(*_TURNS)):
            bids = [it for it in (state.sample(rng) for _ in range(3)) if it != "call"]
            if bids:
                state = state.apply(bids[0])
        if len(state.legal()) > 1:
            return state


def _worth(state: State, move: str) -> float:
    values = _values(cast(Dice, state))
    return relative(values[read(move)], [0.0, *values.values()])


def _best(state: State) -> str:
    values = _values(cast(Dice, state))
    bid = max(values, key=values.__getitem__)
    return "call" if bid is None else "bid {} {}".format(*bid)


def _values(dice: Dice) -> dict[Bid | None, float]:
    """Return how likely each bid is right, and a call, which is None."""
    own = dice.hands[dice.turn]
    others = sum(map(len, dice.hands)) - len(own)
    last = dice.bids[-1][1:] if dice.bids else None

    def holds(bid: Bid) -> float:
        return chance(bid, own, others, dice.rules.faces, wild=dice.rules.wild)

    found = dict[Bid | None, float]() if last is None else {None: 1 - holds(last)}
    return found | {bid: holds(bid) for bid in above(last, len(own) + others, dice.rules.faces)}


POSITIONS = Positions(
    "liars_dice_odds",
    "liars_dice",
    _draw,
    _worth,
    roles=seats(2),
    actions=("bid", "bid_or_call"),
    best=_best,
)
