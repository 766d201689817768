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
        if not 2 <= self.players <= 10:
            raise ValueError(f"players is {self.players}: it is 2 to 10")
        if not (1 <= self.dice <= 20 and 2 <= self.faces <= 10):
            raise ValueError("dice is 1 to 20 for each player, faces 2 to 10")
        if self.rounds not in ("one", "elimination"):
            raise ValueError(f"rounds is '{self.rounds}': it is one or elimination")


def in_words(rules: DiceRules) -> str:
    """Return the rules as players read them."""
    end = (
        "Whoever is wrong loses the game."
        if rules.rounds == "one"
        else "Whoever is wrong loses a die; who has none is out; the last one left wins."
    )
    wild = " Ones count as every face, except where ones are bid." if rules.wild else ""
    return (
        f"You play Liar's Dice with {rules.players} players. Everybody rolls dice with "
        f"{rules.faces} faces and sees only their own. In turn you either bid that at least "
        "QUANTITY dice of one FACE lie on the table, all players' dice counted, or call the last "
        "bid a lie. A bid must be "
        "higher than the last: more dice of any face, or as many of a higher face. At a call all "
        "dice are shown: where the bid holds, the caller is wrong, else the bidder. " + end + wild
    )


def seats(rules: DiceRules) -> tuple[str, ...]:
    """Return the roles."""
    return tuple(f"player_{seat + 1}" for seat in range(rules.players))
