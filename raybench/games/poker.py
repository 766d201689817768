"""Poker: no-limit Texas Hold'em for two to ten players, several hands in a row.

Source: ZeroSumEval, section 4 ("a simple variant of Texas Hold 'Em that allows up to 10 players").
Ours is the whole game: `pokerkit` has the rules of the table (blinds, the big blind's option,
least raises, side pots, splits), and where rooms differ its choice holds: the chips that a split
leaves over go to the winner next to the button's left. Two of its choices are none of poker's and
are put right: an all-in below a full raise does not open the betting again for those who have acted
(several that come to a full raise do), and a big blind too short of chips to be posted in full has
to be called in full.

The choices that are ours. The button moves to the next player with chips (of the last two it goes
to who had the big blind, where that is one of them); it first lies so that
player_1 begins. Each hand's deck comes from the seed and the hand's number: a pairing played
again with the same seed and the seats exchanged sees the same cards fall for the other side, which
takes out much of the luck. Folding where checking is free is refused. At a showdown the last to bet
or raise in the last round shows first (without a bet, who is first to act), then in turn only those
whom no shown hand beats; the others muck, and nobody sees their cards; where somebody is all in,
all show. Who has no chips is out; the match ends after `hands` hands, or when one has all chips.

Scores are chips won or lost. Who leaves the table folds when its turn comes, and is dealt no more;
its score is a chip worse than losing everything, and what that makes is shared by the others, so
that scores come to 0. If only one player is left then, the hand under way does not count.

Example: "raise to 12" (the whole bet of this round; "raise 12" means the same, "raise by 4" is on
top of the highest bet), "bet 6", "call", "check", "fold", "all in".
"""

import random
from dataclasses import dataclass, field, replace

from raybench.games.parts.contract import Game, InvalidMove, State, Written
from raybench.games.parts.poker import history, skill
from raybench.games.parts.poker.moves import options, read
from raybench.games.parts.poker.settings import PokerRules, in_words, named, seats
from raybench.games.parts.poker.story import Hand, ended
from raybench.games.parts.poker.table import (
    Cards,
    Table,
    board,
    copied,
    dealt,
    do,
    holes,
    pot,
    redealt,
    replayed,
    shuffled,
)
from raybench.games.parts.poker.view import told
from raybench.games.parts.transcript import last
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Poker(State):
    """One hand under way, and what the earlier ones left."""

    rules: PokerRules
    seed: int
    stacks: tuple[int, ...]
    """Everybody's chips, before this hand."""
    order: tuple[int, ...]
    """The seats in this hand, from the left of the button, which is the last one."""
    deck: Cards
    table: Table = field(compare=False, repr=False)
    """This hand as pokerkit has it, which deck and acts make; nobody changes it."""
    acts: tuple[str, ...] = ()
    past: tuple[Hand, ...] = ()
    gone: tuple[int, ...] = ()
    """Who has left, in that order."""

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules)

    @property
    def to_move(self) -> str | None:
        if self._ended or (actor := self.table.actor_index) is None:
            return None
        return named(self.order[actor])

    @property
    def _ended(self) -> bool:
        return len(self.past) == self.rules.hands or len(self._playing) < 2

    @property
    def _playing(self) -> list[int]:
        return _playing(self.stacks, self.gone)

    @property
    def outcome(self) -> str:
        if not self._ended:
            return ""
        won = ", ".join(
            f"{named(seat)} {'left with' if seat in self.gone else 'has'} {chips}"
            for seat, chips in enumerate(self.stacks)
        )
        return f"after {len(self.past)} hand{'s' * (len(self.past) != 1)}: {won}"

    def observe(self, role: str) -> Observation:
        seat = _seat(role)
        past = [hand.seen(seat) for hand in self.past]
        earlier = ("Earlier hands:", *past, "") if past else ()
        if self._ended:
            return Observation(role, in_words(self.rules), "\n".join((*earlier, self.outcome)))
        number = f"Hand {len(self.past) + 1} of {self.rules.hands}. You are {role}."
        out = ", ".join(named(it) for it in range(len(self.stacks)) if it not in self.order)
        hand = told(self.table, self.order, seat, self._hole(seat), self.gone)
        view = "\n".join((*earlier, number, hand, *([f"Out: {out}"] if out else [])))
        if role != self.to_move:
            return Observation(role, in_words(self.rules), view)
        may = options(self.table)
        action = "call_or_fold" if may.cost else "check_or_bet"
        return Observation(role, in_words(self.rules), view, action, f"Your move: {may}.")

    def _hole(self, seat: int) -> Cards:
        if seat not in self.order:
            return ()
        return holes(self.deck, len(self.order))[self.order.index(seat)]

    def legal(self) -> tuple[str, ...]:
        return () if self._ended else options(self.table).listed()

    def apply(self, move: str) -> "Poker":
        if self._ended:
            raise InvalidMove("the match is over")
        return self._acted(read(move, options(self.table)))._settled()

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
        cards = holes(self.deck, len(self.order))
        hand = ended(len(self.past) + 1, self.order, self.table, cards)
        stacks = list(self.stacks)
        for seat, chips in zip(self.order, hand.after, strict=True):
            stacks[seat] = chips
        after = replace(self, stacks=tuple(stacks), past=(*self.past, hand))
        if after._ended:
            return after
        button, small_and_big = self.order[-1] + 1, self.order[:2]
        if len(self.order) > 2 == len(playing := _playing(after.stacks, self.gone)):
            # Of two the button posts the small blind: nobody posts the big one twice in a row.
            button = small_and_big[1] if small_and_big[1] in playing else button
        return _dealt(self.rules, self.seed, after.stacks, button, after.past, self.gone)

    def without(self, role: str) -> "Poker | None":
        if self.rules.players == 2 or self._ended or _seat(role) in self.gone:
            return None
        return replace(self, gone=(*self.gone, _seat(role)))._settled()

    def scores(self) -> dict[str, float]:
        start = self.rules.stack
        shared = sum(self.stacks[seat] + 1 for seat in self.gone)
        # What leavers leave goes to those who still have chips: who is bust has lost them all.
        left = {it for it, chips in enumerate(self.stacks) if chips and it not in self.gone}
        return {
            named(seat): -start - 1.0
            if seat in self.gone
            else chips - start + (shared / len(left) if seat in left else 0.0)
            for seat, chips in enumerate(self.stacks)
        }

    def redrawn(self, role: str, rng: random.Random) -> "Poker":
        seat, shown = _seat(role), len(board(self.table))
        past = tuple(hand.redrawn(seat, rng) for hand in self.past)
        state = replace(self, past=past, seed=rng.getrandbits(63))
        if self._ended:
            return state
        index = self.order.index(seat) if seat in self.order else None
        deck = redealt(self.deck, index, len(self.order), shown, rng)
        fresh = _laid(self.rules, self.stacks, self.order, deck)
        return replace(state, deck=deck, table=replayed(fresh, self.acts))

    def sample(self, rng: random.Random) -> str:
        may = options(self.table)
        if (draw := rng.random()) < 0.15 and may.cost:
            return "fold"
        if draw < 0.7 or may.lowest is None:
            return "call" if may.cost else "check"
        spread = (may.most - may.lowest) * (draw > 0.95)
        return may.move(may.lowest + rng.randint(0, max(spread, min(10, may.most - may.lowest))))

    def good(self, rng: random.Random) -> str:
        hole = self._hole(_seat(self.to_move or ""))
        sure = skill.strength(hole, board(self.table))
        others = sum(self.table.statuses) - 1
        return skill.play(options(self.table), sure, others, pot(self.table), rng)


def _seat(role: str) -> int:
    return int(role.removeprefix("player_")) - 1


def _begin(seed: int, rules: PokerRules) -> Poker:
    stacks = (rules.stack,) * rules.players
    # Before the flop the third seat after the button begins; of two players the button does.
    button = 0 if rules.players == 2 else (rules.players - 3) % rules.players
    return _dealt(rules, seed, stacks, button, (), ())._settled()


def _playing(stacks: tuple[int, ...], gone: tuple[int, ...]) -> list[int]:
    return [seat for seat, chips in enumerate(stacks) if chips and seat not in gone]


def _dealt(
    rules: PokerRules,
    seed: int,
    stacks: tuple[int, ...],
    button: int,
    past: tuple[Hand, ...],
    gone: tuple[int, ...],
) -> Poker:
    """Return the state with a hand dealt; the button is at this seat or the next one in play."""
    players = _playing(stacks, gone)
    at = next((place for place, seat in enumerate(players) if seat >= button), 0)
    order = (*players[at + 1 :], *players[: at + 1])
    deck = shuffled(seed, len(past) + 1)
    laid = _laid(rules, stacks, order, deck)
    return Poker(rules, seed, stacks, order, deck, laid, (), past, gone)


def _laid(rules: PokerRules, stacks: tuple[int, ...], order: tuple[int, ...], deck: Cards) -> Table:
    blinds = (rules.small_blind, rules.big_blind)
    return dealt([stacks[seat] for seat in order], blinds, deck)


def _written(match: Written) -> str:
    """Play the match again, and write it down as a hand history."""
    state = last(match)
    assert isinstance(state, Poker)
    hands = list(state.past)
    if state.table.status:
        cards = holes(state.deck, len(state.order))
        hands.append(ended(len(hands) + 1, state.order, state.table, cards))
    return history.written(match, hands, state.rules)


GAME = Game("poker", "Poker", PokerRules, _begin, seats, written=_written)
