"""Who cannot be reached while others reply, and the matches that wait until they can be."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from raybench import games
from raybench.games import MANAGER
from raybench.tournament import match
from raybench.tournament.fixtures import Fixture
from raybench.tournament.turns import Turn

SUSPECT = 10
"""So many matches may be void for want of the same replies before it is called an outage."""
_ASK_AGAIN_S = 60.0
"""So often a match is begun to see whether somebody who was gone replies again."""


class Source(NamedTuple):
    """Somebody, or something, whose replies a match needs."""

    name: str
    what: Literal["player", "juror", "sandbox"]
    """An endpoint may reply to players and not to what jurors are asked: these are told apart."""

    def __str__(self) -> str:
        if self.what == "juror":
            return f"a jury with {self.name} in it"
        return self.name


SANDBOX = Source(match.SANDBOX, "sandbox")


@dataclass
class Silence:
    """What came of it that a source did not reply, since it did so last."""

    void: int = 0
    """Matches."""
    why: str = ""
    untold: list[dict[str, Any]] = field(default_factory=list)
    """The records of those that nobody has been told of."""
    waiting: dict[int, Fixture] = field(default_factory=dict)
    """Matches that had begun and go on when it replies again."""
    asked: float = 0.0
    """When a match was begun last that needs it."""
    asking: int | None = None
    """That match, while it is under way: somebody who only hangs takes no second one's place."""


class Absence:
    """Counts the matches that were void for want of each source since it replied last.

    A few of them are broken matches, and are told of as void. More are an outage: they wait, and
    so do all others that need the source. A player that has never replied in the run is another
    matter: it cannot be had, as the end of the run says, and nobody waits for it.
    """

    def __init__(
        self,
        jurors: Sequence[str],
        players: Collection[str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`players` have replied in the run before."""
        self._jurors = jurors
        self._players = {*players}
        self._clock = clock
        self._silent: dict[Source, Silence] = {}

    @property
    def gone(self) -> Mapping[Source, Silence]:
        """Return who is thought to be gone for a while."""
        return {source: it for source, it in self._silent.items() if self._is_gone(source)}

    @property
    def untold(self) -> int:
        """Return how many void matches nobody has been told of, and which wait for nothing."""
        return sum(len(it.untold) for it in self._silent.values())

    @property
    def outage(self) -> bool:
        """Whether a void match waits to be told of that is not one of a player nobody waits for."""
        return any(it.untold and not self._never(source) for source, it in self._silent.items())

    def lacking(self, fixture: Fixture) -> Source | None:
        """Return who is gone and needed for a match."""
        if not self._silent:
            return None
        return next((it for it in self._needs(fixture) if self._is_gone(it)), None)

    def is_gone(self, fixture: Fixture, missing: str) -> bool:
        """Tell whether who is missing in a match is thought to be gone for a while."""
        return self._is_gone(_source(fixture, missing))

    def missed(self, fixture: Fixture, record: dict[str, Any]) -> Source | None:
        """Take the record of a void match; return who is gone from now on, if somebody is."""
        source = _source(fixture, record["missing"])
        silence = self._silent.setdefault(source, Silence())
        silence.void += 1
        silence.why = record["void"]
        silence.untold.append(record)
        if not self._is_gone(source):
            return None
        first = silence.void == SUSPECT
        if first:
            silence.asked = self._clock()
        silence.waiting |= {it["match"]: _fixture(it) for it in silence.untold}
        silence.untold = []
        return source if first else None

    def wait(self, source: Source, number: int, fixture: Fixture) -> None:
        """Have a match wait for a source that is gone."""
        self._silent[source].waiting[number] = fixture

    def heard(self, fixture: Fixture, turn: Turn) -> tuple[Source, Silence] | None:
        """Take note of a turn; return the silence that it ended, if it ended one."""
        if turn.role != MANAGER:
            self._players.add(turn.model)
        if not self._silent:
            return None
        source = self._needs(fixture)[-1]
        if turn.role != MANAGER:
            source = Source(turn.model, "player")
        silence = self._silent.pop(source, None)
        return None if silence is None else (source, silence)

    def told(self, *, everybody: bool) -> list[dict[str, Any]]:
        """Return the void matches that are told of now.

        They are those of players that have never replied, or `everybody`'s.
        """
        found = []
        for source, silence in self._silent.items():
            if everybody or self._never(source):
                found += silence.untold
                silence.untold = []
        return found

    @property
    def asks_in(self) -> float:
        """In how many seconds somebody is to be asked again; infinite where nothing waits."""
        if not self._silent:
            return math.inf
        asked = (it.asked for it in self._silent.values() if it.waiting and it.asking is None)
        return max(0.0, min(asked, default=math.inf) + _ASK_AGAIN_S - self._clock())

    def again(self) -> Iterator[int]:
        """Yield a match for each who was not asked for a while, to see if it is back."""
        now = self._clock()
        for source, silence in self._silent.items():
            if not silence.waiting or silence.asking is not None:
                continue
            if now - silence.asked >= _ASK_AGAIN_S:
                silence.asked = now
                numbers = (it for it, of in silence.waiting.items() if self._only(source, of))
                silence.asking = next(numbers, next(iter(silence.waiting)))
                del silence.waiting[silence.asking]
                yield silence.asking

    @property
    def asking(self) -> int:
        """How many matches are under way only to see if somebody is back."""
        return sum(it.asking is not None for it in self._silent.values())

    def ended(self, number: int) -> None:
        """Take note that a match has ended, which may have asked somebody."""
        for silence in self._silent.values():
            if silence.asking == number:
                silence.asking = None

    def _only(self, source: Source, fixture: Fixture) -> bool:
        """Tell whether a match lacks nobody but that source, and so tells of it."""
        return not any(self._is_gone(it) for it in self._needs(fixture) if it != source)

    def _never(self, source: Source) -> bool:
        """Tell whether it is a player that has never replied."""
        return source.what == "player" and source.name not in self._players

    def _is_gone(self, source: Source) -> bool:
        silence = self._silent.get(source)
        return silence is not None and silence.void >= SUSPECT and not self._never(source)

    def _needs(self, fixture: Fixture) -> list[Source]:
        """Return whom a match needs; what its manager needs comes last."""
        found = [Source(model, "player") for model in dict.fromkeys(fixture.seats)]
        game = games.load(fixture.game)
        if game.jury:
            jurors = (it for it in self._jurors if it not in fixture.seats)
            found += [Source(it, "juror") for it in [*jurors][:1]]
        if game.sandboxed:
            found.append(SANDBOX)
        return found


def _fixture(record: Mapping[str, Any]) -> Fixture:
    return Fixture(record["game"], tuple(record["seats"].values()), record["seed"])


def _source(fixture: Fixture, missing: str) -> Source:
    """Return who was missing in a match, by the name."""
    if missing in fixture.seats:
        return Source(missing, "player")
    return Source(missing, "juror") if games.load(fixture.game).jury else SANDBOX
