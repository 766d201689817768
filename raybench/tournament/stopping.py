"""When it is enough: by matches, by what they cost, by how narrow the ratings are.

Whoever looks at intervals again and again and stops at the first look that pleases gets intervals
that are too narrow: looks that please by chance end the run. Two things are done against it. Only
the width is looked at, never who leads, which costs little by itself; and looks are rare: each
comes after a quarter more rounds than the last, some thirty in thousands of rounds, and one when
all has ended that was thought to be enough. That costs a tenth more matches than the width would
take, of a tournament of hundreds; a third more of one of some fifty. Simulated with six models,
stopped after 40 to 600 matches, random pairs and chosen ones, ratings lay in their 95 % intervals
as often as after a fixed number of matches: 95 to 97 % (`tests/tournament/test_stopping.py` looks
again).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from raybench.statements import Statement
from raybench.tournament.fixtures import Result


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent. It is looked at whenever matches are to begin.

    Once it is spent nothing new begins, and what is under way is finished: so that what that takes
    is spent beyond it.
    """

    limit: float
    unit: str
    """What is counted, as 'tokens', 'calls' or 'seconds'."""
    spent: Callable[[], float]
    """Says how much has been spent so far, earlier sessions of the run included."""


@dataclass(frozen=True, slots=True)
class Narrow:
    """Ratings whose intervals are narrow enough."""

    points: float
    """The half-width that no model's interval may exceed."""
    widest: Callable[[Sequence[Result]], float | None]
    """Says the widest half-width of a 95 % interval, in points; None where one is not known, as
    where a model has no rating yet or its interval has no end. `ratings.looked`: of the intervals
    that are published by the same results, so that these are as narrow as was wanted. What was
    under way at the look counts too in the end, and as a rule narrows them further."""
    least: int = 1
    """The matches that a round has at least, however near the end is thought to be."""


@dataclass(frozen=True, slots=True)
class Stop:
    """When no more matches begin: by whichever comes first."""

    matches: int | None = None
    """How many are played, exactly, those that came to nothing among them."""
    budgets: tuple[Budget, ...] = ()
    narrow: Narrow | None = None

    def __post_init__(self) -> None:
        if self.matches is not None and self.matches < 1:
            raise ValueError(f"{self.matches} matches are to be played: give one or more")
        for budget in self.budgets:
            if not budget.limit > 0:
                raise ValueError(
                    f"a budget of {budget.limit:g} {budget.unit} lets nothing begin: give more"
                )
        if self.narrow is not None and not self.narrow.points > 0:
            raise ValueError(
                f"intervals of ±{self.narrow.points:g} points are never reached: give more than 0"
            )

    @property
    def anywhere(self) -> bool:
        """Whether there is anything to stop by."""
        return self.matches is not None or bool(self.budgets) or self.narrow is not None

    def looks(self, rounds: int) -> bool:
        """Tell whether the intervals are looked at after so many rounds."""
        look = 1
        while look < rounds:
            look += max(1, look // 4)
        return self.narrow is not None and look == rounds

    def width(self, results: Sequence[Result]) -> float | None:
        """Return how wide the widest interval is by these results; None where that is not known."""
        width = None if self.narrow is None else self.narrow.widest(results)
        return None if width is None or math.isnan(width) else width

    def narrow_enough(self, width: float | None, results: int, begun: int) -> str:
        """Return why it stops at that width; '' where it is not enough.

        It was seen by so many results, when so many matches had begun.
        """
        if self.narrow is None or width is None or width > self.narrow.points:
            return ""
        return Statement(
            "stopped.narrow",
            "the widest 95 % interval of a rating was ±{width:.0f} points by {results:,} results "
            "of {matches:,} matches: ±{wanted:g} were wanted",
            width=width,
            results=results,
            matches=begun,
            wanted=self.narrow.points,
        )

    def enough(self, width: float | None, ended: int) -> float:
        """Return how many matches are thought to be enough: widths fall with the root of them.

        `width` is that after so many; where it is not known, the end is thought to be far.
        """
        if self.narrow is None or width is None:
            return math.inf
        return ended * (width / self.narrow.points) ** 2

    def round_of(self, drawn: int, enough: float) -> int | None:
        """Return how many matches the next round has at most; None where that does not matter.

        No more than half of those drawn, so that something is known of the width before many begin,
        and no more than are thought to be lacking.
        """
        if self.narrow is None:
            return None
        return max(self.narrow.least, math.ceil(min(drawn / 2, enough - drawn)))

    def spent(self) -> str:
        """Return which budget is spent; '' where none is."""
        for budget in self.budgets:
            if (spent := budget.spent()) >= budget.limit:
                return Statement(
                    "stopped.spent",
                    "{spent:,.0f} {unit} of {limit:,.0f} were spent",
                    spent=spent,
                    unit=budget.unit,
                    limit=budget.limit,
                )
        return ""
