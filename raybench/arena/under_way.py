"""A match under way: from where it goes on, what the journal is told, its record at the end."""

import hashlib
import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from raybench import games
from raybench.arena.room import Begun, House, Told
from raybench.tournament import records
from raybench.tournament.fixtures import Fixture, table
from raybench.tournament.match import told_again
from raybench.tournament.records import GivenUp, Unfinished
from raybench.tournament.turns import Ending, Turn

Line = Mapping[str, Any]
"""What the journal is told."""


@dataclass
class UnderWay:
    """Where a match stands, of which all that is told is kept."""

    number: int
    fixture: Fixture
    roles: Sequence[str]
    left: int
    """How often it may be begun anew."""
    begun: bool = False
    """The journal has it."""
    attempt: int = 0
    turns: list[Turn] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)
    """Requests that got no reply, by model, of all attempts."""
    given_up: list[GivenUp] = field(default_factory=list)
    """The attempts that came to nothing."""
    since: float = field(default_factory=time.monotonic)

    @property
    def order(self) -> Begun:
        """Return what a room is asked: to go on with the match behind all that is told."""
        return Begun(self.number, self.attempt, self.fixture, [*self.turns])

    def begin(self) -> Sequence[Line]:
        """Begin, or go on; return what the journal is told before any turn."""
        told = [] if self.begun else [records.begun(self.number, self.fixture)]
        self.begun, self.since = True, time.monotonic()
        return told

    def begin_anew(self, void: str, missing: str | None = None) -> Line:
        """Give this attempt up for another one; return what the journal is told before that."""
        lost = GivenUp(self.attempt, void, missing)
        self.given_up.append(lost)
        self.attempt, self.turns = self.attempt + 1, []
        return records.given_up(self.number, lost, attempt=self.attempt, replays=self.left)

    def held(self, record: Line, replays: int) -> Line:
        """Return what the journal is told where it waits for somebody who is missing.

        If it goes on, be it in another session, then from here, and what was lost is forgiven.
        """
        lost = GivenUp(self.attempt, record["void"], record["missing"])
        return records.given_up(self.number, lost, attempt=self.attempt, replays=replays)

    def take(self, told: Told) -> list[Line]:
        """Take what happened; return what of it the journal is told.

        Of a match that ended and counts, the record has all turns: what is cut off before that is
        on the disk is played again from the last turn that was kept.
        """
        lines: list[Line] = []
        if failed := Counter(model for model, it in told.spent if it.finish == "error"):
            self.failed += failed
            lines.append(records.unanswered(self.number, self.attempt, failed))
        first = len(self.turns) + 1
        self.turns += told.turns
        if told.ending is None or told.ending.void is not None:
            lines += [
                records.turned(self.number, self.attempt, turn, place)
                for place, turn in enumerate(told.turns, start=first)
            ]
        return lines

    def record(self, ending: Ending, house: House) -> dict[str, Any]:
        """Return the record of the match, which has ended."""
        found = records.finished(
            self.number,
            self.attempt,
            self.fixture,
            self.roles,
            self.turns,
            ending,
            self.failed,
            self.given_up,
        )
        game, seats = self.fixture.game, zip(self.roles, self.fixture.seats, strict=True)
        alike, start = house.alike(self.fixture, self.roles), ending.start
        if start == "" and (scripts := {*self.fixture.seats} & {*house.scripts}):
            # All matches begin alike, and those go on alike in which scripts do the same.
            alike, start = alike | scripts, _done(self.turns, scripts)
        return found | {
            "table": table(self.fixture, start, alike),
            "strategies": {role: house.plays(model, game, role) for role, model in seats},
            "seconds": round(time.monotonic() - self.since, 3),
            "ended_ms": time.time_ns() // 1_000_000,
        }


def _done(turns: Sequence[Turn], scripts: Collection[str]) -> str:
    """Return what tells apart what scripts did."""
    moves = "\n".join(f"{it.role}: {it.move}" for it in turns if it.model in scripts)
    return hashlib.sha256(moves.encode()).hexdigest()[:12]


def resumed(
    number: int, earlier: Unfinished, roles: Sequence[str], house: House, replays: int
) -> tuple[UnderWay, list[Line]]:
    """Return a match that an earlier session began, and what the journal is told of that."""
    fixture = earlier.fixture
    left = replays if earlier.replays is None else earlier.replays
    match = UnderWay(
        number, fixture, roles, left, True, earlier.attempt,
        failed=earlier.failed, given_up=earlier.given_up,
    )  # fmt: skip
    first = games.load(fixture.game).new(fixture.seed, **house.rules.get(fixture.game, {}))
    try:
        words = house.wording.of(fixture.game)
        match.turns = told_again(first, earlier.turns, house.terms, words)
    except games.InvalidMove:
        return match, [match.begin_anew("its rules are not those with which it began")]
    except games.Unjudged as error:  # and the journal was cut off before it could say so
        if match.left:
            match.left -= 1
            return match, [match.begin_anew(str(error))]
        match.turns = [*earlier.turns]  # which end it as they did
    return match, []
