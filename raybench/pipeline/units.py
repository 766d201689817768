"""What a run of benchmarks consists of: units, their names and seeds, and the jobs they travel in.

A unit is one asking of one question of one model. Its record carries what names it; a job is some
questions of one benchmark for one model, which are read together.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

_LEAST, _MOST, _JOBS = 8, 64, 64
"""Units of a job, as far as chains allow: a model's work at a benchmark is cut into 64 jobs where
these are then neither too small nor too large."""


@dataclass(frozen=True, slots=True)
class Questions:
    """One benchmark's questions as they lie on the disk, and how often each is asked."""

    benchmark: str
    shards: Sequence[tuple[str, int]]
    """Files of JSON lines, and how many each has."""
    repeats: int
    starts: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Where a job may begin in a shard, counted from 0, if not anywhere: at no question that
    follows another."""


@dataclass(frozen=True, slots=True)
class Job:
    """Some consecutive questions of a shard for one model."""

    model: str
    benchmark: str
    shard: str
    start: int
    stop: int
    repeats: int
    first: int = 0
    """The first of the repeats."""

    @property
    def units(self) -> int:
        """Return how many units it has."""
        return (self.stop - self.start) * self.repeats


def unit_id(record: Mapping[str, Any]) -> int:
    """Return the number by which a unit is known; the record may hold more than what names it."""
    names = (str(record[part]) for part in ("model", "benchmark", "language", "key", "repeat"))
    digest = hashlib.blake2b("\x1f".join(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def unit_seed(seed: int, record: Mapping[str, Any]) -> int:
    """Derive the request's own seed: whenever it is sent, whatever its model is called."""
    names = (str(record[part]) for part in ("benchmark", "language", "key", "repeat"))
    digest = hashlib.sha256(f"{seed}/{'/'.join(names)}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def jobs(models: Iterable[str], questions: Sequence[Questions]) -> list[Job]:
    """Return all jobs of the models, in the order in which each begins its own.

    A model has the same share of every benchmark behind it, as far as may be: what its replies are
    like, and how long the rest takes, shows soon, and programs run and judges work from the start.
    """
    found = []
    for model in models:
        shares: list[tuple[float, Job]] = []
        for part in questions:
            before, units = 0, sum(rows for _, rows in part.shards) * part.repeats
            for job in _jobs_of(model, part):
                shares.append((before / units, job))
                before += job.units
        found += [job for _, job in sorted(shares, key=lambda share: share[0])]
    return found


def _jobs_of(model: str, part: Questions) -> Iterator[Job]:
    """Yield a model's jobs of one benchmark."""
    units = sum(rows for _, rows in part.shards) * part.repeats
    most = min(_MOST, max(_LEAST, units // _JOBS))
    for shard, rows in part.shards:
        starts = part.starts.get(shard, range(rows))
        for start, stop in _cut(starts, rows, max(1, most // part.repeats)):
            for first in range(0, part.repeats, _MOST):  # of one question, where many
                repeats = min(_MOST, part.repeats - first)
                yield Job(model, part.benchmark, shard, start, stop, repeats, first)


def _cut(starts: Sequence[int], rows: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of stretches of this many rows, or more where none may begin earlier."""
    cuts = [0]
    for start in starts:
        if start - cuts[-1] >= step:
            cuts.append(start)
    yield from pairwise([*cuts, rows] if rows else [])
