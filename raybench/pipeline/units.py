"""What a run of benchmarks consists of: units, their names and seeds, and the jobs they travel in.

A unit is one asking of one question of one model. Its record carries what names it; a job is as
many questions as travel together, of one benchmark and for one model.
"""

import hashlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import Any

FEWEST, MOST, SLOW_UNITS = 32, 128, 8
"""Units of a job, and of one that takes long: its batch comes back when all are done, and only then
does it count. Large ones cost least, small ones lose least when the run is killed. Endpoints are
slower, and what they once said cannot always be had again; replies that are programs have to be
run."""
_JOBS = 64
"""Into so many jobs a model's work is cut, where they then are neither too large nor too small."""


@dataclass(frozen=True, slots=True)
class Questions:
    """One benchmark's questions as they lie on the disk, and how often each is asked."""

    benchmark: str
    shards: Sequence[tuple[str, int]]
    """Files of JSON lines, and how many each has."""
    repeats: int
    slow: bool = False
    """Grading takes long."""
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


def jobs(
    engines: Sequence[Sequence[str]],
    slots: int,
    questions: Sequence[Questions],
    remote: Container[str] = (),
) -> list[Job]:
    """Return all jobs in the order in which they start; models that are `remote` get small ones.

    `engines` has the models of each engine. As many engines as there are slots are fed in turn; the
    next ones follow when these have had all of their work, so that none is swapped in twice. An
    engine has one job of each model and benchmark first, so that how long each takes shows soon.
    """
    units = sum(rows * part.repeats for part in questions for _, rows in part.shards)
    most = min(MOST, max(FEWEST, units // _JOBS))
    ordered = []
    for begin in range(0, len(engines), slots):
        fed = [
            _first_of_each(
                job
                for model in engine
                for job in _jobs_of(model, questions, SLOW_UNITS if model in remote else most)
            )
            for engine in engines[begin : begin + slots]
        ]
        ordered += [job for turn in zip_longest(*fed) for job in turn if job is not None]
    return ordered


def _first_of_each(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs with the first one of each model and benchmark before the others."""
    first: dict[tuple[str, str], Job] = {}
    others = [job for job in jobs if first.setdefault((job.model, job.benchmark), job) is not job]
    return [*first.values(), *others]


def _jobs_of(model: str, questions: Sequence[Questions], most: int) -> Iterator[Job]:
    for part in questions:
        bound = min(most, SLOW_UNITS) if part.slow else most
        step = max(1, bound // part.repeats)
        for shard, rows in part.shards:
            for start, stop in _cut(part.starts.get(shard, range(rows)), rows, step):
                for first in range(0, part.repeats, bound):  # of one question, where there are many
                    repeats = min(bound, part.repeats - first)
                    yield Job(model, part.benchmark, shard, start, stop, repeats, first)


def _cut(starts: Sequence[int], rows: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of stretches of so many rows, or more where none may begin earlier."""
    cuts = [0]
    for start in starts:
        if start - cuts[-1] >= step:
            cuts.append(start)
    yield from pairwise([*cuts, rows] if rows else [])
