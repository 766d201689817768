"""What every game offers: ⟨S, U, P, A, R, Next, Terminal⟩ as a state that never changes.

S is what a `State` holds, P its roles, Next its `to_move` with what `observe` asks for, A its
`legal` moves where they can be listed, U `apply`, Terminal `over`, R `scores`. A state is made from
a seed, which decides everything random, and from moves, which are texts: the same seed and the same
moves give an equal state, so that a game is replayed from these alone.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

from raybench.errors import ConfigurationError, did_you_mean
from raybench.types import Observation

MANAGER = "manager"
"""The role that no model takes: it plays what a game needs from outside."""


class InvalidMove(Exception):
    """A move that the rules do not allow, and why, in words that whoever made it can use.

    They say nothing that the role may not know.
    """


class Unjudged(Exception):
    """What the manager brought decides nothing: the match is void, and never scored."""


@dataclass(frozen=True, slots=True)
class Jury:
    """Opinions are wanted: every juror is asked each of the prompts, which know of no other.

    The manager's move is JSON: {"votes": [{"juror": NAME, "replies": [TEXT or null, …]}, …]}, with
    a reply for each prompt; null where a juror gave none.
    """

    prompts: tuple[str, ...]
    schema: Mapping[str, Any]
    """Each reply is JSON of this schema, where an engine can be held to it; a game that reads it
    looks again."""


@dataclass(frozen=True, slots=True)
class Program:
    """The output of a program is wanted, which only the sandbox may run.

    The manager's move is JSON: {"status": …, "stdout": TEXT, "stderr": TEXT, "exit_code": N}, with
    the sandbox's words for the status.
    """

    source: str
    stdin: str = ""
    seconds: float = 5.0
    """The time it has."""


Need = Jury | Program
"""What a game needs from outside before it can go on."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a game is played, where that can be chosen; each game has its own, all with defaults.

    Raises ValueError, with the mend, where a setting is not what it can be.
    """


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
        """Return the moves of whoever is to move; None where they cannot be listed."""

    @abstractmethod
    def apply(self, move: str) -> "State":
        """Return the state after a move of whoever is to move.

        Raises InvalidMove where the rules do not allow it, or the game is over.
        """

    @abstractmethod
    def scores(self) -> dict[str, float]:
        """Return what each role has won, once the game is over: who has more has done better.

        With two roles it is 1, 0 or -1, unless the game says otherwise.
        """

    @property
    def parts(self) -> Mapping[str, str]:
        """What each seat turned out to be, where that is dealt; empty where seats say it all.

        Ratings tell by it whether a side has it easier. No player may see it.
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

        None where they cannot: then the match ends, and who left has lost it. Who leaves stands
        behind all who lost without leaving, where the game knows places.
        """
        return None

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


R = TypeVar("R", bound=Rules)


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

    def new(self, seed: int, **rules: Any) -> State:
        """Return the first state. Raises ConfigurationError where there are no such rules."""
        return self.begin(seed, self.ruled(rules))

    def ruled(self, rules: Mapping[str, Any]) -> R:
        """Return the game's rules with these settings; the message names the wrong one."""
        known = {each.name: each for each in fields(self.rules)}
        for name, value in rules.items():
            if name not in known:
                raise ConfigurationError(
                    f"{self.name} has no rule '{name}'." + did_you_mean(name, known)
                )
            if not _fits(value, known[name].default):
                raise ConfigurationError(
                    f"{self.name}: the rule '{name}' is {value!r}; it is "
                    f"{_kind(known[name].default)}"
                )
        try:
            given = {name: tuple(it) if isinstance(it, list) else it for name, it in rules.items()}
            return self.rules(**given)
        except ValueError as error:
            raise ConfigurationError(f"{self.name}: {error}") from error


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
    forfeits: tuple[str, ...] = ()
    """The roles that forfeited."""
    left: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Those of them that left after so many of the moves, and how many the others could play on."""


def _fits(value: object, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if default is None:
        return value is None or isinstance(value, int | float | str)
    if isinstance(default, tuple):
        return isinstance(value, list | tuple)
    return isinstance(value, type(default))


def _kind(default: object) -> str:
    kinds = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list"}
    return kinds.get(type(default), "a text")
