"""The state that MathQuiz and PyJail share: write, prove, solve.

Source: ZeroSumEval, section 4, "Scalable Verification". One side, the maker, writes a challenge
that comes out at a target. Then it has to solve its own challenge from an observation that knows
neither the target nor how it was reached; only if it does, the other side, the solver, has its
tries. The maker wins where it has solved its challenge and the solver has not; in all other cases
the solver wins. A game may have the maker's solution looked at once more before that.

What the maker sees when it solves is, word for word, what the solver will see: a challenge that
says 'if you are the teacher …' cannot tell them apart.
"""

import random
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

from raybench.games.parts.contract import InvalidMove, Rules, State
from raybench.statements import Statement
from raybench.types import Form, Observation

Stage = Literal["write", "prove", "solve", "uphold", "over"]


@dataclass(frozen=True, slots=True)
class VerifiedRules(Rules):
    """How often each side may try."""

    proofs: int = 1
    """Tries the maker has at its own challenge."""
    attempts: int = 1
    """Tries the solver has."""

    def __post_init__(self) -> None:
        self.within(proofs=(1, 5), attempts=(1, 5))


def so_many_tries(count: int) -> str:
    """Return a number of tries in words."""
    return "one try" if count == 1 else f"{count} tries"


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt at a challenge."""

    given: str
    """What was tried."""
    solved: bool
    came: str = ""
    """What came of it, as far as whoever tried is shown it."""


class Asked(NamedTuple):
    """What whoever is to move sees and is to do, without a word on who it is that solves."""

    action: str
    view: str
    task: str
    form: Form


R = TypeVar("R", bound=VerifiedRules)


@dataclass(frozen=True, slots=True)
class Verified(State, Generic[R]):
    """A challenge, and who has tried it with what result.

    Only whoever is to move sees anything of it: the target while the challenge is written, after
    that the challenge and its own tries at it.
    """

    rules: R
    seed: int
    challenge: str = ""
    proofs: tuple[Try, ...] = ()
    """The maker's tries."""
    tries: tuple[Try, ...] = ()
    """The solver's."""

    maker: ClassVar[str]
    solver: ClassVar[str]
    noun: ClassVar[str]
    """What a challenge is called."""
    attempt: ClassVar[str]
    """What a try at one is called."""
    verb: ClassVar[str] = "solve"
    """What there is to do with a challenge."""
    done: ClassVar[str] = "solved"
    """What somebody has done who did it."""

    @property
    def roles(self) -> tuple[str, ...]:
        return self.maker, self.solver

    @property
    def stage(self) -> Stage:
        """What is being done."""
        if not self.challenge:
            return "write"
        if not self.proven:
            return "prove" if len(self.proofs) < self.rules.proofs else "over"
        if not self.solved and len(self.tries) < self.rules.attempts:
            return "solve"
        return "uphold" if not self.solved and self.upheld is None else "over"

    @property
    def own(self) -> tuple[Try, ...]:
        """What whoever is to move has tried so far."""
        return self.proofs if self.stage == "prove" else self.tries

    @property
    def proven(self) -> bool:
        """Whether the maker has solved its own challenge."""
        return any(it.solved for it in self.proofs)

    @property
    def solved(self) -> bool:
        """Whether the solver has."""
        return any(it.solved for it in self.tries)

    @property
    def upheld(self) -> bool | None:
        """Whether the maker's solution held to the end; None where that is still to be seen."""
        return True

    @property
    def turn(self) -> str | None:
        """Which side it is that writes or tries; None where neither does."""
        match self.stage:
            case "over" | "uphold":
                return None
            case "solve":
                return self.solver
            case _:
                return self.maker

    @property
    def to_move(self) -> str | None:
        return self.turn

    @property
    def outcome(self) -> str:
        if self.stage != "over":
            return ""
        failed = f"the {self.maker} could not {self.verb} its own {self.noun}"
        if not self.proven:
            return Statement(
                "verified.unproven", "{failed}: the {solver} won", failed=failed, solver=self.solver
            )
        if self.solved:
            return Statement(
                "verified.solved",
                "the {solver} {done} the {maker}'s {noun} and won",
                solver=self.solver,
                done=self.done,
                maker=self.maker,
                noun=self.noun,
            )
        if not self.upheld:
            return Statement(
                "verified.not_upheld",
                "{failed} again in the end: the {solver} won",
                failed=failed,
                solver=self.solver,
            )
        did = f"the {self.maker} {self.done} its own {self.noun}, the {self.solver} did not"
        return Statement("verified.unsolved", "{did}: the {maker} won", did=did, maker=self.maker)

    def scores(self) -> dict[str, float]:
        if not self.over:
            return dict.fromkeys(self.roles, 0.0)
        won = 1.0 if self.proven and not self.solved and self.upheld else -1.0
        return {self.maker: won, self.solver: -won}

    def observe(self, role: str) -> Observation:
        if role != self.to_move:
            return Observation(role, self.in_words(), f"You are the {role}. {self._waiting()}")
        asked = self.asked()
        return Observation(role, self.in_words(), asked.view, asked.action, asked.task, asked.form)

    def _waiting(self) -> str:
        match self.stage:
            case "write":
                return f"The {self.maker} is to write a {self.noun}."
            case "prove":
                return f"The {self.maker} is to {self.verb} the {self.noun} it wrote."
            case "solve":
                return f"The {self.solver} is to {self.verb} the {self.noun}."
            case "uphold":
                return f"What {self.done} the {self.noun} for the {self.maker} is run a last time."
            case _:
                return "The game is over."

    def legal(self) -> tuple[str, ...] | None:
        return () if self.over else None

    def apply(self, move: str) -> Self:
        match self.stage:
            case "over":
                raise InvalidMove(Statement("move.game_over", "the game is over"))
            case "write":
                return replace(self, challenge=self.written(move))
            case _:
                return self.tried(move)

    def after(self, one: Try) -> Self:
        """Return the state after a try of whoever is trying."""
        if self.stage == "prove":
            return replace(self, proofs=(*self.proofs, one))
        return replace(self, tries=(*self.tries, one))

    def redrawn(self, role: str, rng: random.Random) -> Self:
        seen = self.stage if role == self.to_move else "over"
        if seen == "write":
            return self
        legible = seen in ("prove", "solve") and self.challenge_shown
        return replace(
            self.secret_redrawn(rng),
            challenge=self.challenge if legible else self.another(rng),
            proofs=self.proofs if seen == "prove" else _others(self.proofs, rng),
            tries=self.tries if seen == "solve" else _others(self.tries, rng),
        )

    def sample(self, rng: random.Random) -> str:
        return self.made_up(rng, able=False)

    def good(self, rng: random.Random) -> str:
        return self.made_up(rng, able=True)

    @property
    def challenge_shown(self) -> bool:
        """Whether who tries a challenge sees it."""
        return True

    @abstractmethod
    def in_words(self) -> str:
        """Return the rules as players read them."""

    @abstractmethod
    def asked(self) -> Asked:
        """Return what whoever is to move sees and is to do."""

    @abstractmethod
    def written(self, move: str) -> str:
        """Return the challenge that a move makes, or raise InvalidMove."""

    @abstractmethod
    def tried(self, move: str) -> Self:
        """Return the state after somebody tried this."""

    @abstractmethod
    def secret_redrawn(self, rng: random.Random) -> Self:
        """Return the state with other secrets of the manager's."""

    @abstractmethod
    def another(self, rng: random.Random) -> str:
        """Return another challenge for one that is not seen; '' where there is none yet."""

    @abstractmethod
    def made_up(self, rng: random.Random, *, able: bool) -> str:
        """Return a move of a stand-in for whoever is to move, who plays at random or ably."""


def _others(tries: tuple[Try, ...], rng: random.Random) -> tuple[Try, ...]:
    """Return other tries with the same success."""
    return tuple(Try(f"{rng.getrandbits(32)}", it.solved, it.came and "other") for it in tries)
