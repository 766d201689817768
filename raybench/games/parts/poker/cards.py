"""Decks as the seed shuffles them, dealt or drawn anew; and what the best five cards make."""

import random
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations

from pokerkit import Card, Deck, StandardHighHand

Cards = tuple[Card, ...]

_BOARD = (1, 2, 3, 5, 7)
"""Where the board lies in the deck, after the players' cards: a card is burned before each part."""


def shuffled(seed: int, number: int) -> Cards:
    """Return the deck of a match's so-manieth hand."""
    deck = list(Deck.STANDARD)
    random.Random(f"poker/{seed}/{number}").shuffle(deck)
    return tuple(deck)


def holes(deck: Cards, players: int) -> tuple[Cards, ...]:
    """Return the players' own cards, in the order of the table."""
    return tuple(deck[2 * index : 2 * index + 2] for index in range(players))


def redealt(deck: Cards, index: int | None, players: int, shown: int, rng: random.Random) -> Cards:
    """Return a deck that agrees in a player's own cards and so many of the board."""
    seen = [2 * players + place for place in _BOARD[:shown]]
    if index is not None:
        seen += (2 * index, 2 * index + 1)
    rest = [card for place, card in enumerate(deck) if place not in seen]
    rng.shuffle(rest)
    unseen = iter(rest)
    return tuple(card if place in seen else next(unseen) for place, card in enumerate(deck))


@lru_cache(maxsize=4096)
def best(cards: Cards) -> StandardHighHand:
    """Return the best hand of five out of these cards. Raises ValueError if there are fewer."""
    # pokerkit's own way looks every hand up again for each comparison, which takes twice as long.
    return StandardHighHand(max(combinations(cards, 5), key=StandardHighHand.lookup.get_entry))


def written(cards: Iterable[Card]) -> str:
    """Return cards as people write them."""
    return " ".join(map(repr, cards))


def kind(cards: Cards) -> str:
    """Return what the best hand of five is called."""
    return str(best(cards).entry.label.value).lower()
