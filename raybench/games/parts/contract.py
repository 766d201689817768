"""What every game offers: ⟨S, U, P, A, R, Next, Terminal⟩ as a state that never changes.

S is what a `State` holds, P its roles, Next its `to_move` with what `observe` asks for, A its
`legal` moves where they can be listed, U `apply`, Terminal `over`, R `scores`. A state is made from
a seed, which decides everything random, and from moves, which are texts: the same seed and the same
moves give an equal state, so that a game is replayed from these alone.

ZeroSumEval's names for these are update_game (`apply`), player_definitions (`roles`), get_scores
(`scores`), get_next_action (`to_move` and `observe`) and is_over (`over`). A PlayerDefinition of it
is a role, the action that its `Observation` names, and the strategy `direct` where no other one is
chosen. Its GameManager is `tournament.match.play`, its GamePoolManager `arena.pool.Pool`.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from raybench.errors import ConfigurationError, Problem, did_you_mean
from raybench.games.parts.needs import Jury, Need, Program
from raybench.options import Options, made
from raybench.types import Observation

__all__ = [
    "MANAGER",
    "Game",
    "InvalidMove",
    "Jury",
    "Need",
    "Program",
    "Rules",
    "State",
    "Unjudged",
    "Written",
]

MANAGER = "manager"
"""The role that no model takes: it plays what a game needs from outside."""


class InvalidMove(Exception):
    """A move that the rules do not allow, and why, in words that whoever made it can use.

    They say nothing that the role may not know.
    """


class Unjudged(Exception):
    """What the manager brought decides nothing: the match is void, and never scored."""


class State(ABC):
    """Where one game stands. Equal ones are the same position, with the same past and future."""

    @property
    @abstractmethod
    def roles(self) -> tuple[str, ...]:
        """The seats that players take, the one that moves first in front."""

    @property
    @abstractmethod
    def to_move(self) -> str | None:
        """Whose turn it is: a role, the manager, or None when the game is over."""

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.to_move is None

    @property
    @abstractmethod
    def outcome(self) -> str:
        """How the game ended, in a few words; '' until it has."""

    @abstractmethod
    def observe(self, role: str) -> Observation:
        """Return what the role sees, and nothing that it may not know."""

    @abstractmethod
    def legal(self) -> tuple[str, ...] | None:
        """Return the moves of whoever is to move; None where they cannot be listed.

        There are none, (), when the game is over.
        """

    @abstractmethod
    def apply(self, move: str) -> "State":
        """Return the state after a move of whoever is to move.

        Raises InvalidMove where the rules do not allow it, or the game is over.
        """

    @abstractmethod
    def scores(self) -> dict[str, float]:
        """Return what each role has won: who has more has done better.

        With two roles it is 1, 0 or -1, unless the game says otherwise. Before the game is over
        nobody has won anything, and each has 0.
        """

    @property
    def start(self) -> str | None:
        """What the seed decided; None where seeds hardly ever decide alike.

        Models that always reply alike play the same match again from the same start.
        """
        return None

    @property
    def parts(self) -> Mapping[str, str]:
        """What each seat turned out to be, where that is dealt; empty where seats say it all.

        Ratings tell by it whether a side has it easier, and take a side as one team: all of it have
        one score. No player may see it.
        """
        return {}

    @property
    def ballots(self) -> tuple[int, int]:
        """How many votes of jurors were counted, and how many are missing."""
        return (0, 0)

    @property
    def needed(self) -> Need | None:
        """What the manager has to bring, where it is to move."""
        return None

    def without(self, role: str) -> "State | None":
        """Return the state after a role left for good, where the others can play on.

        None where they cannot: then the match ends, and who left has lost it. The state itself
        where nothing is left to leave: the game is over, or the role is out of it already. Who
        leaves stands behind all who lost without leaving, where the game knows places; where it
        knows sides, who leaves wins or loses with its side, as that is all that ratings tell of.
        """
        return self if self.over else None

    def redrawn(self, role: str, rng: random.Random) -> "State":
        """Return the same state as far as the role can know, with all it does not see drawn anew.

        Where everything lies open that is the state itself. It is how conformance tests look for
        leaks: the role must see both alike.
        """
        return self

    @abstractmethod
    def sample(self, rng: random.Random) -> str:
        """Return some valid move of whoever is to move, the manager too: as tests play."""

    def good(self, rng: random.Random) -> str:
        """Return a move as somebody who can play would make it: as able stand-ins play.

        It knows no more than the role does, but for what only the role's skill could tell.
        """
        return self.sample(rng)


@dataclass(frozen=True, slots=True)
class Rules(Options):
    """How a game is played, where that can be chosen; each game has its own."""


R = TypeVar("R", bound=Rules)


Script = Callable[[Any, random.Random], str]
"""Makes the move of whoever is to move in a state of which all is drawn anew that they do not see.
"""
RANDOM, ABLE = "random", "able"
"""The scripts that every game has."""


def _random(state: State, rng: random.Random) -> str:
    return state.sample(rng)


def _able(state: State, rng: random.Random) -> str:
    return state.good(rng)


@dataclass(frozen=True)
class Game(Generic[R]):
    """One game: what it is called, how it may be played, and how it begins."""

    name: str
    """Lower case with underscores: the first part of its metrics' keys, and its file's name."""
    title: str
    rules: type[R]
    begin: Callable[[int, R], State]
    """Makes the first state of a seed."""
    seats: Callable[[R], tuple[str, ...]]
    """The roles, as the first state has them."""
    zero_sum: bool = True
    """What one wins the others lose: the scores of a finished game come to 0."""
    jury: bool = False
    """Models are asked for opinions."""
    sandboxed: bool = False
    """Programs are run."""
    extension: str = "txt"
    """Of the file that holds a match as people of this game write it down."""
    written: Callable[["Written"], str] | None = field(default=None)
    """Writes a match down so, where there is such a way."""

    scripts: Mapping[str, Script] = field(default_factory=dict)
    """Players that are no models, by name, beside the two that every game has: any valid moves, and
    good ones. They are the same in every tournament, so that ratings can be read from them."""

    def script(self, name: str) -> Script:
        """Return a script by name. Raises ConfigurationError where there is none."""
        known = {RANDOM: _random, ABLE: _able, **self.scripts}
        if name not in known:
            raise ConfigurationError(
                Problem(
                    "setting.choice",
                    f"{self.name} has no script '{name}'",
                    given=name,
                    fix=did_you_mean(name, known),
                )
            )
        return known[name]

    def new(self, seed: int, **rules: Any) -> State:
        """Return the first state. Raises ConfigurationError where there are no such rules."""
        return self.begin(seed, self.ruled(rules))

    def ruled(self, rules: Mapping[str, Any]) -> R:
        """Return the game's rules with these settings; the message names the wrong one."""
        return made(self.name, "rule", self.rules, rules)


@dataclass(frozen=True, slots=True)
class Written:
    """What it takes to write a match down: its first state, its valid moves, who sat where."""

    first: State
    moves: tuple[tuple[str, str], ...]
    """Each with the role that made it."""
    players: Mapping[str, str]
    """The name of the player in each role."""
    scores: Mapping[str, float]
    outcome: str
    event: str = "raybench"
    round: str = "?"
    date: str = ""
    """When it ended, as in '2025.12.31'; '' where nobody knows."""
    forfeits: tuple[str, ...] = ()
    """The roles that forfeited."""
    left: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Those of them that left after so many of the moves, and how many the others could play on."""
