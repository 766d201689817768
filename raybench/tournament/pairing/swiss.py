"""Swiss: who has done alike so far meets next, and nobody meets again while that can be helped.

Tables are drawn in passes, of as many matches as there are models: everybody sits at one table, but
for the few who find no full one. These sit out: of those who have done so least often, the lowest,
and with it those who have met the others most, so that it is not always the same who sit out; it
earns and costs nothing, since standings are mean points per opponent, from 0 to 1. Standings are
kept per game: who is good at one may not be at another. Both seat orders of a pair are played, so
that nobody is owed a first move. A round of the schedule holds a pass or two and no more, however
many matches could be played at once: by the same standings a third pass would pair those who do not
stand alike.

Pairs are found from the top down with steps back where the rest could not be paired without
meeting again; a search that goes on for too long allows one more meeting instead. Larger tables
are filled from the top with those nearby who have met fewest of the table.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, count, product
from random import Random

from raybench.tournament.pairing.contract import Seated, Table
from raybench.tournament.pairing.seats import met, shares

Meetings = Counter[tuple[int, int]]
"""How often two have been drawn together, the lower number in front."""
_STEPS = 2_000
"""Steps back before a search gives up: more than all there are for eight models."""
_NEARBY = 4
"""Among so many times the seats a table looks for its members, and so many tables away."""


class Swiss:
    """Draws one pass after the other, each by the standings that counted when it began."""

    adaptive = True

    def __init__(self, models: int, seats: int, rng: Random) -> None:
        self._models, self._seats, self._rng = models, seats, rng
        self._met: Meetings = Counter()
        self._sat_out = [0] * models
        self._won = [0.0] * models
        self._played = [0] * models
        self._pass: list[Table] = []

    def learn(self, results: Sequence[Seated], to_come: Sequence[Table]) -> None:
        """Begin a round, with these results in the standings; what is to come changes nothing."""
        for table, scores in results:
            for model, share in zip(table, shares(scores), strict=True):
                self._won[model] += share
                self._played[model] += 1

    def draw(self) -> Table:
        """Return the next table."""
        if not self._pass:
            standing = self._standing()
            found = (
                pairs(standing, self._met)
                if self._seats == 2
                else groups(standing, self._seats, self._met)
            )
            self._pass = found[::-1]
            self._met.update(pair for table in found for pair in met(table))
        return self._pass.pop()

    def _standing(self) -> list[int]:
        """Return who plays in this pass, the best in front."""
        # One tie more than there was draws those of whom little is known towards the middle.
        mean = [(w + 0.5) / (p + 1) for w, p in zip(self._won, self._played, strict=True)]
        order = self._rng.sample(range(self._models), self._models)  # of equal ones
        order.sort(key=lambda model: -mean[model])
        for _ in range(self._models % self._seats):
            order.remove(self._sits_out(order))
        return order

    def _sits_out(self, order: Sequence[int]) -> int:
        """Return who does, of those who have not yet to."""
        fewest = min(self._sat_out[model] for model in order)
        them = [model for model in order[::-1] if self._sat_out[model] == fewest]
        if len(order) < self._models:
            them.sort(key=lambda model: -sum(_before(self._met, model, it) for it in order))
        self._sat_out[them[0]] += 1
        return them[0]


def pairs(standing: Sequence[int], meetings: Meetings) -> list[Table]:
    """Pair everybody, with nobody met more often than can be helped."""
    fewest = min(meetings[pair] for pair in met(tuple(standing)))
    return next(
        found for most in count(fewest) if (found := _paired(standing, meetings, most)) is not None
    )


def _paired(standing: Sequence[int], meetings: Meetings, most: int) -> list[Table] | None:
    """Pair everybody with somebody met `most` times or less before; None where none is found."""

    def partners(model: int) -> Iterator[int]:
        near = [it for it in left if _before(meetings, model, it) <= most]
        return iter(sorted(near, key=lambda it: _before(meetings, model, it)))

    left = list(standing)
    paired: list[Table] = []
    # The top one still alone, the partners not yet tried for it, and where its partner stood.
    trail: list[tuple[int, Iterator[int], int]] = []
    steps = _STEPS
    while left or len(paired) < len(trail):
        if len(paired) == len(trail):
            model = left.pop(0)
            trail.append((model, partners(model), -1))
        model, untried, _ = trail[-1]
        partner = next(untried, None)
        if partner is not None:
            place = left.index(partner)
            left.pop(place)
            trail[-1] = (model, untried, place)
            paired.append((model, partner))
            continue
        left.insert(0, model)
        trail.pop()
        steps -= 1
        if not trail or steps < 0:
            return None
        left.insert(trail[-1][2], paired.pop()[1])
    return paired


def groups(standing: Sequence[int], seats: int, meetings: Meetings) -> list[Table]:
    """Fill the tables from the top, with those nearby who have met fewest of the table.

    What is left for the last ones may be bad: then members are exchanged with tables nearby.
    """
    left = list(standing)
    tables: list[list[int]] = []
    while left:
        table = [left.pop(0)]
        while len(table) < seats:
            near = left[: _NEARBY * seats]
            known = [sum(_before(meetings, it, sitting) for sitting in table) for it in near]
            table.append(left.pop(known.index(min(known))))
        tables.append(table)
    for i, table in enumerate(tables):
        for other in tables[max(0, i - _NEARBY) : i + _NEARBY + 1]:
            if other is not table:
                _exchange(table, other, meetings)
    return [tuple(table) for table in tables]


def _exchange(table: list[int], other: list[int], meetings: Meetings) -> None:
    """Exchange two members wherever fewer of both tables have met before then."""
    for i, j in product(range(len(table)), repeat=2):
        again = _again(table, meetings)
        if not again:
            return
        again += _again(other, meetings)
        table[i], other[j] = other[j], table[i]
        if _again(table, meetings) + _again(other, meetings) >= again:
            table[i], other[j] = other[j], table[i]


def _again(table: Sequence[int], meetings: Meetings) -> int:
    return sum(_before(meetings, a, b) for a, b in combinations(table, 2))


def _before(meetings: Meetings, a: int, b: int) -> int:
    return meetings[(a, b) if a < b else (b, a)]
