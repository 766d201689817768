"""What is drawn for one jail, so that no two of a kind are the same text."""

import random
from string import Template
from textwrap import dedent
from typing import NamedTuple

_NAMES = (
    "anchor anvil arbour badge barrel basin beacon bellows bramble bridge candle canvas castle "
    "cellar chisel copper cradle drawer easel ember ferry fiddle furrow gable garnet goblet hamlet "
    "harbour hatch hinge kettle ladder lantern lattice ledger locket mallet marble meadow mortar "
    "paddle parcel pebble pillar plough pocket quarry quiver rafter ribbon saddle sickle spindle "
    "stable tablet thimble timber trellis tunnel turret valley vessel wagon willow window"
)
_NOUNS = (
    "badger beetle bishop cactus comet cricket desert falcon forest glacier island magnet monsoon "
    "mustang opossum osprey oyster parsnip pilgrim rooster salmon scholar season sparrow sunset "
    "surgeon thistle tourist trumpet walrus"
)
_REFUSALS = (
    "No.",
    "Not this time.",
    "That is not it.",
    "Access denied.",
    "The door stays shut.",
    "Try something else.",
    "Nothing happens.",
    "You may not pass.",
    "Wrong.",
    "Request refused.",
)


class Jail(NamedTuple):
    """A jail, and a text that opens it."""

    source: str
    key: str


class Lot:
    """Draws what jails are filled with, the names for one jail all different."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        names = _NAMES.split()
        self._names = rng.sample(names, len(names))

    def name(self) -> str:
        """Return a name for something in the code."""
        return self._names.pop()

    def names(self, count: int) -> list[str]:
        """Return several."""
        return [self.name() for _ in range(count)]

    def password(self) -> str:
        """Return two words and a number: letters, digits and hyphens."""
        first, second = self.rng.sample(_NOUNS.split(), 2)
        return f"{first}-{second}-{self.rng.randint(10, 999)}"

    def mixed(self, *needed: str, among: tuple[str, ...] = (), extra: int = 0) -> tuple[str, ...]:
        """Return what is needed, and some of the others, in any order."""
        every = [*needed, *self.rng.sample(among, extra)]
        return tuple(self.rng.sample(every, len(every)))

    def filled(self, text: str, /, **values: object) -> str:
        """Return a text with $names filled in; $no is what a jail says that stays shut."""
        refusal = self.rng.choice(_REFUSALS)
        return Template(dedent(text).strip()).substitute(values, no=refusal)
