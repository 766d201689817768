"""Which match begins next; the same ones whatever the order in which they end.

Matches have numbers from 1, and are drawn in rounds. A round is drawn from the results of the
rounds up to the last but one, taken in the order of the matches' numbers: were it drawn from the
last one too, everybody would wait at each round's end for its longest match; were it drawn from
whatever has ended, no second run would play the same matches. So the last round's matches end while
the next one's begin. The intervals are looked at by the same rule. Where neither the pairing nor
the end depends on results, nothing waits.

What is under way when the intervals are narrow enough is played in vain. So rounds begin small
there, and each look says how many matches will be enough: no more are begun, and once they are,
the next look waits until all of them have ended. What the pairing drew beyond a round comes next.

Only a budget is not of that kind: what is spent by when depends on the clock, and so does how many
matches it pays for. Which ones they are does not.
"""

import math
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

from raybench.statements import Statement
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.pairing.contract import Pairing
from raybench.tournament.stopping import Stop


@dataclass(frozen=True, slots=True)
class Progress:
    """How far it has come."""

    drawn: int
    """Rounds that were drawn."""
    complete: int
    """The first of them, of which every match has ended."""
    under_way: int
    """Matches that were handed out and have not ended."""
    ended: int
    void: int
    """Those that ended without a result."""


class Schedule:
    """Hands out matches, takes their results, and knows when it is enough.

    To resume, give it what the journal has: `begun`, the fixture of every match that was handed
    out, and then `done` for each that has ended, in any order; those that ended without a result
    too, since what was drawn later depends on that. It draws what it drew then, says so where that
    is not what the journal has, and hands out the unfinished ones first.
    """

    def __init__(
        self, pairing: Pairing, stop: Stop, begun: Mapping[int, Fixture] | None = None
    ) -> None:
        """Begin with a pairing that has drawn nothing yet, or go on from what the journal has.

        Raises ValueError where there is no end.
        """
        if pairing.endless and not stop.anywhere:
            raise ValueError(
                "nothing ends the matches: give their number, a budget, or how narrow the "
                "ratings' intervals have to be"
            )
        self.pairing = pairing
        self.stop = stop
        self.stopped = ""
        """Why nothing more is drawn, in words; '' while something may be."""
        self._begun = dict(begun or {})
        self._last_begun = max(self._begun, default=0)
        self._spent = False
        self._waiting: deque[int] = deque()
        self._aside: deque[int] = deque()
        """Handed out and given back: they cannot be played for now."""
        self._fixtures: dict[int, Fixture] = {}
        self._under_way: set[int] = set()
        self._ended: dict[int, Result | None] = {}
        self._void = 0
        self._borders = [0]
        """The last match of each round, after that of none."""
        self._last: list[Fixture] = []
        """Those of the last round."""
        self._open: list[int] = []
        """How many matches of each round have not ended."""
        self._complete = 0
        self._counted: list[Result] = []
        self._counted_rounds = 0
        self._looked = 0
        """Rounds by whose results the intervals were last looked at."""
        self._enough = math.inf
        """So many matches are thought to make the intervals narrow enough."""
        self._rounds = 0
        """Rounds that the pairing drew."""
        self._drawn: list[Fixture] = []
        """What is left of the last of these."""

    def take(self, count: int) -> list[tuple[int, Fixture]]:
        """Return up to so many matches that may begin, with their numbers.

        Where there is none, others have to end first, or it is over.
        """
        self._look_at_budgets()
        taken: list[tuple[int, Fixture]] = []
        while len(taken) < count and (self._waiting or self._draw()):
            if self._waiting:  # a round of the journal may have ended already
                number = self._waiting.popleft()
                self._under_way.add(number)
                taken.append((number, self._fixtures[number]))
        return taken

    def set_aside(self, number: int) -> None:
        """Take a match back that was handed out and has not begun: it cannot be played for now."""
        self._under_way.remove(number)
        self._aside.append(number)

    def bring_back(self) -> None:
        """Have what was set aside handed out again, before all else."""
        self._waiting.extendleft(reversed(self._aside))
        self._aside.clear()

    @property
    def aside(self) -> int:
        """How many matches are set aside."""
        return len(self._aside)

    @property
    def left(self) -> list[Fixture]:
        """The matches that are drawn, and have not ended."""
        return [self._fixtures[it] for it in (*self._under_way, *self._waiting, *self._aside)]

    def slow(self, count: int) -> bool:
        """Tell whether taking so many may draw a round by results, or look at intervals.

        That can take seconds: whoever has other things to do meanwhile has it done in a thread, and
        leaves the schedule alone until it is.
        """
        learns = self.pairing.adaptive or self.stop.narrow is not None
        return learns and len(self._waiting) < count and self._more and not self._waits

    def unfinished(self) -> bool:
        """Tell whether any match is under way or to come, and draw the rounds that tell.

        Of a journal that has all matches, only drawing them again says that there is no further
        one. It may be as slow as `take`.
        """
        self._look_at_budgets()
        while not self._waiting and self._draw():
            pass
        return not self.over

    def done(self, number: int, result: Result | None) -> None:
        """Take the result of a match; None where it came to nothing and is not played again.

        Raises ValueError where it cannot be that match's.
        """
        if number in self._ended:
            raise ValueError(f"match {number} has ended before: its result counts once")
        fixture = self._fixtures.get(number) or self._begun.get(number)
        if fixture is None or (number in self._fixtures and not self._handed_out(number)):
            raise ValueError(f"match {number} was not handed out: it cannot have ended")
        if result is not None:
            _check(number, fixture, result)
        self._ended[number] = result
        self._void += result is None
        if number not in self._fixtures:
            return  # the journal's; its round is drawn later
        del self._fixtures[number]
        if number in self._under_way:
            self._under_way.remove(number)
        else:
            self._waiting.remove(number)
        self._open[bisect_left(self._borders, number) - 1] -= 1
        self._see_complete()

    @property
    def over(self) -> bool:
        """Whether nothing is under way and nothing more will begin.

        `take` and `unfinished` find out: before, of a schedule that goes on it is not known.
        """
        return not (self._under_way or self._waiting or self._aside or self._more)

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return Progress(
            drawn=len(self._open),
            complete=self._complete,
            under_way=len(self._under_way),
            ended=len(self._ended),
            void=self._void,
        )

    @property
    def _more(self) -> bool:
        """Whether another round may be drawn."""
        if self._spent:  # what had begun is finished
            return self._borders[-1] < self._last_begun
        return not self.stopped

    @property
    def _waits(self) -> bool:
        """Whether the next round needs results that are not here."""
        learns = self.pairing.adaptive or self._looks
        return learns and self._complete < self._wanted

    @property
    def _wanted(self) -> int:
        """The rounds whose results count for the next one."""
        return len(self._open) - (self._borders[-1] < self._enough)

    @property
    def _looks(self) -> bool:
        """Whether the intervals are looked at before the next round."""
        if self._wanted <= self._looked:
            return False
        return self._borders[-1] >= self._enough or self.stop.looks(self._wanted)

    def _handed_out(self, number: int) -> bool:
        return number in self._under_way or number in self._begun

    def _look_at_budgets(self) -> None:
        if self._spent or not (reason := self.stop.spent()):
            return
        left = [number for number in self._waiting if number <= self._last_begun]
        if self.stopped and len(left) == len(self._waiting) and not self._aside:
            return  # it would have ended here without a budget, too
        self._spent = True
        self._waiting = deque(left)
        self._aside.clear()
        self.stopped = reason

    def _draw(self) -> bool:
        """Draw the next round; False where it has to wait, or there is none."""
        if not self._more:
            return False
        while self._looks and not self._waits:
            if self._narrow_enough():
                return False
        if self._waits:
            return False
        if self.pairing.adaptive:
            self._count(self._wanted)
        fixtures = self._next()
        if not fixtures:
            self._close(
                Statement(
                    "stopped.all_met",
                    "everybody has met everybody in every seat, as often as was wanted",
                )
            )
            return False
        self._add(fixtures)
        if self._borders[-1] == self.stop.matches:
            self._close(
                Statement(
                    "stopped.matches",
                    "{matches:,} match{es} played, as many as asked for",
                    matches=self.stop.matches,
                    es="es" * (self.stop.matches != 1),
                )
            )
        return True

    def _narrow_enough(self) -> bool:
        """Look at the intervals; close where they are narrow enough."""
        self._count(self._wanted)
        self._looked = self._counted_rounds
        ended, begun = self._borders[self._looked], self._borders[-1]
        width = self.stop.width(self._counted)
        self._enough = self.stop.enough(width, ended)
        reason = self.stop.narrow_enough(width, len(self._counted), begun)
        if reason:
            self._close(reason)
        return bool(reason)

    def _next(self) -> list[Fixture]:
        """Return what the next round has: the next that the pairing drew, whole tables of it."""
        if not self._drawn:
            self._rounds += 1
            # The last round counts where it was waited for; those before it always do.
            to_come = self._last if self._counted_rounds < len(self._open) else []
            self._drawn = self.pairing.round(self._rounds, self._counted, to_come)
        end = self.stop.round_of(self._borders[-1], self._enough) or len(self._drawn)
        while 0 < end < len(self._drawn) and self._drawn[end].seed == self._drawn[end - 1].seed:
            end += 1  # the seatings of a table say more together
        fixtures, self._drawn = self._drawn[:end], self._drawn[end:]
        if self.stop.matches is not None:
            fixtures = fixtures[: self.stop.matches - self._borders[-1]]
        return fixtures

    def _add(self, fixtures: list[Fixture]) -> None:
        before = self._borders[-1]
        self._borders.append(before + len(fixtures))
        self._last = fixtures
        unfinished = 0
        for number, fixture in enumerate(fixtures, before + 1):
            if self._begun.get(number, fixture) != fixture:
                raise ValueError(
                    f"match {number} of the journal is {self._begun[number]}. With this "
                    f"configuration it would be {fixture}: the models, the games, their seats, "
                    "the seed, the matchmaking, the size of rounds or a result is not what it was. "
                    "Give what the run began with, or begin a new one"
                )
            if number not in self._ended:
                unfinished += 1
                self._fixtures[number] = fixture
                if not self._spent or number <= self._last_begun:
                    self._waiting.append(number)
        self._open.append(unfinished)
        self._see_complete()

    def _close(self, reason: str) -> None:
        if self._last_begun > self._borders[-1]:
            raise ValueError(
                f"the journal has matches up to {self._last_begun}. With this configuration there "
                f"are {self._borders[-1]} ({reason}): let as many be played as before or more, to "
                "intervals as narrow or narrower, or begin a new run"
            )
        if not self._spent:
            self.stopped = reason

    def _see_complete(self) -> None:
        while self._complete < len(self._open) and self._open[self._complete] == 0:
            self._complete += 1

    def _count(self, rounds: int) -> None:
        """Count the results of so many rounds, in the order of their matches."""
        for end in range(self._counted_rounds + 1, rounds + 1):
            for number in range(self._borders[end - 1] + 1, self._borders[end] + 1):
                if (result := self._ended[number]) is not None:
                    self._counted.append(result)
        self._counted_rounds = max(self._counted_rounds, rounds)


def _check(number: int, fixture: Fixture, result: Result) -> None:
    if result.fixture != fixture:
        raise ValueError(f"match {number} is {fixture}; the result is one of {result.fixture}")
    if len(result.scores) != len(fixture.seats):
        raise ValueError(
            f"match {number} has {len(fixture.seats)} seats; the result has "
            f"{len(result.scores)} scores"
        )
