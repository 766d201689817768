"""Poker: the last bet of a hand, to be called or not, scored by the exact odds.

Two players have checked or called to the river, with some bets on the way; now the other one is
all in. All hands that the other one may hold are counted, each as likely as any: what a bet tells
is left out, as the other side may bluff. A call is worth the share of the pot that it wins on the
average, less its cost; a fold nothing. The better of both is worth 1, the other 0.

Example: 40 chips in the pot, 20 to call, and 500 of 990 hands are beaten: a call wins about 10 on
the average, and is the better move.
"""

import random
from functools import lru_cache
from itertools import combinations
from typing import cast

from pokerkit import Deck

from raybench import games
from raybench.games import State
from raybench.games.parts.poker.cards import Cards, best
from raybench.games.parts.poker.moves import read
from raybench.games.parts.poker.options import options
from raybench.games.parts.poker.table import board, pot
from raybench.games.parts.seats import seats
from raybench.games.poker import Poker
from raybench.positions.parts.contract import Positions

_RIVER = 5
_STACKS = (20, 120)


def _draw(rng: random.Random) -> State:
    while True:
        rules = {"hands": 1, "stack": rng.randint(*_STACKS)}
        state = cast(Poker, games.load("poker").new(rng.getrandbits(32), **rules))
        while not state.over:
            may = options(state.table)
            last = len(board(state.table)) == _RIVER
            if last and may.cost:
                return state
            move = "call" if may.cost else "check"
            if may.lowest is not None and not may.cost and (last or rng.random() < 0.3):
                most = may.most if last else min(may.most, may.lowest + rng.randint(0, 8))
                move = may.move(most)
            state = state.apply(move)


def _worth(state: State, move: str) -> float:
    poker = cast(Poker, state)
    folds = read(move, options(poker.table), poker.to_move or "") == "fold"
    return float(folds == (_best(poker) == "fold"))


def _best(state: State) -> str:
    poker = cast(Poker, state)
    cost = options(poker.table).cost
    gain = equity(poker) * (pot(poker.table) + cost) - cost
    return "call" if gain >= 0 else "fold"


def equity(poker: Poker) -> float:
    """Return the share of the pot that whoever is to move wins, on the average of all hands."""
    seat = poker.roles.index(poker.to_move or "")
    return _share(poker.hole(seat), board(poker.table))


@lru_cache(maxsize=4096)
def _share(own: Cards, open_: Cards) -> float:
    rest = [card for card in Deck.STANDARD if card not in (*own, *open_)]
    ours = best((*own, *open_))
    hands = [best((*hand, *open_)) for hand in combinations(rest, 2)]
    return sum(1.0 if ours > it else 0.5 if ours == it else 0.0 for it in hands) / len(hands)


POSITIONS = Positions(
    "poker_river",
    "poker",
    _draw,
    _worth,
    roles=seats(2)[:1],  # the other one bets first
    actions=("call_or_fold",),
    best=_best,
)
