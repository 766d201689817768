"""How many play Liar's Dice, with what, for how long; and the rules in words."""

from dataclasses import dataclass

from raybench.games.parts.contract import Rules


@dataclass(frozen=True, slots=True)
class DiceRules(Rules):
    """How many sit at the table, with what, and how long."""

    players: int = 2
    dice: int = 5
    faces: int = 6
    wild: bool = False
    rounds: str = "one"

    def __post_init__(self) -> None:
        self.within(players=(2, 10), dice=(1, 20), faces=(2, 10))
        self.one_of(rounds=("one", "elimination"))


def in_words(rules: DiceRules) -> str:
    """Return the rules as players read them."""
    end = (
        "Whoever is wrong loses the game."
        if rules.rounds == "one"
        else "Whoever is wrong loses a die and begins the next round; who has none left is out, "
        "and the next one begins. Places score, evenly: 1 for the last one left, -1 for the first "
        "who is out."
    )
    wild = " Ones count as every face, except where ones are bid." if rules.wild else ""
    return (
        f"You play Liar's Dice with {rules.players} players. Everybody rolls dice with "
        f"{rules.faces} faces and sees only their own. In turn you either bid that at least "
        "QUANTITY dice of one FACE lie on the table, all players' dice counted, or call the last "
        "bid a lie. A bid must be higher than the last: more dice of any face, or as many of a "
        "higher face; never more dice than lie on the table. At a call all dice are shown: where "
        "the bid holds, the caller is wrong, else the bidder. " + end + wild
    )
