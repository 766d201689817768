"""What is kept of a match: its turns, and how it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Reason = Literal["invalid moves", "time"]
"""Why a role forfeited: it had no tries left, or thought for too long."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of one role: a valid move, or none."""

    role: str
    model: str
    """Who sits there; '' is the manager."""
    action: str
    observation: str
    """What the role saw and was asked, without the rules, which never change."""
    reply: str
    move: str | None
    error: str | None
    """Why it is no valid move; None where it is."""
    seconds: float = 0.0
    """The model's own time, without waiting for its turn at an engine."""
    tokens: int = 0
    """What it wrote."""
    prompt_tokens: int = 0
    calls: int = 1
    truncated: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the turn as journals have it."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Turn":
        """Read it back."""
        return cls(**{name: record[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Ending:
    """How a match ended."""

    scores: Mapping[str, float]
    """By role; none where it is void."""
    outcome: str
    forfeits: Sequence["Forfeit"] = ()
    void: str | None = None
    """Why nothing was decided: it is nobody's fault who plays."""
    missing: str | None = None
    """The model that could not be reached, where that is why."""
    sides: Mapping[str, str] = field(default_factory=dict)
    """What each seat turned out to be, where that is dealt."""
    ballots: tuple[int, int] = (0, 0)
    """How many votes of jurors were counted, and how many are missing."""

    def to_json(self) -> dict[str, Any]:
        """Return it as journals have it."""
        return {
            "scores": dict(self.scores),
            "outcome": self.outcome,
            "forfeits": [asdict(forfeit) for forfeit in self.forfeits],
            "void": self.void,
            "missing": self.missing,
            "sides": dict(self.sides),
            "ballots": list(self.ballots),
        }


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A role that lost without being beaten."""

    role: str
    reason: Reason
    turn: int
    """After so many turns of the match."""
