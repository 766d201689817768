"""What is debated, for how long, in which order; and the rules in words."""

import random
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import NamedTuple

from raybench.games.parts.contract import Rules
from raybench.games.parts.quoting import NOTICE

ROLES = ("for", "against")
_LONGEST_TOPIC = 300


class Turn(NamedTuple):
    """Whose speech it is, and which."""

    role: str
    part: str
    """'opening', 'rebuttal' or 'closing'."""
    round: int
    """Speeches of one round belong together."""

    @property
    def blind(self) -> bool:
        """Whether the two sides' speeches of this round are written without the other's."""
        return self.part != "rebuttal"


@dataclass(frozen=True, slots=True)
class DebateRules(Rules):
    """The motion ('' draws one by the seed), which speeches there are, and how long they may be.

    ZeroSumEval's debates have openings and rebuttals, and no closings: closings=false has that.
    """

    topic: str = ""
    rebuttals: int = 2
    words: int = 250
    closings: bool = True

    def __post_init__(self) -> None:
        if len(self.topic) > _LONGEST_TOPIC or len(self.topic.splitlines()) > 1:
            raise ValueError(f"topic is one line of at most {_LONGEST_TOPIC} characters")
        self.within(rebuttals=(0, 10), words=(20, 2000))


@cache
def topics() -> tuple[str, ...]:
    """Return the motions that come with the game: one a line in `topics.txt`, all our own."""
    return tuple(files(__package__).joinpath("topics.txt").read_text(encoding="utf-8").splitlines())


def drawn(seed: int, rules: DebateRules) -> tuple[str, str]:
    """Return the motion, and who begins the rebuttals."""
    rng = random.Random(f"debate/{seed}")
    topic, begins = rng.choice(topics()), rng.choice(ROLES)
    return rules.topic.strip() or topic, begins


@cache
def order(rebuttals: int, begins: str, closings: bool = True) -> tuple[Turn, ...]:
    """Return all speeches in their order: in each round of rebuttals the other side begins.

    Openings and closings are blind, so that it does not matter who is asked first.
    """
    second = next(role for role in ROLES if role != begins)
    pairs = ((begins, second), (second, begins))
    rounds = (
        [Turn(role, "rebuttal", number) for role in pairs[(number - 1) % 2]]
        for number in range(1, rebuttals + 1)
    )
    opening, closing = (
        [Turn(role, part, number) for role in ROLES]
        for part, number in (("opening", 0), ("closing", rebuttals + 1))
    )
    return (*opening, *chain.from_iterable(rounds), *(closing if closings else ()))


def in_words(rules: DebateRules, topic: str, role: str) -> str:
    """Return the rules as a side reads them."""
    rounds = {0: "there are no rebuttals", 1: "there is one round of rebuttals"}.get(
        rules.rebuttals, f"there are {rules.rebuttals} rounds of rebuttals"
    )
    if rules.rebuttals:
        rounds += ", in which you answer what the other side has said"
    last = "; last come the closings, again written before either is shown" * rules.closings
    return (
        f"You debate the motion: {topic}\nYou speak {role} it, whatever you think of it yourself; "
        f"the other side speaks {'against' if role == 'for' else 'for'} it. Both openings are "
        f"written before either is shown; then {rounds}{last}. A speech is cut after {rules.words} "
        "words. Then a jury scores both sides by the same rubric: argument, evidence, rebuttal and "
        f"clarity. The side with the higher total wins.\n{NOTICE}"
    )
