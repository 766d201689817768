"""What happened in a hand, as everybody at the table saw it."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pokerkit import BetCollection as Collected
from pokerkit import BlindOrStraddlePosting as Posted
from pokerkit import BoardDealing as Opened
from pokerkit import CheckingOrCalling as Called
from pokerkit import ChipsPushing as Won
from pokerkit import CompletionBettingOrRaisingTo as Raised
from pokerkit import Deck, Folding
from pokerkit import HoleCardsShowingOrMucking as Shown

from raybench.games.parts.poker.cards import Cards, kind, written
from raybench.games.parts.poker.table import Table, board
from raybench.games.parts.seats import named

Happened = Posted | Called | Raised | Folding | Opened | Shown | Won


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that everybody saw."""

    what: str
    """posts, folds, checks, calls, bets, raises, board, returned, shows, mucks or wins."""
    seat: int = -1
    """Whose doing it was; -1 for the dealer's."""
    chips: int = 0
    """How many moved."""
    to: int = 0
    """What the player's bet of the round came to; of what is won, the pot: 0 is the main one."""
    all_in: bool = False
    cards: Cards = ()


@dataclass(frozen=True, slots=True)
class Hand:
    """A hand that has ended."""

    number: int
    order: tuple[int, ...]
    """The seats, from the left of the button, which is the last one."""
    before: tuple[int, ...]
    """Their chips."""
    after: tuple[int, ...]
    holes: tuple[Cards, ...]
    """Their own cards, which the others saw only where they were shown."""
    events: tuple[Event, ...]
    line: str
    """How it ended, as everybody saw it."""

    def seen(self, seat: int) -> str:
        """Return how it ended, as a seat saw it."""
        if seat not in self.order:
            return self.line
        return f"{self.line} You held {written(self.holes[self.order.index(seat)])}."

    def redrawn(self, seat: int, rng: random.Random) -> "Hand":
        """Return a hand that the seat cannot tell from this one."""
        shown = {event.seat for event in self.events if event.what == "shows"} | {seat}
        seen = {card for event in self.events for card in event.cards}
        seen |= {
            card
            for whose, hole in zip(self.order, self.holes, strict=True)
            if whose in shown
            for card in hole
        }
        rest = [card for card in Deck.STANDARD if card not in seen]
        rng.shuffle(rest)
        unseen = iter(rest)
        holes = tuple(
            hole if whose in shown else (next(unseen), next(unseen))
            for whose, hole in zip(self.order, self.holes, strict=True)
        )
        return replace(self, holes=holes)


def ended(number: int, order: tuple[int, ...], table: Table, holes: tuple[Cards, ...]) -> Hand:
    """Return what is kept of a hand."""
    events = tuple(happened(table, order))
    before, after = tuple(table.starting_stacks), tuple(table.stacks)
    open_ = board(table)
    shown = [
        f"{named(event.seat)} showed {written(event.cards)} ({kind((*event.cards, *open_))})"
        if event.what == "shows"
        else f"{named(event.seat)} mucked"
        for event in events
        if event.what in ("shows", "mucks")
    ]
    won = [
        f"{named(seat)} {'won' if now > then else 'lost'} {abs(now - then)}"
        + ("" if now else " and is out")
        for seat, then, now in zip(order, before, after, strict=True)
        if now != then
    ]
    parts = (written(open_) or "no flop", ", ".join(shown) or "no showdown", ", ".join(won))
    line = f"Hand {number}: {'; '.join(part for part in parts if part)}."
    return Hand(number, order, before, after, holes, events, line)


def happened(table: Table, order: Sequence[int]) -> Iterator[Event]:
    """Yield what happened so far, with the seats for pokerkit's places."""
    left = list(table.starting_stacks)
    bets = [0] * len(order)
    matched, opened, big = 0, False, max(table.blinds_or_straddles)
    for step in table.operations:
        if isinstance(step, Posted | Called | Raised):
            at = step.player_index
            put = step.amount - bets[at] if isinstance(step, Raised) else step.amount
            what = "posts" if isinstance(step, Posted) else "calls" if put else "checks"
            # A big blind that was posted short is completed by whoever calls it.
            if isinstance(step, Raised) and (opened or step.amount > big):
                what = "raises" if any(bets) else "bets"
            left[at] -= put
            bets[at] += put
            yield Event(what, order[at], put, bets[at], put > 0 and not left[at])
        elif isinstance(step, Folding):
            yield Event("folds", order[step.player_index])
        elif isinstance(step, Collected):
            *_, second, first = sorted(bets)
            if first > second:
                at = bets.index(first)
                left[at] += first - second
                yield Event("returned", order[at], first - second)
            # Where all others folded, pokerkit leaves the winner's bet before them.
            matched = sum(min(bet, second) for bet in bets) - sum(step.bets)
            bets = [0] * len(order)
        elif isinstance(step, Opened):
            opened = True
            yield Event("board", cards=tuple(step.cards))
        elif isinstance(step, Shown):
            cards = tuple(step.hole_cards)
            yield Event("shows" if cards else "mucks", order[step.player_index], cards=cards)
        elif isinstance(step, Won):
            for at, chips in enumerate(step.amounts):
                if chips:
                    yield Event("wins", order[at], chips + matched, step.pot_index)
            matched = 0
