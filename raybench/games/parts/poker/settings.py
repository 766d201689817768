"""How many play poker, for how many hands, with what; and the rules in words."""

from dataclasses import dataclass

from raybench.games.parts.contract import Rules


@dataclass(frozen=True, slots=True)
class PokerRules(Rules):
    """How many sit at the table, how long, with how many chips, and what the blinds are."""

    players: int = 2
    hands: int = 6
    stack: int = 200
    small_blind: int = 1
    big_blind: int = 2

    def __post_init__(self) -> None:
        self.within(players=(2, 10), hands=(1, 200))
        if not 1 <= self.small_blind <= self.big_blind:
            raise ValueError(
                f"the blinds are {self.small_blind} and {self.big_blind}: the small one is 1 or "
                "more, the big one no smaller"
            )
        if not self.big_blind <= self.stack <= 10_000:
            raise ValueError(f"stack is {self.stack}: it is one big blind to 10,000 chips")


def in_words(rules: PokerRules) -> str:
    """Return the rules as players read them."""
    return (
        f"You play no-limit Texas Hold'em: {rules.players} players, {rules.hands} hands at most, "
        f"{rules.stack} chips each at the start, blinds {rules.small_blind} and "
        f"{rules.big_blind}. The button moves on by one seat after each hand; with two players "
        "left the button posts the small blind. Each player gets two cards that only they see; "
        "five cards are dealt open, three (flop), one (turn) and one (river), with a round of "
        "betting before the flop and after each. A raise has to be at least as large as the last "
        f"bet or raise of the round, and at least {rules.big_blind}, unless it is all in; an "
        "all-in that is smaller does not let those raise again who have acted. Who cannot call "
        "in full may call with all chips, and can win only what each of the others put in up to "
        "that amount; the rest makes side pots. At the end the best hand of five cards out of "
        "seven wins; equal hands split. The last to bet shows first, then in turn only those who "
        "are not beaten yet; when somebody is all in, all show. Who has no chips left is out. "
        "What counts is how many chips you have won or lost at the end."
    )
