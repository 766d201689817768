"""Ratings beside those of choix and arena-rank: do they agree, and how long do they take?

    python -m perf.ratings [--matches 10000 100000 1000000] [--rounds 3] [--bootstrap 1000]

The same matches for all, drawn by lot, without ties and without anything that moving first would be
worth (choix has neither). Each fit is a process of its own, in turn, of what its environment has
(`perf/peers/rating.py`); the second of two fits counts, in which nothing is imported any more (what
arena-rank compiles it compiles for each fit), and the first stands beside it. A fit is the maximum
and, but for choix, which has none, the sandwich's errors; ours finds components too. Agreement is
the largest difference of a strength (natural logarithms) from ours. A draw of a bootstrap takes
what many take beyond few, a draw. All of it takes a quarter of an hour; a round of 10,000 matches
four minutes, most of them arena-rank's bootstraps.

ZeroSumEval 0.3.0 is not on PyPI. It fits a logistic regression to single matches, anew for every
bootstrap draw: 13.4 to 14.3 s for 100 draws of 10 models × 2,000 matches on a machine like this
one, which is 135 ms a fit.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from perf import arguments
from perf.measured import in_turn, say
from perf.peers.commands import versions
from perf.peers.environments import made
from perf.results import Found, Table, growth, median_of, spread
from raybench.stats import bradley_terry, plackett_luce
from raybench.stats.bradley_terry import Game
from raybench.stats.plackett_luce import Seat
from raybench.stats.ratings.outcome import Ratings

ZEROSUMEVAL_MS = 135.0
_PEER_DRAWS = (8, 24)
"""Of arena-rank, each of which compiles anew."""
_WORKER = Path(__file__).parent / "peers" / "rating.py"
_HERE = Path(__file__).parents[1]
_OURS = "raybench"
_FITS = ("pool", "", "ms a fit", "times ours", "the first, ms", "farthest from ours", "MiB")
_DRAWS = ("pool", "", "draws", "ms a draw", "times ours")
_MORE = ("raybench", "fits", "s", "ms a fit")
_Way = tuple[str, int]
"""Who fits, and how many draws of a bootstrap there are beside the fit."""


@dataclass(frozen=True)
class Pool:
    """Matches of so many models."""

    models: int
    matches: int
    seats: int = 2

    @property
    def name(self) -> str:
        """Return what it is called."""
        tables = f"{self.matches:,} tables of {self.seats}"
        return f"{self.models} × {tables if self.seats > 2 else f'{self.matches:,}'}"

    def drawn(self) -> str:
        """Return it as workers read it: in each match the models in the order of their places."""
        rng = np.random.default_rng(self.models)
        strengths = rng.normal(size=self.models)
        if self.seats == 2:
            one = rng.integers(0, self.models, self.matches)
            other = (one + rng.integers(1, self.models, self.matches)) % self.models
            seated = np.stack([one, other], axis=1)
        else:
            lots = rng.random((self.matches, self.models))
            seated = np.argsort(lots, axis=1)[:, : self.seats]
        # The order of exponential races is Plackett-Luce's; with two, Bradley-Terry's.
        reached = strengths[seated] + rng.gumbel(size=seated.shape)
        order = np.take_along_axis(seated, np.argsort(-reached, axis=1), axis=1)
        return json.dumps({"models": self.models, "seats": self.seats, "matches": order.tolist()})


@dataclass(frozen=True)
class Fit:
    """What came of a worker."""

    first_s: float
    again_s: float
    peak_mib: float
    strengths: Sequence[float]


def main() -> None:
    """Have all fit all, and tell."""
    parser = arguments.parser(__doc__)
    parser.add_argument(
        "--matches", type=arguments.count, nargs="+", default=[10_000, 100_000, 1_000_000],
        help="of 100 models; the other pools are as they are",
    )  # fmt: skip
    parser.add_argument("--rounds", type=arguments.count, default=3)
    parser.add_argument("--bootstrap", type=arguments.count, default=1000, help="draws of ours")
    asked = parser.parse_args()
    sizes = [Pool(100, matches) for matches in asked.matches]
    small, tables = Pool(10, 2_000), [Pool(10, matches, seats=5) for matches in (500, 2_000)]
    fits = {
        pool: _fitted(pool, [(arm, 0) for arm in arms], asked.rounds)
        for pools, arms in ((([small, *sizes]), _ARMS), (tables, _ARMS[:2]))
        for pool in pools
    }
    draws = [(_OURS, draws) for draws in (max(1, asked.bootstrap // 10), asked.bootstrap)]
    draws += [("arena-rank", draws) for draws in _PEER_DRAWS]
    drawn = {
        pool: _fitted(pool, draws, asked.rounds) for pool in (small, sizes[min(1, len(sizes) - 1)])
    }
    more = len(sizes) > 1
    Found(
        "ratings",
        "Ratings: a maximum with its errors, and bootstraps",
        [
            Table(_FITS, [row for pool, of in fits.items() for row in _fit_rows(pool, of)], "Fits"),
            Table(
                _DRAWS,
                [it for pool, of in drawn.items() for it in _draw_rows(pool, of)],
                "Bootstraps",
            ),
            Table(_MORE, [*_of_ours(asked.bootstrap)], "What else experiments ask of ratings"),
            *([_growth({pool: fits[pool] for pool in sizes}, "matches of 100")] if more else []),
            _growth({pool: fits[pool] for pool in tables}, "tables of 10"),
            *(_growth_of_draws(pool, of) for pool, of in drawn.items()),
        ],
        versions=versions(["choix", "arena-rank"]),
        measured={
            pool.name: {
                f"{name}, {draws} draws": [(it.first_s, it.again_s, it.peak_mib) for it in rounds]
                for (name, draws), rounds in (fits.get(pool, {}) | drawn.get(pool, {})).items()
            }
            for pool in fits
        },
    ).tell(keep=asked.keep)


# ---------------------------------------------------------------------------------- side by side


def _fitted(pool: Pool, ways: Sequence[_Way], rounds: int) -> dict[_Way, list[Fit]]:
    """Have each fit the pool, in turn, with so many draws beside it."""
    drawn = pool.drawn()
    found: dict[_Way, list[Fit]] = {way: [] for way in ways}
    for number, (name, draws) in in_turn(rounds, ways):
        fit = _fit(name, drawn, draws)
        found[name, draws].append(fit)
        beside = f", {draws} draws" if draws else ""
        say(f"round {number}, {pool.name}, {name}{beside}: {fit.again_s:.3f} s")
    return found


def _fit(name: str, drawn: str, bootstrap: int) -> Fit:
    python = sys.executable if name == _OURS else str(made(name) / "bin" / "python")
    done = subprocess.run(
        [python, str(_WORKER), name, str(bootstrap)], input=drawn, capture_output=True, text=True,
        env={"PYTHONPATH": str(_HERE), "JAX_PLATFORMS": "cpu"}, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} ended with code {done.returncode}:\n{done.stderr[-3000:]}")
    told: dict[str, Any] = json.loads(done.stdout)
    first_s, again_s = told["seconds"]
    return Fit(first_s, again_s, told["peak_mib"], told["strengths"])


def _fit_rows(pool: Pool, fits: Mapping[_Way, Sequence[Fit]]) -> Iterable[Sequence[str]]:
    ours = fits[_OURS, 0]
    for (name, _), rounds in fits.items():
        times = [it.again_s / our.again_s for it, our in zip(rounds, ours, strict=True)]
        yield (
            pool.name, name,
            spread([1000 * it.again_s for it in rounds], ".1f"),
            "" if rounds is ours else spread(times, ".3g"),
            f"{1000 * statistics.median(it.first_s for it in rounds):,.0f}",
            "" if rounds is ours else f"{max(map(_apart, rounds, ours)):.1e}",
            f"{statistics.median(it.peak_mib for it in rounds):,.0f}",
        )  # fmt: skip


def _apart(one: Fit, other: Fit) -> float:
    return float(np.abs(np.subtract(one.strengths, other.strengths)).max())


def _draw_rows(pool: Pool, fits: Mapping[_Way, Sequence[Fit]]) -> Iterable[Sequence[str]]:
    sizes = _sizes(fits)
    each = {
        name: [
            1000 * (of_many.again_s - of_few.again_s) / (many - few)
            for of_few, of_many in zip(fits[name, few], fits[name, many], strict=True)
        ]
        for name, (few, many) in sizes.items()
    }
    for name, (few, many) in sizes.items():
        ratios = [one / our for one, our in zip(each[name], each[_OURS], strict=True)]
        times = "" if name == _OURS else spread(ratios, ",.0f")
        yield pool.name, name, f"{few:,} and {many:,}", spread(each[name], ".3f"), times
    if pool == Pool(10, 2_000):
        noted = ZEROSUMEVAL_MS / statistics.median(each[_OURS])
        yield pool.name, "ZeroSumEval, as noted", "100", f"{ZEROSUMEVAL_MS:.0f}", f"{noted:,.0f}"


def _sizes(fits: Iterable[_Way]) -> dict[str, list[int]]:
    sizes: dict[str, list[int]] = {}
    for name, draws in fits:
        sizes.setdefault(name, []).append(draws)
    return sizes


def _again(fit: Fit) -> float:
    return fit.again_s


_GROWING: Mapping[str, Callable[[Fit], float]] = {"a fit, s": _again, "MiB": lambda it: it.peak_mib}


def _growth(fits: Mapping[Pool, Mapping[_Way, Sequence[Fit]]], sizes: str) -> Table:
    costs = {
        name: {
            figure: {pool.matches: median_of(of[name, draws], value) for pool, of in fits.items()}
            for figure, value in _GROWING.items()
        }
        for name, draws in next(iter(fits.values()))
    }
    return growth(costs, sizes)


def _growth_of_draws(pool: Pool, fits: Mapping[_Way, Sequence[Fit]]) -> Table:
    costs = {
        name: {
            "with its fit, s": {it: median_of(fits[name, it], _GROWING["a fit, s"]) for it in of}
        }
        for name, of in _sizes(fits).items()
    }
    return growth(costs, f"draws of {pool.name}")


_ARMS = (_OURS, "choix", "arena-rank")

# ------------------------------------------------------------------------------------ ours alone


def _of_ours(count: int) -> Iterable[Sequence[str]]:
    """Yield what it takes with all that an experiment may ask for."""
    small = pairs(10, 2_000)
    clusters = [number // 2 for number in range(len(small))]
    seated, by_table = seatings(10, 5, 2_000)
    sixes, by_six = seatings(20, 6, 12_000)
    yield _row(
        "10 × 2,000 with a first-mover term, in 1,000 clusters of two", count,
        lambda: bradley_terry.fit(small, bootstrap=count, clusters=clusters),
    )  # fmt: skip
    yield _row(
        "10 × 2,000 tables of 5 with seats, each table in all of them", count,
        lambda: plackett_luce.fit(seated, bootstrap=count, clusters=by_table),
    )  # fmt: skip
    yield _row(
        "20 × 12,000 tables of 6 with seats, no bootstrap", 0,
        lambda: plackett_luce.fit(sixes, bootstrap=0, clusters=by_six),
    )  # fmt: skip


def _row(name: str, count: int, work: Callable[[], Ratings]) -> Sequence[str]:
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    each = [1000 * it / (count + 1) for it in taken]
    return name, f"{count + 1:,}", spread(taken, ".2f"), spread(each, ".3f")


def pairs(models: int, matches: int) -> list[Game]:
    """Play matches between models drawn by lot, with some ties."""
    rng = np.random.default_rng(models)
    strengths = rng.normal(size=models)
    one = rng.integers(0, models, matches)
    other = (one + rng.integers(1, models, matches)) % models
    p = 1 / (1 + np.exp(strengths[other] - strengths[one] - 0.2))
    score = np.where(rng.random(matches) < 0.1, 0.5, rng.random(matches) < p)
    return [(f"m{a:03}", f"m{b:03}", float(s)) for a, b, s in zip(one, other, score, strict=True)]


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
