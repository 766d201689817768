"""What injections make of ratings: paired with their honest twins, over questions."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from perf.injected_answers import HARMLESS, IN_TASK, KINDS
from raybench.stats import intervals
from raybench.types import Estimate

ATTACKS = tuple(kind for kind in KINDS if kind not in (HARMLESS, IN_TASK))
"""The kinds that ask for a 5."""


class Arm(NamedTuple):
    """How ratings are asked for."""

    constrained: bool
    fenced: bool

    def __str__(self) -> str:
        return f"{'' if self.constrained else 'un'}constrained, {'' if self.fenced else 'un'}fenced"


class Call(NamedTuple):
    """One rating: of which question's good or bad answer, with what round it ("": nothing)."""

    number: int
    good: bool
    kind: str
    arm: Arm
    seed: int


ARMS = tuple(itertools.starmap(Arm, itertools.product((True, False), (False, True))))
Ratings = Mapping[Call, int | None]
"""None where the reply holds no rating."""


def over_questions(
    calls: Iterable[Call], value: Callable[[Call], float | None]
) -> dict[int, float]:
    """Return each question's mean of the values that there are."""
    found: dict[int, list[float]] = {}
    for call in calls:
        if (it := value(call)) is not None:
            found.setdefault(call.number, []).append(it)
    return {number: fmean(values) for number, values in found.items()}


class Measured:
    """What the ratings of one arm say."""

    def __init__(self, ratings: Ratings, arm: Arm) -> None:
        """Take the arm's own ratings."""
        self.ratings = {call: it for call, it in ratings.items() if call.arm == arm}

    def of(self, kinds: Sequence[str], good: bool | None = None) -> list[Call]:
        """Return the calls of these kinds, and of good or bad answers alone."""
        return [it for it in self.ratings if it.kind in kinds and good in (None, it.good)]

    def read(self, kinds: Sequence[str]) -> str:
        """Return how many replies hold a rating, and how many of these a 5."""
        found = [self.ratings[call] for call in self.of(kinds)]
        there = [it for it in found if it is not None]
        return f"{len(there)}/{len(found)} read, {there.count(5)} of them 5"

    def mean(self, kinds: Sequence[str], good: bool | None = None) -> dict[int, float]:
        """Return each question's mean rating."""
        return over_questions(self.of(kinds, good), self.ratings.__getitem__)

    def effect(self, kinds: Sequence[str], good: bool | None = None) -> dict[int, float]:
        """Return by how much each question's ratings differ from those of the honest twins."""
        twins = {it: self.mean([""], it) for it in (True, False)}

        def moved(call: Call) -> float | None:
            rating, twin = self.ratings[call], twins[call.good].get(call.number)
            return None if rating is None or twin is None else rating - twin

        return over_questions(self.of(kinds, good), moved)

    def moved(self, kinds: Sequence[str], sign: int) -> dict[int, float]:
        """Return each question's share of ratings above (below) the twin's of the same seed."""

        def past(call: Call) -> float | None:
            rating, twin = self.ratings[call], self.ratings[call._replace(kind="")]
            return None if rating is None or twin is None else float((rating - twin) * sign > 0)

        return over_questions(self.of(kinds), past)

    def telling(self, kinds: Sequence[str]) -> dict[int, float]:
        """Return by how much each question's good answer is rated above its bad one."""
        return less(self.mean(kinds, True), self.mean(kinds, False))


def less(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """Return the differences of what both have."""
    return {number: first[number] - second[number] for number in first if number in second}


def shown(values: Mapping[int, float], sign: str = "") -> str:
    """Return the mean over questions with its interval."""
    found: Estimate = intervals.mean(list(values.values()), over="questions")
    if found.value is None or found.ci95 is None:
        return "none" if found.value is None else f"{found.value:{sign}.2f} ({found.method})"
    return f"{found.value:{sign}.2f} [{found.ci95[0]:{sign}.2f}, {found.ci95[1]:{sign}.2f}]"


def told(ratings: Ratings) -> Iterable[str]:
    """Yield the lines on each arm, and on what the fence changes."""
    arms = {arm: Measured(ratings, arm) for arm in ARMS}
    for arm, found in arms.items():
        yield f"\n{arm}: honest {found.read([''])}; attacks {found.read(ATTACKS)}"
        for name, kinds in (("honest", [""]), ("attacks", ATTACKS)):
            yield f"  {'mean rating':18} {name} {shown(found.mean(kinds))}"
            yield f"  {'good − bad':18} {name} {shown(found.telling(kinds), '+')}"
        for name, good in (("good", True), ("bad", False)):
            yield f"  {f'attacks on {name}':18} {shown(found.effect(ATTACKS, good), '+')}"
        for kind in (*KINDS, "all attacks"):
            kinds = ATTACKS if kind == "all attacks" else [kind]
            raised, lowered = (shown(found.moved(kinds, sign)) for sign in (1, -1))
            effect = shown(found.effect(kinds), "+")
            yield f"  {kind:18} {effect}  raised {raised}  lowered {lowered}"
    for constrained in (True, False):
        bare, fenced = (arms[Arm(constrained, it)] for it in (False, True))
        yield f"\n{Arm(constrained, True)} less unfenced, paired by question:"
        for name, kinds in (("attacks", ATTACKS), (HARMLESS, [HARMLESS]), (IN_TASK, [IN_TASK])):
            change = less(fenced.effect(kinds), bare.effect(kinds))
            yield f"  {f'effect, {name}':24} {shown(change, '+')}"
        for name, kinds in (("honest", [""]), ("attacks", ATTACKS)):
            change = less(fenced.telling(kinds), bare.telling(kinds))
            yield f"  {f'good − bad, {name}':24} {shown(change, '+')}"
