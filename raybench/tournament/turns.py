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
    """The model's own time, without waits: for its turn at an engine, for tries that failed."""
    tokens: int = 0
    """What it wrote."""
    prompt_tokens: int = 0
    calls: int = 1
    truncated: bool = False
    asides: tuple[str, ...] = ()
    """What else it wrote at the turn: thoughts, drafts. Its strategy says what these are."""

    def to_json(self) -> dict[str, Any]:
        """Return the turn as journals have it; asides only where there are any."""
        told = {name: getattr(self, name) for name in self.__slots__}
        asides = told.pop("asides")
        return told | ({"asides": list(asides)} if asides else {})

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Turn":
        """Read it back."""
        told = {name: record[name] for name in cls.__slots__ if name != "asides"}
        return cls(**told, asides=tuple(record.get("asides", ())))


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
    """Who could not be reached, where that is why: a player, a juror or the sandbox."""
    sides: Mapping[str, str] = field(default_factory=dict)
    """What each seat turned out to be, where that is dealt."""
    ballots: tuple[int, int] = (0, 0)
    """How many votes of jurors were counted, and how many are missing."""
    start: str | None = None
    """What the seed decided, as `games.State.start` has it."""

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
    took_s: float | None = None
    """How long the model thought at its turn, with all tries, where that was too long."""
    deadline_s: float | None = None
    """How long it might have."""

    @property
    def why(self) -> str:
        """Return the reason in full."""
        if self.took_s is None or self.deadline_s is None:
            return self.reason
        return (
            f"{self.reason}: the turn took {self.took_s:.3g} s of the model's own time, with all "
            f"its tries, and {self.deadline_s:g} s were allowed"
        )
