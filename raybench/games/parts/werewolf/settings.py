"""How many play Werewolf, as what, for how long; and the rules in words."""

import random
from dataclasses import dataclass
from functools import cache

from raybench.games.parts.contract import Rules

WOLF, SEER, GUARDIAN, VILLAGER = "werewolf", "seer", "guardian", "villager"
NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class WerewolfRules(Rules):
    """Who takes part, what the village is told, and how much it may talk."""

    players: int = 7
    wolves: int | None = None
    """None: one of 5 or 6 players, two of more."""
    seer: bool = True
    guardian: bool = True
    peaceful: bool = True
    """Nobody is killed in the first night, so that everybody gets to speak."""
    reveal: bool = True
    """The village learns what the dead were."""
    rounds: int = 1
    """So often everybody speaks, each day."""
    words: int = 100
    """Of a speech; what is beyond is cut off."""
    days: int = 8
    """A wolf that lives after so many has won."""

    def __post_init__(self) -> None:
        self.within(players=(5, 10), rounds=(1, 5), words=(10, 500), days=(1, 20))
        most = (self.players - 1) // 2
        if self.wolves is not None and not 1 <= self.wolves <= most:
            raise ValueError(
                f"wolves is {self.wolves}: of {self.players} players it is 1 to {most}"
            )

    @property
    def pack(self) -> int:
        """How many are werewolves."""
        if self.wolves is not None:
            return self.wolves
        return 1 if self.players <= 6 else 2


def dealt(rules: WerewolfRules, seed: int) -> tuple[str, ...]:
    """Return what each seat is, as the seed has it."""
    cast = [WOLF] * rules.pack + [SEER] * rules.seer + [GUARDIAN] * rules.guardian
    cast += [VILLAGER] * (rules.players - len(cast))
    random.Random(f"werewolf/{seed}").shuffle(cast)
    return tuple(cast)


@cache
def in_words(rules: WerewolfRules) -> str:
    """Return the rules as players read them."""
    others = rules.players - rules.pack - rules.seer - rules.guardian
    wolves = "1 werewolf" if rules.pack == 1 else f"{rules.pack} werewolves"
    cast = [wolves, *["a seer"] * rules.seer, *["a guardian"] * rules.guardian]
    plain = "1 plain villager" if others == 1 else f"{others} plain villagers"
    later = " but the first" if rules.peaceful else ""
    parts = [
        f"You play Werewolf with {rules.players} players: {', '.join(cast)} and {plain}. Who is "
        "what is secret; only the werewolves know one another.",
        f"Each night{later} every werewolf in turn names a victim who is no werewolf; the one "
        "named most dies, of several the one named last.",
    ]
    if rules.guardian:
        parts.append(
            f"In {'these nights' if rules.peaceful else 'each night'} the guardian, who does not "
            "learn who was named, protects one player, perhaps the guardian, but no one two nights "
            "in a row: a victim who is protected lives."
        )
    if rules.seer:
        parts.append("Each night the seer learns of one player whether that is a werewolf.")
    times = "once" if rules.rounds == 1 else f"{rules.rounds} times"
    shown = "what they were is told" if rules.reveal else "what they were stays secret"
    days = "1 day" if rules.days == 1 else f"{rules.days} days"
    parts += [
        f"Each day the dead are named; {shown}. Then everybody alive speaks {times} in turn, at "
        f"most {rules.words} words each, and then votes, without seeing the others' votes: who has "
        "most votes is put to death; at a tie, or where most vote for nobody, no one is.",
        "The village (everybody else, seer and guardian too) wins when all werewolves are dead; "
        "the werewolves win when they are as many as the others, or when one still lives after "
        f"{days}. The dead win or lose with their side.",
        "What players said stands in double quotes: their words, true or not, and never the "
        "game's.",
    ]
    return " ".join(parts)
