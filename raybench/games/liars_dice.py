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
from raybench.games.parts.dice.bids import Bid, above, chance, count, read
from raybench.games.parts.dice.settings import DiceRules, in_words, seats
from raybench.types import Observation


@dataclass(frozen=True, slots=True)
class Dice(State):
    """One round under way, and what the earlier ones left."""

    rules: DiceRules
    seed: int
    hands: tuple[tuple[int, ...], ...]
    """Everybody's dice; none for who is out."""
    turn: int = 0
    bids: tuple[tuple[int, int, int], ...] = ()
    """Of this round: seat, how many, of which face."""
    round: int = 0
    told: tuple[str, ...] = ()
    """How earlier rounds ended, which everybody saw."""
    places: tuple[int, ...] = ()
    """Who is out, the worst in front: those who left, then who lost all dice, each in order."""
    left: int = 0
    """How many of these left the table."""

    @property
    def roles(self) -> tuple[str, ...]:
        return seats(self.rules)

    @property
    def to_move(self) -> str | None:
        return None if self._ended else f"player_{self.turn + 1}"

    @property
    def _ended(self) -> bool:
        left = self.rules.players - len(self.places)
        return left == 1 or (self.rules.rounds == "one" and bool(self.places))

    @property
    def outcome(self) -> str:
        return self.told[-1] if self._ended else ""

    def observe(self, role: str) -> Observation:
        seat = int(role.removeprefix("player_")) - 1
        mine = " ".join(map(str, self.hands[seat])) or "none, you are out"
        counts = ", ".join(f"player_{i + 1} {len(hand)}" for i, hand in enumerate(self.hands))
        bids = "; ".join(f"player_{s + 1} {n} dice of {f}" for s, n, f in self.bids) or "none yet"
        view = f"You are {role}. Your dice: {mine}\nDice on the table: {counts}\nBids: {bids}"
        if self.told:
            view = "Earlier rounds:\n" + "\n".join(self.told) + f"\n\nThis round:\n{view}"
        if role != self.to_move:
            return Observation(role, in_words(self.rules), view)
        task = "Your move: 'bid QUANTITY FACE', as in 'bid 3 5'"
        task += ", or 'call'." if self.bids else ". There is no bid to call yet."
        return Observation(
            role, in_words(self.rules), view, "bid_or_call" if self.bids else "bid", task
        )

    def legal(self) -> tuple[str, ...]:
        if self._ended:
            return ()
        higher = tuple(f"bid {n} {face}" for n, face in self._above())
        return (*higher, "call") if self.bids else higher

    def apply(self, move: str) -> "Dice":
        if self._ended:
            raise InvalidMove("the game is over")
        bid = read(move)
        if bid is None and not self.bids:
            raise InvalidMove("there is no bid to call yet: begin with a bid")
        return self._called() if bid is None else self._bid(*bid)

    def _bid(self, quantity: int, face: int) -> "Dice":
        if not 1 <= face <= self.rules.faces:
            raise InvalidMove(f"there is no face {face}: faces are 1 to {self.rules.faces}")
        if not 1 <= quantity <= self._on_table:
            raise InvalidMove(f"{quantity} dice cannot be bid: {self._on_table} are on the table")
        if self._last is not None and (quantity, face) <= self._last:
            raise InvalidMove(
                f"{quantity} dice of {face} is not above the last bid, {self._last[0]} dice of "
                f"{self._last[1]}: bid more dice, or as many of a higher face, or call"
            )
        made = (*self.bids, (self.turn, quantity, face))
        following = self._next(self.turn, self.hands)
        return Dice(
            self.rules,
            self.seed,
            self.hands,
            following,
            made,
            self.round,
            self.told,
            self.places,
            self.left,
        )

    def _called(self) -> "Dice":
        bidder, quantity, face = self.bids[-1]
        found = sum(count(hand, face, wild=self.rules.wild) for hand in self.hands)
        loser = self.turn if found >= quantity else bidder
        shown = ", ".join(
            f"player_{seat + 1} {' '.join(map(str, hand))}"
            for seat, hand in enumerate(self.hands)
            if hand
        )
        how = (
            f"player_{self.turn + 1} called player_{bidder + 1}'s {quantity} dice of {face}; there "
            f"were {found} ({shown}): player_{loser + 1} lost"
        )
        return self._lost(loser, how, self.rules.dice if self.rules.rounds == "one" else 1)

    @property
    def _on_table(self) -> int:
        return sum(map(len, self.hands))

    @property
    def _last(self) -> Bid | None:
        return self.bids[-1][1:] if self.bids else None

    def _above(self) -> list[Bid]:
        return above(self._last, self._on_table, self.rules.faces)

    def _lost(self, loser: int, how: str, dice: int) -> "Dice":
        """Return the next round after a seat has lost so many dice, or the end."""
        left = [len(hand) - dice * (seat == loser) for seat, hand in enumerate(self.hands)]
        places = self.places if left[loser] > 0 else (*self.places, loser)
        ended = replace(self, told=(*self.told, how), places=places)
        if ended._ended:
            return ended
        hands = _rolled(self.seed, self.round + 1, left, self.rules.faces)
        turn = loser if left[loser] > 0 else self._next(loser, hands)
        return replace(ended, hands=hands, turn=turn, bids=(), round=self.round + 1)

    def _next(self, seat: int, hands: tuple[tuple[int, ...], ...]) -> int:
        order = (*range(seat + 1, len(hands)), *range(seat))
        return next((each for each in order if hands[each]), seat)

    def without(self, role: str) -> "Dice | None":
        if self.rules.players == 2 or self.rules.rounds == "one":
            return None
        seat = int(role.removeprefix("player_")) - 1
        if self._ended or seat in self.places:
            return self
        after = self._lost(seat, f"{role} left the table", len(self.hands[seat]))
        others = [it for it in after.places if it != seat]
        others.insert(self.left, seat)
        return replace(after, places=tuple(others), left=self.left + 1)

    def scores(self) -> dict[str, float]:
        n = self.rules.players
        if self.rules.rounds == "one":
            return {
                role: -1.0 if seat in self.places else 1 / (n - 1)
                for seat, role in enumerate(self.roles)
            }
        places = {seat: 2 * rank / (n - 1) - 1 for rank, seat in enumerate(self.places)}
        return {role: places.get(seat, 1.0) for seat, role in enumerate(self.roles)}

    def redrawn(self, role: str, rng: random.Random) -> "Dice":
        faces = self.rules.faces
        hands = tuple(
            hand
            if f"player_{seat + 1}" == role
            else tuple(sorted(rng.choices(range(1, faces + 1), k=len(hand))))
            for seat, hand in enumerate(self.hands)
        )
        return replace(self, hands=hands)

    def sample(self, rng: random.Random) -> str:
        higher = self._above()[: 2 * self.rules.faces]
        if not higher or (self.bids and rng.random() < len(self.bids) / (len(self.bids) + 3)):
            return "call"
        return "bid {} {}".format(*rng.choice(higher))

    def good(self, rng: random.Random) -> str:
        """Call what is less likely than not; else bid what is likeliest to hold."""
        higher = self._above()[: 2 * self.rules.faces]
        if not higher or (self._last is not None and self._chance(self._last) < 0.5):
            return "call"
        return "bid {} {}".format(*max(higher, key=self._chance))

    def _chance(self, bid: Bid) -> float:
        own = self.hands[self.turn]
        others = self._on_table - len(own)
        return chance(bid, own, others, self.rules.faces, wild=self.rules.wild)


def _rolled(seed: int, round_: int, dice: list[int], faces: int) -> tuple[tuple[int, ...], ...]:
    rng = random.Random(f"liars_dice/{seed}/{round_}")
    return tuple(
        tuple(sorted(rng.choices(range(1, faces + 1), k=count))) if count > 0 else ()
        for count in dice
    )


def _begin(seed: int, rules: DiceRules) -> Dice:
    hands = _rolled(seed, 0, [rules.dice] * rules.players, rules.faces)
    return Dice(rules, seed, hands)


GAME = Game("liars_dice", "Liar's Dice", DiceRules, _begin, seats)
