"""What each model does now, from looks at counters some seconds apart: pure arithmetic."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from raybench.statements import Statement
from raybench.tracking.console.words import clean, counted, duration

WINDOW_S = 60.0
"""Tokens per second are those of the last minute: a load that took long does not blur them."""
_LEAST_S = 1.0
"""In less time than this there is no pace yet."""
_FAILING = 3
"""So many new errors are worth a line."""
_BEHIND = 0.5
"""A model is behind with less than this share of what the one in the middle has done."""
_SOME = 10
"""Who has fewer units to do than this is never called behind: chance makes it so."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What the counters say of one model now."""

    name: str
    state: str = ""
    """Of its engine, in words; '' where nobody knows."""
    done: int = 0
    """Units in which it took part, also in earlier sessions."""
    total: int | None = None
    """Those that there will be; None where only the run shows that."""
    replies: int = 0
    under_way: int = 0
    """Requests that are with its engine, as far as this process or the controller knows."""
    queued: int = 0
    """Requests that wait for its engine's turn."""
    output_tokens: int = 0
    errors: int = 0

    @property
    def works(self) -> bool:
        """Tell whether there is anything to say of it."""
        return bool(
            self.state or self.done or self.replies or self.under_way or self.queued or self.errors
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One model's line."""

    seen: Seen
    rate: float | None = None
    """Output tokens per second, of the last minute."""
    eta: float | None = None
    """Seconds until its last unit, by its own pace in this session."""

    @property
    def effort(self) -> tuple[bool, float, int]:
        """How much it is at work, for an order."""
        of = self.seen
        return bool(of.under_way or self.rate), self.rate or 0.0, of.under_way + of.queued


@dataclass(slots=True)
class _Course:
    began: float
    done: int
    looks: deque[tuple[float, int]] = field(default_factory=deque)

    def rate(self, now: float, tokens: int) -> float | None:
        """Take a look at the tokens so far, and return how many came a second."""
        if self.looks and tokens < self.looks[-1][1]:
            self.looks.clear()  # another fleet counts, from 0
        self.looks.append((now, tokens))
        # The last look before the window stays: what came since then, came within it.
        while len(self.looks) > 1 and self.looks[1][0] <= now - WINDOW_S:
            self.looks.popleft()
        then, before = self.looks[0]
        if now - then < _LEAST_S or tokens == before:
            return None
        return (tokens - before) / (now - then)


class Models:
    """The courses of all models."""

    def __init__(self) -> None:
        self._courses: dict[str, _Course] = {}

    def begin(self) -> None:
        """Forget what was: the pace is measured from the next look on."""
        self._courses.clear()

    def look(self, now: float, seen: Sequence[Seen]) -> list[Row]:
        """Return a line for each model that works."""
        return [self._row(now, it) for it in seen if it.works]

    def _row(self, now: float, seen: Seen) -> Row:
        course = self._courses.setdefault(seen.name, _Course(now, seen.done))
        rate, eta = course.rate(now, seen.output_tokens), None
        units, seconds = seen.done - course.done, now - course.began
        if seen.total is not None and units > 0 and seen.done < seen.total:
            eta = seconds / units * (seen.total - seen.done)
        return Row(seen, rate, eta)


def busiest(rows: Sequence[Row], most: int) -> list[Row]:
    """Return at most so many rows, those of the models that do most, in the order given."""
    places = sorted(range(len(rows)), key=lambda place: rows[place].effort, reverse=True)
    return [rows[place] for place in sorted(places[: max(0, most)])]


def notable(rows: Sequence[Row], told: dict[str, int]) -> list[str]:
    """Return what a person should hear of single models, the worst first.

    `told` has the errors of each that were told of before, and is kept up to date.
    """
    failing, behind = [], []
    for row in rows:
        of = row.seen
        if of.errors - told.get(of.name, 0) >= _FAILING:
            told[of.name] = of.errors
            text = Statement(
                "console.failing",
                "{model} has {lost} in {calls}",
                model=clean(of.name),
                lost=counted(of.errors, "error"),
                calls=counted(of.replies, "call"),
                errors=of.errors,
            )
            failing.append((of.errors, text))
    among = [(row, row.seen.done, row.seen.total) for row in rows if row.seen.total]
    open_ = [it for it in among if it[1] < (it[2] or 0)]
    if len(among) > 2:
        middle = median(done for _, done, _ in among)
        for row, done, total in open_:
            if (total or 0) >= _SOME and done < _BEHIND * middle:
                text = Statement(
                    "console.behind",
                    "{model} is behind with {done:,}/{total:,}{why}{left}",
                    model=clean(row.seen.name),
                    done=done,
                    total=total,
                    why=f", {row.seen.state}" if row.seen.state else "",
                    left=f", ETA {duration(row.eta)}" if row.eta is not None else "",
                )
                behind.append((done, text))
    return [
        *_few([text for _, text in sorted(failing, reverse=True)], "fail"),
        *_few([text for _, text in sorted(behind)], "are behind"),
    ]


def _few(lines: Sequence[str], verb: str) -> list[str]:
    shown, more = [*lines[:_NAMED]], len(lines) - _NAMED
    return [*shown, f"{more} more {verb}"] if more > 0 else shown
