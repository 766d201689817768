"""How stand-ins play: at random, or soundly from their own cards.

Sound is to play few hands before the flop, then made hands and by the odds of the pot.
"""

import random
from collections import Counter

from pokerkit import Label, RankOrder

from raybench.games.parts.poker.cards import Cards, best
from raybench.games.parts.poker.options import options
from raybench.games.parts.poker.table import Table, pot
from raybench.games.parts.poker.table import board as opened

_RANK = {rank: number for number, rank in enumerate(RankOrder.STANDARD, start=2)}
_LABELS = tuple(Label)
_GOOD_HAND = 0.55
_MADE = {Label.STRAIGHT: 0.92, Label.FLUSH: 0.95}


def any_move(table: Table, rng: random.Random) -> str:
    """Return a move at random: mostly calls, some small raises, few folds and large raises."""
    may = options(table)
    if (draw := rng.random()) < 0.15 and may.cost:
        return "fold"
    if draw < 0.7 or may.lowest is None:
        return "call" if may.cost else "check"
    spread = (may.most - may.lowest) * (draw > 0.95)
    return may.move(may.lowest + rng.randint(0, max(spread, min(10, may.most - may.lowest))))


def good_move(table: Table, hole: Cards, rng: random.Random) -> str:
    """Return the move of somebody who holds these cards, and bets on what they are worth."""
    may, chips, others = options(table), pot(table), sum(table.statuses) - 1
    # Others who are still in have cards that they liked: each more makes a win less likely.
    chance = _strength(hole, opened(table)) ** (1 + 0.5 * (others - 1))
    price = may.cost / (chips + may.cost)
    if chance > 0.7 + 0.1 * (may.cost > chips / 2) and rng.random() < 0.85:
        return may.move(may.highest + may.cost + round((0.5 + 0.4 * rng.random()) * chips))
    if not may.cost:
        return "check"
    # What was bet so far is lost either way; a bet says that the other one has something.
    return "call" if chance > price + 0.12 + 0.15 * (may.cost > chips / 2) else "fold"


def passive_move(table: Table, hole: Cards) -> str:
    """Return the move of somebody who plays good hands only, and never bets on them."""
    may = options(table)
    if not may.cost:
        return "check"
    return "call" if _strength(hole, opened(table)) > _GOOD_HAND else "fold"


def _strength(hole: Cards, board: Cards) -> float:
    """Return about how likely these cards beat those of one other player."""
    return _made(hole, board) if board else _start(hole)


def _start(hole: Cards) -> float:
    low, high = sorted(_RANK[card.rank] for card in hole)
    if low == high:
        return min(0.86, 0.5 + 0.028 * (high - 1))
    near = max(0, 5 - (high - low)) * 0.01
    suited = 0.03 if hole[0].suit == hole[1].suit else 0.0
    return 0.22 + 0.018 * high + 0.009 * low + near + suited


def _made(hole: Cards, board: Cards) -> float:
    cards = (*hole, *board)
    label = best(cards).entry.label
    ranks = [_RANK[card.rank] for card in board]
    open_ = Counter(ranks)
    own = sorted({_RANK[card.rank] for card in hole}, reverse=True)
    if len(board) == 5 and best(cards) == best(board):
        return 0.35  # the board plays: at best a split
    if label in (Label.HIGH_CARD, Label.ONE_PAIR, Label.TWO_PAIR, Label.THREE_OF_A_KIND):
        made = _of_pairs(own, open_, len(own) == 1)
    else:
        made = _MADE.get(label, 0.98)
    return made + _draw(hole, board, made)


def _of_pairs(own: list[int], open_: Counter[int], pocket: bool) -> float:
    """Return the strength of a hand that is no better than three of a kind."""
    top = max(open_)
    hit = [rank for rank in own if rank in open_]
    if pocket:
        if hit:
            return 0.95
        return 0.84 if own[0] > top else 0.5 + 0.02 * own[0]
    if len(hit) == 2 or any(open_[rank] > 1 for rank in hit):
        return 0.9
    if hit:
        kicker = 0.01 * (own[0] if own[0] != hit[0] else own[-1])
        above = sum(rank > hit[0] for rank in open_)
        return max(0.72 - 0.12 * above, 0.5) + kicker / 2
    return 0.2 + 0.012 * max(0, own[0] - 4)


def _draw(hole: Cards, board: Cards, made: float) -> float:
    """Return what cards to come are worth: four of a suit, or four ranks of a straight."""
    if len(board) == 5 or made > 0.9:
        return 0.0
    suits = Counter(card.suit for card in (*hole, *board))
    worth = 0.0
    if any(suits[card.suit] == 4 for card in hole):
        worth += 0.16
    ranks = {_RANK[card.rank] for card in (*hole, *board)}
    if any(len(ranks & {*range(low, low + 4)}) == 4 for low in range(2, 11)):
        worth += 0.13
    return worth * (1 if len(board) == 3 else 0.5)
