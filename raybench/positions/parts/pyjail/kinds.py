"""Which kinds of jails there are. A kind is in one split, which its name decides."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from raybench.positions.parts.pyjail import conditions, evaluated, filtered, passwords, reached
from raybench.positions.parts.pyjail.lot import Jail, Lot


@dataclass(frozen=True, slots=True)
class Kind:
    """Jails that open by one trick."""

    name: str
    level: Literal["easy", "hard"]
    """easy: its source says what it wants. hard: what opens it was not meant to."""
    jails: tuple[Callable[[Lot], Jail], ...]

    def drawn(self, rng: random.Random) -> Jail:
        """Return one of them."""
        return rng.choice(self.jails)(Lot(rng))


KINDS = (
    Kind("clear", "easy", (passwords.clear, passwords.joined)),
    Kind("reversed", "easy", (passwords.mirrored,)),
    Kind("xor", "easy", (passwords.masked,)),
    Kind("encoded", "easy", (passwords.encoded, passwords.hexadecimal)),
    Kind("letters", "easy", (passwords.shifted, passwords.shuffled)),
    Kind("sums", "easy", (conditions.linear, conditions.remainders)),
    Kind("checksum", "easy", (conditions.checksum,)),
    Kind("shape", "easy", (conditions.shape,)),
    Kind("json", "easy", (conditions.unequal, conditions.fields)),
    Kind("forbidden_words", "hard", (evaluated.forbidden_words,)),
    Kind("no_builtins", "hard", (evaluated.object_in_reach, evaluated.nothing_in_reach)),
    Kind("characters", "hard", (evaluated.characters,)),
    Kind("quotes", "hard", (evaluated.quotes,)),
    Kind("length", "hard", (evaluated.length,)),
    Kind("unicode", "hard", (evaluated.lookalikes, evaluated.cases)),
    Kind("closure", "hard", (evaluated.closure,)),
    Kind("syntax", "hard", (filtered.no_attributes, filtered.no_calls)),
    Kind("pattern", "hard", (filtered.begins, filtered.one_line)),
    Kind("format", "hard", (reached.formatted, reached.percent)),
    Kind("walk", "hard", (reached.walk,)),
    Kind("pickle", "hard", (reached.unpickled, reached.of_builtins)),
    Kind("shell", "hard", (reached.shell,)),
    Kind("pollution", "hard", (reached.pollution,)),
)
