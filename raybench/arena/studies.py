"""What is to be learned, by whom and from what; and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from raybench.arena.chair import Decoding
from raybench.games import State
from raybench.games.parts.wording import OWN
from raybench.players.parts.programs.studies import Studies
from raybench.positions import Positions, Split
from raybench.tournament.match import Heard
from raybench.types import Completion

PHASES = ("before", "after")
"""Held-out positions are played by the program as it was, and as it is."""
_LONGEST = 400


class Unlearned(Exception):
    """An optimiser gave up: a model that writes none of what it asks for may be the reason."""

    def __init__(self, optimiser: str, why: Exception) -> None:
        words = " ".join(str(why).split())
        if len(words) > _LONGEST:
            words = f"{words[:_LONGEST]} …"
        said = words or "without a word"
        super().__init__(
            f"the optimiser {optimiser} gave up ({type(why).__name__}: {said}). "
            "The next try has instructions written anew; optimise_players.proposer names a model "
            "that writes better ones"
        )


@dataclass(frozen=True)
class Curriculum:
    """What holds for all studies; it travels."""

    studies: Studies
    sizes: Mapping[Split, int]
    """How many positions of each split."""
    seed: int
    metric: str
    decoding: Decoding
    own_proposer: str | None = None
    """Who writes instructions; None is each model for itself."""
    stand_ins: frozenset[str] = frozenset()
    greedy: frozenset[str] = frozenset()
    at_once: int = 32
    """Held-out positions that are played side by side."""

    def drawn(self, of: Positions, split: Split) -> list[State]:
        """Return the positions of a split."""
        return of.some(self.seed, split, self.sizes[split])


@dataclass
class Study:
    """A model that learns to play one set of positions."""

    number: int
    model: str
    positions: str
    engine: int = 0
    """Studies of one engine are done one after the other."""
    phrasing: Any = OWN
    """In which words positions are told, as `Wording` has it."""
    state: Mapping[str, Any] | None = None
    """What was learned, where that is known."""
    attempt: int = 0
    """How often an optimiser has given up: the next time it is written to otherwise."""
    known: dict[str, set[int]] = field(default_factory=lambda: {it: set() for it in PHASES})
    """The held-out positions that have been played, by phase."""
    replies: dict[str, Completion] = field(default_factory=dict)
    """What was replied to an optimiser so far, by the digests of requests: it goes the same way
    again as far as these go."""

    @property
    def key(self) -> int:
        """What it is known by."""
        return self.number

    @property
    def turn(self) -> int:
        """Where it is done."""
        return self.engine

    def left(self, brought: "Learned") -> "Study | None":
        """Return what is still to be done."""
        if brought.over:
            return None
        if brought.state is not None:
            self.state = brought.state
        for mark in brought.marks:
            self.known[mark.phase].add(mark.place)
        self.replies |= brought.replies
        return self


@dataclass(frozen=True, slots=True)
class Marked:
    """A held-out position that was played."""

    phase: str
    place: int
    family: str
    reply: str
    move: str | None
    error: str | None
    worth: float
    truncated: bool
    tokens: int
    position: str = ""
    """The digest of what was asked: two runs of other settings may have it in common. Journals of
    before it was kept have none."""

    @classmethod
    def of(
        cls, phase: str, place: int, family: str, heard: Heard, worth: float, position: str
    ) -> "Marked":
        """Return what came of a reply."""
        return cls(
            phase, place, family, heard.reply, heard.move, heard.error, worth,
            heard.error is not None and heard.truncated, heard.tokens, position,
        )  # fmt: skip


@dataclass(slots=True)
class Learned:
    """What came of a study since it was told of last."""

    number: int
    marks: list[Marked] = field(default_factory=list)
    state: Mapping[str, Any] | None = None
    replies: dict[str, Completion] = field(default_factory=dict)
    """To an optimiser, by the digests of requests."""
    spent: list[tuple[str, Completion]] = field(default_factory=list)
    over: bool = False
    failure: str = ""
    """Why it cannot be finished."""
    gave_up: bool = False
    """By the optimiser itself: all that was asked was had."""

    @property
    def key(self) -> int:
        """That of the study."""
        return self.number

    @property
    def news(self) -> bool:
        """Tell whether there is something to be told."""
        return bool(self.marks or self.state or self.replies or self.spent or self.over)
