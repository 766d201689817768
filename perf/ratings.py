"""How long ratings take, beside the peer's figure for the same work.

    python -m perf.ratings                   10 models × 2,000 matches, 100 models × 100,000
    python -m perf.ratings --bootstrap 100   with fewer replicates than 1,000

The peer (ZeroSumEval 0.3.0) fits a logistic regression to single matches, anew for every bootstrap
draw: 13.4 to 14.3 s for 100 draws of 10 models × 2,000 matches, which is 135 ms a fit. Here equal
matches are one with a count, and all replicates take Newton's steps side by side. A row's time has
everything in it: counting the matches, components, maximum, sandwich, bootstrap and the table. No
test waits for a time.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np

from raybench.stats import bradley_terry, plackett_luce
from raybench.stats.bradley_terry import Game
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.outcome import Ratings

PEER_MS = 135.0
_LINE = "{:<44} {:>8} {:>10} {:>12} {:>10}"


def main() -> None:
    """Print a line per pool."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bootstrap", type=int, default=1000)
    count: int = parser.parse_args().bootstrap
    print(_LINE.format("", "fits", "all, s", "ms a fit", "the peer ×"))
    small, large, tables = pairs(10, 2_000), pairs(100, 100_000), rankings(10, 5, 2_000)
    clusters = [number // 2 for number in range(len(small))]
    seated, by_table = seatings(10, 5, 2_000)
    sixes, by_six = seatings(20, 6, 12_000)

    def alone() -> Ratings:
        return bradley_terry.fit(small, bootstrap=count)

    def clustered() -> Ratings:
        return bradley_terry.fit(small, bootstrap=count, clusters=clusters)

    def many() -> Ratings:
        return bradley_terry.fit(large, bootstrap=count)

    def ranked() -> Ratings:
        return plackett_luce.fit(tables, bootstrap=count)

    print(row("10 models × 2,000 matches", count, alone, PEER_MS))
    print(row("  the same, in 1,000 clusters of two", count, clustered, PEER_MS))
    print(row("100 models × 100,000 matches", count, many))

    def seats() -> Ratings:
        return plackett_luce.fit(seated, bootstrap=count, clusters=by_table)

    def largest() -> Ratings:
        return plackett_luce.fit(sixes, bootstrap=0, clusters=by_six)

    print(row("Plackett–Luce: 10 models × 2,000 tables of 5", count, ranked))
    print(row("  with seats, each table in all of them", count, seats))
    print(row("  20 models × 12,000 tables of 6, no bootstrap", 0, largest))


def row(name: str, count: int, work: Callable[[], Ratings], peer: float | None = None) -> str:
    """Do the work thrice, and return the line of the fastest."""
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    fits = count + 1
    each = 1000 * min(taken) / fits
    ratio = f"{peer / each:,.0f}" if peer else "–"
    return _LINE.format(name, fits, f"{min(taken):.2f}", f"{each:.3f}", ratio)


def pairs(models: int, matches: int) -> list[Game]:
    """Play matches between models drawn by lot, with some ties."""
    rng = np.random.default_rng(models)
    strengths = rng.normal(size=models)
    one = rng.integers(0, models, matches)
    other = (one + rng.integers(1, models, matches)) % models
    p = 1 / (1 + np.exp(strengths[other] - strengths[one] - 0.2))
    score = np.where(rng.random(matches) < 0.1, 0.5, rng.random(matches) < p)
    return [(f"m{a:03}", f"m{b:03}", float(s)) for a, b, s in zip(one, other, score, strict=True)]


def rankings(models: int, seats: int, matches: int) -> Sequence[Sequence[Seat]]:
    """Seat models drawn by lot, who finish as their strengths and chance have it."""
    rng = np.random.default_rng(models)
    strengths = rng.normal(size=models)
    found = []
    for _ in range(matches):
        seated = rng.choice(models, seats, replace=False)
        order = seated[np.argsort(-strengths[seated] - rng.gumbel(size=seats))]
        found.append([Seat(f"m{it:03}", place) for place, it in enumerate(order, 1)])
    return found


def seatings(models: int, seats: int, matches: int) -> tuple[list[list[Seat]], list[int]]:
    """Play as a tournament does: each table in all its seatings, which are drawn together.

    A seat is worth something: hardly any two matches choose from the same sets any more.
    """
    rng = np.random.default_rng(models)
    strengths = rng.normal(size=models)
    found, tables = [], []
    for match in range(matches):
        table, turn = divmod(match, seats)
        if not turn:
            around = rng.choice(models, seats, replace=False)
        seated = np.roll(around, -turn)
        strong = strengths[seated] - 0.1 * np.arange(seats)
        places = np.argsort(np.argsort(-strong - rng.gumbel(size=seats))) + 1
        found.append(
            [
                Seat(f"m{it:03}", int(place), f"seat {seat}")
                for seat, (it, place) in enumerate(zip(seated, places, strict=True), 1)
            ]
        )
        tables.append(table)
    return found, tables


if __name__ == "__main__":
    main()
