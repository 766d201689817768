"""Stand-ins for matches: models of known strengths, whose results depend on the match alone."""

from collections.abc import Mapping, Sequence
from math import log
from random import Random

from raybench.tournament.fixtures import Fixture, Result, derived
from raybench.tournament.schedule import Schedule


def models(count: int) -> list[str]:
    return [f"model_{i:04d}" for i in range(count)]


def play(fixture: Fixture, strengths: Mapping[str, float], seed: int = 0) -> Result:
    """Return a result that is drawn by the strengths: each seat's plus noise, in order.

    The noise is Gumbel's, so that of two models the one wins with the odds of the difference.
    """
    rng = Random(derived(seed, str(fixture)))
    drawn = [strengths[name] + _gumbel(rng) for name in fixture.seats]
    if len(drawn) == 2:
        return Result(fixture, (1.0, -1.0) if drawn[0] > drawn[1] else (-1.0, 1.0))
    order = sorted(range(len(drawn)), key=lambda seat: drawn[seat])
    return Result(fixture, tuple(float(order.index(seat)) for seat in range(len(drawn))))


def _gumbel(rng: Random) -> float:
    return -log(-log(max(rng.random(), 1e-300)))


def wanted(schedule: Schedule, count: int) -> list[tuple[int, Fixture]]:
    """Take so many matches, none of which is beyond the last one that is wanted.

    A schedule that goes on beyond that has no end, and neither had the test.
    """
    taken, most = schedule.take(count), schedule.stop.matches
    assert most is None or all(number <= most for number, _ in taken), "more than were wanted"
    return taken


def finish(
    schedule: Schedule, strengths: Mapping[str, float], rng: Random, seed: int = 0
) -> dict[int, Result | None]:
    """Play a schedule to its end, many matches at once, which end in the order of the dice."""
    under_way: list[tuple[int, Fixture]] = []
    ended: dict[int, Result | None] = {}
    while not schedule.over:
        under_way += wanted(schedule, rng.randint(1, 9))
        if under_way:
            number, fixture = under_way.pop(rng.randrange(len(under_way)))
            void = derived(seed, "void", number) % 11 == 0
            ended[number] = None if void else play(fixture, strengths, seed)
            schedule.done(number, ended[number])
    return ended


def seat_counts(fixtures: Sequence[Fixture], names: Sequence[str]) -> dict[int, list[int]]:
    """Return how often each model has sat in each seat."""
    counts: dict[int, list[int]] = {}
    place = {name: i for i, name in enumerate(names)}
    for fixture in fixtures:
        for seat, name in enumerate(fixture.seats):
            counts.setdefault(seat, [0] * len(names))[place[name]] += 1
    return counts
