"""Poker: no-limit Texas Hold'em for two to ten players, several hands in a row.

Source: ZeroSumEval, section 4 ("a simple variant of Texas Hold 'Em that allows up to 10 players").
Ours is the whole game: `pokerkit` has the rules of the table (blinds, the big blind's option,
least raises, side pots, splits), and where rooms differ its choice holds: pots that the same hands
win are split as one, and the chips that a split leaves over all go to the winner next to the
button's left. Two of its choices are none of poker's and are put right: an all-in below a full
raise does not open the betting again for those who have acted (several that come to a full raise
do), and a big blind too short of chips to be posted in full has to be called in full.

The choices that are ours. The button moves to the next player with chips (of the last two it goes
to who had the big blind, where that is one of them); it first lies so that
player_1 begins. Each hand's deck comes from the seed and the hand's number: a pairing played
again with the same seed and the seats exchanged sees the same cards fall for the other side, which
takes out much of the luck. Folding where checking is free is refused. At a showdown the last to bet
or raise in the last round shows first (without a bet, who is first to act), then in turn only those
whom no shown hand beats; the others muck, and nobody sees their cards; where somebody is all in,
all show. Who has no chips is out; the match ends after `hands` hands, or when one has all chips.

Scores are chips won or lost, unless somebody leaves the table by a forfeit. Who leaves folds when
its turn comes, and is dealt no more; the chips that it leaves with are told, and lie there. Scores
are then no chips: its own is one worse than losing everything, and what that makes is shared by the
others who have chips left, or by all others where none has, so that scores come to 0. If only one
player is left then, the hand under way does not count. Of two players who forfeits has -1, and the
other one 1.

Example: "raise to 12" (the whole bet of this round; "raise 12" means the same, "raise by 4" is on
top of the highest bet), "bet 6", "call", "check", "fold", "all in".
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from raybench.games.parts.contract import Game, InvalidMove, State
from raybench.games.parts.poker import chips, history, seating, standins, view
from raybench.games.parts.poker.cards import Cards, holes, redealt, shuffled
from raybench.games.parts.poker.moves import read
from raybench.games.parts.poker.options import options
from raybench.games.parts.poker.settings import PokerRules, in_words
from raybench.games.parts.poker.story import Hand, ended
from raybench.games.parts.poker.table import Table, board, copied, dealt, do, replayed
from raybench.games.parts.seats import named, seat_of, seats
from raybench.statements import Statement
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Poker(State):
    """One hand under way, and what the earlier ones left."""

    rules: PokerRules
    seed: int
    stacks: tuple[int, ...]
    """Everybody's chips, before this hand."""
    order: seating.Order
    deck: Cards
    table: Table = field(compare=False, repr=False)
    """This hand as pokerkit has it, which deck and acts make; nobody changes it."""
    acts: tuple[str, ...] = ()
    past: tuple[Hand, ...] = ()
    gone: tuple[int, ...] = ()
    """Who has left, in that order."""

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules.players)

    @property
    def to_move(self) -> str | None:
        if self._ended or (actor := self.table.actor_index) is None:
            return None
        return named(self.order[actor])

    @property
    def outcome(self) -> str:
        return chips.told(self.stacks, self.gone, len(self.past)) if self._ended else ""

    @property
    def hand(self) -> Hand:
        """The hand under way, or just over, as it is kept."""
        cards = holes(self.deck, len(self.order))
        return ended(len(self.past) + 1, self.order, self.table, cards)

    @property
    def _ended(self) -> bool:
        return len(self.past) == self.rules.hands or len(self._playing) < 2

    @property
    def _playing(self) -> list[int]:
        return seating.playing(self.stacks, self.gone)

    def observe(self, role: str) -> Observation:
        seat, words = seat_of(role), in_words(self.rules)
        shown = view.shown(self, seat, self.hole(seat))
        if role != self.to_move:
            return Observation(role, words, shown)
        may = options(self.table)
        action = "call_or_fold" if may.cost else "check_or_bet"
        return Observation(role, words, shown, action, f"Your move: {may}.")

    def hole(self, seat: int) -> Cards:
        """Return the cards that only the seat sees."""
        if seat not in self.order:
            return ()
        return holes(self.deck, len(self.order))[self.order.index(seat)]

    def legal(self) -> tuple[str, ...]:
        return () if self._ended else options(self.table).listed()

    def apply(self, move: str) -> "Poker":
        if self._ended:
            raise InvalidMove(Statement("poker.over", "the match is over"))
        return self._acted(read(move, options(self.table), self.to_move or ""))._settled()

    def _acted(self, act: str) -> "Poker":
        copy = copied(self.table)
        do(copy, act)
        return replace(self, table=copy, acts=(*self.acts, act))

    def _settled(self) -> "Poker":
        """Return the state with the next decision of somebody who is there."""
        state = self
        while not state._ended:
            if not state.table.status:
                state = state._next()
            elif (actor := state.table.actor_index) is not None and (
                state.order[actor] in state.gone
            ):
                state = state._acted("leave")
            else:
                break
        return state

    def _next(self) -> "Poker":
        """Return the state after this hand, with the next one dealt where there is one."""
        hand, stacks = self.hand, list(self.stacks)
        for seat, left in zip(self.order, hand.after, strict=True):
            stacks[seat] = left
        after = replace(self, stacks=tuple(stacks), past=(*self.past, hand))
        if after._ended:
            return after
        order = seating.following(self.order, after._playing)
        deck = shuffled(self.seed, len(after.past) + 1)
        table = _laid(self.rules, stacks, order, deck)
        return replace(after, order=order, deck=deck, table=table, acts=())

    def without(self, role: str) -> "Poker | None":
        if self._ended or seat_of(role) not in self._playing:
            return self
        if self.rules.players == 2:
            return None
        return replace(self, gone=(*self.gone, seat_of(role)))._settled()

    def scores(self) -> dict[str, float]:
        if not self._ended:
            return dict.fromkeys(self.roles, 0.0)
        return chips.scored(self.stacks, self.gone, self.rules.stack)

    def redrawn(self, role: str, rng: random.Random) -> "Poker":
        seat, shown = seat_of(role), len(board(self.table))
        past = tuple(hand.redrawn(seat, rng) for hand in self.past)
        state = replace(self, past=past, seed=rng.getrandbits(63))
        if self._ended:
            return state
        index = self.order.index(seat) if seat in self.order else None
        deck = redealt(self.deck, index, len(self.order), shown, rng)
        fresh = _laid(self.rules, self.stacks, self.order, deck)
        return replace(state, deck=deck, table=replayed(fresh, self.acts))

    def sample(self, rng: random.Random) -> str:
        return standins.any_move(self.table, rng)

    def good(self, rng: random.Random) -> str:
        return standins.good_move(self.table, self.hole(seat_of(self.to_move or "")), rng)


def _tight_passive(state: Poker, rng: random.Random) -> str:
    return standins.passive_move(state.table, state.hole(seat_of(state.to_move or "")))


def _laid(rules: PokerRules, stacks: Sequence[int], order: seating.Order, deck: Cards) -> Table:
    blinds = (rules.small_blind, rules.big_blind)
    return dealt([stacks[seat] for seat in order], blinds, deck)


def _begin(seed: int, rules: PokerRules) -> Poker:
    stacks = (rules.stack,) * rules.players
    order, deck = seating.first(rules.players), shuffled(seed, 1)
    table = _laid(rules, stacks, order, deck)
    return Poker(rules, seed, stacks, order, deck, table)._settled()


GAME = Game(
    "poker",
    "Poker",
    PokerRules,
    _begin,
    lambda rules: seats(rules.players),
    written=history.written,
    scripts={"tight_passive": _tight_passive},
)
