"""How stand-ins bid: at random, or by what is likely to lie under the others' cups."""

import random
from collections.abc import Sequence

from raybench.games.parts.dice.bids import Bid, above, chance
from raybench.games.parts.dice.settings import DiceRules


def any_move(last: Bid | None, made: int, dice: int, rules: DiceRules, rng: random.Random) -> str:
    """Return a low bid, or a call: the more often, the more bids were made."""
    higher = _near(last, dice, rules)
    if not higher or (last and rng.random() < made / (made + 3)):
        return "call"
    return "bid {} {}".format(*rng.choice(higher))


def good_move(last: Bid | None, own: Sequence[int], dice: int, rules: DiceRules) -> str:
    """Call what is less likely than not; else bid what is likeliest to hold."""

    def likely(bid: Bid) -> float:
        return chance(bid, own, dice - len(own), rules.faces, wild=rules.wild)

    higher = _near(last, dice, rules)
    if not higher or (last and likely(last) < 0.5):
        return "call"
    return "bid {} {}".format(*max(higher, key=likely))


def _near(last: Bid | None, dice: int, rules: DiceRules) -> list[Bid]:
    """Return the lowest bids that are possible."""
    return above(last, dice, rules.faces)[: 2 * rules.faces]
