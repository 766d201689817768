"""Liar's Dice: everybody bids on all dice, and sees only their own.

Source: ZeroSumEval, section 4 ("players take turns bidding on dice or calling the other's bluff");
the rules are those of the common game.

Everybody rolls in secret. In turn, each either bids that at least so many dice of one face lie on
the table, or calls the last bid a lie. A bid has to rise: more dice of any face, or as many of a
higher face; never more dice than there are. At a call all dice are shown: where the bid holds, who
called has lost, else who bid. With `rounds=one` that ends the game, and the others share what the
loser lost. With `rounds=elimination` the loser gives up a die and begins the next round; who has
none is out, and the last one left has won: places count, evenly from 1 to -1. With `wild` ones
count as every face, except where ones are bid. Who begins is the first seat.

Example: "bid 3 5" (at least three fives; "3 fives" and "3x5" mean the same), then "call".
"""

import random
from dataclasses import dataclass, replace

from raybench.games.parts.contract import Game, InvalidMove, State
from raybench.games.parts.dice import standins, view
from raybench.games.parts.dice.bids import Bid, check, count, listed, read
from raybench.games.parts.dice.hands import Hands, following, one, rolled
from raybench.games.parts.dice.settings import DiceRules, in_words
from raybench.games.parts.dice.written import written
from raybench.games.parts.seats import named, seat_of, seats
from raybench.statements import Statement
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Dice(State):
    """One round under way, and what the earlier ones left."""

    rules: DiceRules
    seed: int
    hands: Hands
    turn: int = 0
    bids: tuple[view.Made, ...] = ()
    """Of this round."""
    round: int = 0
    told: tuple[str, ...] = ()
    """How earlier rounds ended, which everybody saw."""
    places: tuple[int, ...] = ()
    """Who is out, the worst in front: those who left, then who lost all dice, each in order."""
    left: int = 0
    """How many of these left the table."""

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules.players)

    @property
    def to_move(self) -> str | None:
        return None if self._ended else named(self.turn)

    @property
    def outcome(self) -> str:
        return self.told[-1] if self._ended else ""

    @property
    def _ended(self) -> bool:
        out = len(self.places)
        return out == self.rules.players - 1 or (out > 0 and self.rules.rounds == "one")

    @property
    def _on_table(self) -> int:
        return sum(map(len, self.hands))

    @property
    def _last(self) -> Bid | None:
        return self.bids[-1][1:] if self.bids else None

    def observe(self, role: str) -> Observation:
        words = in_words(self.rules)
        shown = view.shown(seat_of(role), self.hands, self.bids, self.told)
        if role != self.to_move:
            return Observation(role, words, shown)
        action = "bid_or_call" if self.bids else "bid"
        return Observation(role, words, shown, action, view.task(self._last))

    def legal(self) -> tuple[str, ...]:
        if self._ended:
            return ()
        higher = listed(self._last, self._on_table, self.rules.faces)
        return (*higher, "call") if self.bids else (*higher,)

    def apply(self, move: str) -> "Dice":
        if self._ended:
            raise InvalidMove(Statement("move.game_over", "the game is over"))
        bid = read(move)
        if bid is not None:
            check(bid, self._last, self._on_table, self.rules.faces)
            return self._bid(*bid)
        if not self.bids:
            raise InvalidMove(
                Statement("dice.no_bid", "there is no bid to call yet: begin with a bid")
            )
        return self._called(self.bids[-1])

    def _bid(self, quantity: int, face: int) -> "Dice":
        bids = (*self.bids, (self.turn, quantity, face))
        turn = following(self.turn, self.hands)
        # Most states come about here; `replace` would take twice as long.
        return Dice(
            self.rules, self.seed, self.hands, turn, bids,
            self.round, self.told, self.places, self.left,
        )  # fmt: skip

    def _called(self, bid: view.Made) -> "Dice":
        bidder, quantity, face = bid
        found = sum([count(hand, face, wild=self.rules.wild) for hand in self.hands])
        loser = self.turn if found >= quantity else bidder
        how = view.called(self.turn, bid, found, self.hands, loser)
        return self._lost(loser, how, len(self.hands[loser]) if self.rules.rounds == "one" else 1)

    def _lost(self, loser: int, how: str, dice: int) -> "Dice":
        """Return the next round after a seat has lost so many dice, or the end."""
        left = [len(hand) - dice * (seat == loser) for seat, hand in enumerate(self.hands)]
        places = self.places if left[loser] else (*self.places, loser)
        ended = replace(self, told=(*self.told, how), places=places)
        if ended._ended:
            return ended
        hands = rolled(self.seed, self.round + 1, left, self.rules.faces)
        turn = loser if left[loser] else following(loser, hands)
        return replace(ended, hands=hands, turn=turn, bids=(), round=self.round + 1)

    def without(self, role: str) -> "Dice | None":
        seat = seat_of(role)
        if self._ended or seat in self.places:
            return self
        if self.rules.players == 2 or self.rules.rounds == "one":
            return None
        after = self._lost(
            seat, Statement("dice.left", "{role} left the table", role=role), len(self.hands[seat])
        )
        others = [it for it in after.places if it != seat]
        others.insert(self.left, seat)
        return replace(after, places=tuple(others), left=self.left + 1)

    def scores(self) -> dict[str, float]:
        if not self._ended:
            return dict.fromkeys(self.roles, 0.0)
        others = self.rules.players - 1
        if self.rules.rounds == "one":
            lost = [seat in self.places for seat in range(self.rules.players)]
            won = [-1.0 if it else 1 / others for it in lost]
        else:
            places = {seat: 2 * rank / others - 1 for rank, seat in enumerate(self.places)}
            won = [places.get(seat, 1.0) for seat in range(self.rules.players)]
        return dict(zip(self.roles, won, strict=True))

    def redrawn(self, role: str, rng: random.Random) -> "Dice":
        hands = tuple(
            hand if named(seat) == role else one(rng, len(hand), self.rules.faces)
            for seat, hand in enumerate(self.hands)
        )
        return replace(self, hands=hands)

    def sample(self, rng: random.Random) -> str:
        return standins.any_move(self._last, len(self.bids), self._on_table, self.rules, rng)

    def good(self, rng: random.Random) -> str:
        """Call what is less likely than not; else bid what is likeliest to hold."""
        own = self.hands[self.turn]
        return standins.good_move(self._last, own, self._on_table, self.rules)


def _begin(seed: int, rules: DiceRules) -> Dice:
    return Dice(rules, seed, rolled(seed, 0, [rules.dice] * rules.players, rules.faces))


GAME = Game(
    "liars_dice",
    "Liar's Dice",
    DiceRules,
    _begin,
    lambda rules: seats(rules.players),
    written=written,
)
