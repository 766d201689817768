"""Does a unit cost the same in a run of a million, and does memory stay bounded?

    python -m perf.load [index games] [--units 10000 100000 1000000] [--matches 1000 10000 100000]
                        [--data FOLDER] [--games liars_dice]
                        [--halfway]

*index*: +experiment=index with a stand-in that answers at once, over MMLU-Pro where the folder (or
../shared/datasets) has it, and else over the shipped samples, whose short rows go quicker; asked as
often as makes about so many units. *games*: +experiment=games, four stand-ins of which each moves
at once. Each size is a run of its own, with a Ray of its own, report and MLflow included. The whole
takes about half an hour on two cores.

Printed of each size: units a second, and lines and bytes that all journals grow by, both while they
grow from a tenth to nine tenths of their size; processor time of a unit (of the whole family:
`perf/processes.py` says how it is summed), over all and in the work alone; what it took from the
last unit to the end; the most memory that the family held together (PSS), and the driver (RSS).
Processor time says what a unit costs also where others use the machine; units a second do not.

Processor time is dearer where others use the same processors and their caches. So a fixed piece of
work is timed beside each run, once a second, in processor time, too; "yard" is its median beside
that of the first run. It corrects nothing: where it is not about 1, the machine was not the same,
and costs compare badly.

Three things are held, and the exit code is 1 where one is not. *Units*: each is journalled once.
*Memory*: the family stays below `FAMILY`, the driver below `DRIVER`, at any size. *Cost*: a unit
more costs about as much between the last two sizes as between the first two: the processor time of
what is more, from the first unit to the end of the report, grows no faster than as its number to
the power of `EXPONENT`. What a start costs (with Ray some 25 seconds), and what every run's end
does, falls out of that.

`--halfway` kills the last size of each way at half of its journal, goes on with it, and tells what
that costs: the journal is read back, and nothing of it is done again.
"""

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from perf.data import DATASETS
from perf.processes import Family

FAMILY, DRIVER = 3.0, 1.0
"""GiB that all processes, and the driver alone, stay below."""
EXPONENT = 1.1
_HERE = Path(__file__).parents[1]
_WAYS = ("index", "games")
_LOOK_S, _MEMORY_S = 0.25, 1.0
_UNITS = "[um][na]*.jsonl"
"""Journals of units and of matches."""
_ROW = "{:>6} {:>9} {:>8} {:>9} {:>8} {:>9} {:>9} {:>8} {:>6} {:>8} {:>8}"
_HEAD = (
    "", "units", "units/s", "lines/s", "MB/s", "ms/unit", "in work", "end, s", "yard",
    "family", "driver",
)  # fmt: skip


@dataclass(frozen=True)
class Way:
    """A way of working under load."""

    name: str
    arguments: Sequence[str]
    questions: int = 0
    """How many there are to ask again and again; 0: units are matches."""

    def sized(self, units: int) -> list[str]:
        """Return the arguments for so many units, or a few more where they do not come out even."""
        if not self.questions:
            return [*self.arguments, f"games.matches={units}"]
        # A power of two fills jobs, of 128 units at most, whatever the size: 83 times each question
        # makes jobs of 83 units, and a unit half as dear again.
        repeats = 2 ** max(0, math.ceil(math.log2(units / self.questions)))
        limit = min(self.questions, math.ceil(units / repeats))
        return [*self.arguments, f"index.limit={limit}", f"index.repeats={repeats}"]


class Moment(NamedTuple):
    """How far a run was, and what it had taken by then."""

    at: float
    size: int
    """Bytes of all journals."""
    cpu_s: float


@dataclass
class Run:
    """What one run showed."""

    units: int = 0
    kept: int = 0
    """Lines that the journal has of them: as many, or something was done again."""
    lines: int = 0
    moments: list[Moment] = field(default_factory=list)
    family: int = 0
    driver: int = 0
    cpu_s: float = 0.0
    yards: list[float] = field(default_factory=list)
    """What the fixed piece of work took, each time."""
    most: dict[str, int] = field(default_factory=dict)
    """By role, the most that its processes held together."""

    def steady(self) -> tuple[float, float]:
        """Return the seconds and the processor time of the middle eight tenths."""
        whole = self.moments[-1].size
        begin = next(it for it in self.moments if it.size >= 0.1 * whole)
        end = next(it for it in self.moments if it.size >= 0.9 * whole)
        return max(end.at - begin.at, _LOOK_S), end.cpu_s - begin.cpu_s

    def working(self) -> float:
        """Return the processor time from the first unit to the end: without what a start costs."""
        return self.cpu_s - self.moments[0].cpu_s

    @property
    def yard(self) -> float:
        """Return the processor time that the fixed piece of work took in the middle."""
        return statistics.median(self.yards)

    def ending(self) -> float:
        """Return the processor time from the last unit to the end."""
        whole = self.moments[-1].size
        return self.cpu_s - next(it.cpu_s for it in self.moments if it.size == whole)


def main() -> None:
    """Measure every size of each way, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", default=_WAYS, type=_way)
    parser.add_argument("--units", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--matches", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--data", type=Path, default=DATASETS, help="folder with MMLU-Pro")
    parser.add_argument("--games", nargs="+", default=["liars_dice"], help="that are played")
    parser.add_argument("--halfway", action="store_true", help="kill the last size, and go on")
    asked = parser.parse_args()
    sizes = {"index": asked.units, "games": asked.matches}
    ways = {"index": _index(asked.data), "games": _games(asked.games)}
    family, complaints = Family(), list[str]()
    print(_ROW.format(*_HEAD), flush=True)
    for name in asked.ways:
        seen = []
        for units in sizes[name]:
            seen.append(measured(family, ways[name], units))
            print(_row(name, seen[-1], seen[0]), flush=True)
        print("  by role, at most:", _roles(seen[-1]), flush=True)
        complaints += _complaints(name, seen)
        if asked.halfway:
            halved = measured(family, ways[name], sizes[name][-1], halfway=True)
            print(_row("halved", halved, seen[0]), flush=True)
            complaints += _doubled(f"{name}, halved", halved)
    print(*(complaints or ["memory and cost are as stated"]), sep="\n")
    sys.exit(bool(complaints))


def _way(name: str) -> str:
    """Return the name of a way: argparse's choices would refuse the default, which is two."""
    if name not in _WAYS:
        raise argparse.ArgumentTypeError(f"'{name}' is none of {', '.join(_WAYS)}")
    return name


def measured(family: Family, way: Way, units: int, *, halfway: bool = False) -> Run:
    """Run about so many units and watch from outside."""
    run = Run()
    with TemporaryDirectory() as folder:
        at = Path(folder)
        command = [sys.executable, "-m", "raybench", f"+experiment={way.name}", *way.sized(units)]
        while True:
            with (at / "said").open("w+") as said:
                program = subprocess.Popen(
                    command, cwd=at, stdout=said, stderr=said,
                    env={**os.environ, "PYTHONPATH": str(_HERE)},
                )  # fmt: skip
                done = _watched(family, program, at, run, units if halfway else None)
                if not done:
                    family.end()
                    run, halfway = Run(), False
                    continue
                if program.returncode:
                    said.seek(0)
                    raise SystemExit(said.read())
                break
        (results,) = at.glob("runs/*/*/results.json")
        run.units = json.loads(results.read_text())["run"]["units"]
        run.lines = sum(map(_lines, results.parent.glob("journal/*.jsonl")))
        run.kept = sum(map(_lines, results.parent.glob(f"journal/{_UNITS}")))
    return run


def _watched(
    family: Family, program: "subprocess.Popen[bytes]", at: Path, run: Run, kill_of: int | None
) -> bool:
    """Note what a run takes until it has ended; False if it was killed at half of its units."""
    before, memory_at = family.cpu_s, 0.0
    journal = "runs/*/*/journal"
    while True:
        ended = program.poll() is not None
        there = family.look({program.pid})
        left = [it for it in there if not it.zombie]
        size = sum(it.stat().st_size for it in at.glob(f"{journal}/*.jsonl"))
        run.cpu_s = family.cpu_s - before
        if size:
            run.moments.append(Moment(time.monotonic(), size, run.cpu_s))
        if ended and not left:
            return True
        if time.monotonic() >= memory_at:
            by: dict[str, int] = {}
            for it in left:
                by[it.role] = by.get(it.role, 0) + it.pss()
            run.family = max(run.family, sum(by.values()))
            run.most = {role: max(by.get(role, 0), run.most.get(role, 0)) for role in by | run.most}
            run.driver = max(run.driver, *(it.rss for it in left if it.name.pid == program.pid), 0)
            run.yards.append(_yard())
            memory_at = time.monotonic() + _MEMORY_S
            kept = at.glob(f"{journal}/{_UNITS}")
            if kill_of and any(_lines(it) >= kill_of / 2 for it in kept):
                program.kill()
                program.wait()
                return False
        time.sleep(_LOOK_S)


def _yard() -> float:
    """Return the processor time of a fixed piece of work, of the kind that runs do."""
    begun = time.thread_time()
    for _ in range(20):
        hashlib.sha256(json.dumps(json.loads(_TEXT)).encode()).digest()
    return time.thread_time() - begun


_TEXT = json.dumps([{"key": str(it), "value": it / 7, "text": "a unit " * 8} for it in range(60)])


def _lines(journal: Path) -> int:
    with journal.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))


def _row(name: str, run: Run, first: Run) -> str:
    seconds, cpu_s = run.steady()
    return _ROW.format(
        name,
        f"{run.units:,}",
        f"{0.8 * run.units / seconds:,.0f}",
        f"{0.8 * run.lines / seconds:,.0f}",
        f"{0.8 * run.moments[-1].size / seconds / 1e6:.2f}",
        f"{1000 * run.cpu_s / run.units:.2f}",
        f"{1000 * cpu_s / 0.8 / run.units:.2f}",
        f"{run.ending():.1f}",
        f"{run.yard / first.yard:.2f}",
        f"{run.family / 2**30:.2f}",
        f"{run.driver / 2**30:.2f}",
    )


def _roles(run: Run) -> str:
    """Return who held most."""
    most = sorted(run.most.items(), key=lambda it: -it[1])[:8]
    return ", ".join(f"{role} {held / 2**20:.0f} MiB" for role, held in most)


def _complaints(name: str, seen: Sequence[Run]) -> Iterator[str]:
    """Yield what is not as it is stated."""
    for run in seen:
        yield from _doubled(name, run)
        for who, held, bound in (("family", run.family, FAMILY), ("driver", run.driver, DRIVER)):
            if held > bound * 2**30:
                yield f"{name}, {run.units:,} units: the {who} held more than {bound} GiB"
    costs = [
        ((later.working() - run.working()) / (later.units - run.units), later.units)
        for run, later in pairwise(seen)
    ]
    if len(costs) > 1:
        (first, small), (last, large) = costs[0], costs[-1]
        exponent = 1 + math.log(last / first) / math.log(large / small)
        print(
            f"{name}: a unit more costs {1000 * first:.2f} ms up to {small:,} units, "
            f"{1000 * last:.2f} ms up to {large:,}: cost "
            f"grows as units to the {exponent:.3f}"
        )
        if exponent > EXPONENT:
            yield f"{name}: cost grows faster than as units to the {EXPONENT}"


def _doubled(name: str, run: Run) -> Iterator[str]:
    """Yield whether something was done again, or is missing."""
    if run.kept != run.units:
        yield f"{name}: the journal has {run.kept:,} lines of {run.units:,} units"


def _index(folder: Path) -> Way:
    there = (folder / "mmlu_pro_test.jsonl").exists()
    return Way(
        "index",
        [
            f"data.dir={folder.absolute()}" if there else "data=samples",
            "index.benchmarks=[mmlu_pro]",
            "roster=simulated",
            "roster.models=[{name: stand-in, engine: simulated}]",
        ],
        questions=12_032 if there else 14,
    )


def _games(names: Sequence[str]) -> Way:
    models = [
        f"{{name: sim-{it}, engine: simulated, options: {{ability: 0.{it}}}}}" for it in range(2, 6)
    ]
    return Way(
        "games",
        [
            f"games.names=[{','.join(names)}]",
            "roster=simulated",
            f"roster.models=[{', '.join(models)}]",
        ],
    )


if __name__ == "__main__":
    main()
