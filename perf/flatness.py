"""Did what was seen of processes stay flat? The verdict, the table and the picture of a soak.

    python -m perf.flatness soak    # anew, of what `python -m perf.soak` left in that folder

Warm-up is the first quarter. Then, for each role, the median of the last quarter is held to that of
the second, a process on average. Of all processes together the sums are, and their means: what
comes and goes is in them, and their middle jumps from one kind of short run to another. Flat is
what grew by no more than `SHARE` of itself, or `LEAST_MIB` of memory, or `FEW` descriptors, threads
and processes. Of these the peak has to have grown as well, over that of all the first half: Ray's
log monitor opens logs until it has 200, closes them all and begins anew, and the middle of that is
anywhere; its control store has 15 more or less for half an hour. What leaks is at its peak at the
end, so that warm-up hides nothing of it. A driver keeps what it concludes from: its memory may grow
by `KEPT` for each unit that it finished in between, however long that took. The slope (Theil-Sen,
of all after warm-up) says what an hour would add, and of a driver what a unit did add.
"""

import csv
import itertools
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

SHARE, LEAST_MIB, FEW = 0.05, 8.0, 3.0
KEPT = {"index": 0.25, "programs": 1.5, "games": 3.0, "peers": 24.0}
"""KiB for each unit of the long runs: of a benchmark (measured: 0.08, and 1.2 of those that ran
programs), a match (1.9), and an iteration with its tasks, answers and ratings (18)."""
TOTAL, SHORT = "all processes", "short runs"
_DRIVER = "driver, long "
_ROW = "{:<34} {:>4} {:>8} {:>8} {:>9} {:>8} {:>7} {:>7} {:>5} {:>5}  {}"
_HEAD = (
    "role", "n", "MiB", "then", "MiB/hour", "KiB/unit", "files", "then", "thr.", "then", "",
)  # fmt: skip
_COUNTED: Mapping[str, Callable[["Stretch"], float]] = {
    "descriptors": lambda it: it.files,
    "threads": lambda it: it.threads,
    "processes": lambda it: it.processes,
}
Statistic = Callable[[Sequence[float]], float]
_NAMES = ("seconds", "role", "processes", "pss_bytes", "files", "threads", "done")


def driver(name: str) -> str:
    """Return the role of a long run's driver."""
    return f"{_DRIVER}{name}"


@dataclass(frozen=True, slots=True)
class Sample:
    """What the processes of a role had at one time."""

    at: float
    role: str
    processes: int
    pss: int
    files: int
    threads: int
    done: int = 0
    """The units that a driver had finished."""


class Rows:
    """The file of what was seen, to which is added at once: hours are long, and may be cut off."""

    def __init__(self, folder: Path) -> None:
        self._path = _path(folder)
        with self._path.open("w", newline="") as file:
            csv.writer(file).writerow(_NAMES)

    def add(self, it: Sample) -> None:
        """Write one down."""
        with self._path.open("a", newline="") as file:
            csv.writer(file).writerow((f"{it.at:.1f}", *astuple(it)[1:]))


def read(folder: Path) -> list[Sample]:
    """Return what was seen."""
    with _path(folder).open(newline="") as file:
        return [
            Sample(float(at), role, *map(int, counts))
            for at, role, *counts in itertools.islice(csv.reader(file), 1, None)
        ]


def _path(folder: Path) -> Path:
    return folder / "samples.csv"


@dataclass(frozen=True)
class Stretch:
    """What a process of a role had, or all together, in a stretch of time."""

    processes: float
    mib: float
    files: float
    threads: float
    done: float

    @classmethod
    def of(cls, samples: Sequence[Sample], one: Statistic, *, each: bool) -> "Stretch":
        """Return one figure for all of it: of `each` process, or of the sums of all."""

        def figure(name: str) -> float:
            return one([getattr(it, name) / (it.processes if each else 1) for it in samples])

        return cls(
            one([it.processes for it in samples]),
            figure("pss") / 2**20,
            figure("files"),
            figure("threads"),
            one([it.done for it in samples]),
        )


def table(samples: Sequence[Sample], complaints: list[str]) -> Iterator[str]:
    """Yield a line for each role that was there in both quarters; complain of what grew."""
    last = samples[-1].at
    yield _ROW.format(*_HEAD)
    by = _by_role(samples)
    for role, them in sorted(by.items()):
        first = [it for it in them if last / 4 < it.at <= last / 2]
        then = [it for it in them if it.at > 3 * last / 4]
        looks = len({it.at for it in by[TOTAL] if it.at > 3 * last / 4})
        if not first or len(then) < looks / 2 or role == SHORT:
            continue
        whole = role == TOTAL
        middle = statistics.fmean if whole else statistics.median
        was, now = (Stretch.of(it, middle, each=not whole) for it in (first, then))
        half = [it for it in them if it.at <= last / 2]
        before, after = (Stretch.of(it, max, each=not whole) for it in (half, then))
        grown = [
            *_more_memory(was, now, KEPT.get(role.removeprefix(_DRIVER), 0)),
            *_more_things(was, now, before, after),
        ]
        complaints += [f"{role}: {it}" for it in grown]
        slope = _slope([it for it in them if it.at > last / 4], each=not whole)
        more = now.done - was.done
        yield _ROW.format(
            role[:34], f"{now.processes:.3g}", f"{was.mib:.1f}", f"{now.mib:.1f}", f"{slope:+.1f}",
            f"{1024 * (now.mib - was.mib) / more:.2f}" if more else "",
            f"{was.files:.0f}", f"{now.files:.0f}", f"{was.threads:.0f}", f"{now.threads:.0f}",
            "not flat" if grown else "flat",
        )  # fmt: skip


def _by_role(samples: Sequence[Sample]) -> Mapping[str, list[Sample]]:
    by: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by[sample.role].append(sample)
    return by


def _more_memory(was: Stretch, now: Stretch, kept: float) -> Iterator[str]:
    allowed = max(SHARE * was.mib, LEAST_MIB, kept * (now.done - was.done) / 1024)
    if now.mib - was.mib > allowed:
        yield f"memory grew from {was.mib:.1f} to {now.mib:.1f} MiB"


def _more_things(was: Stretch, now: Stretch, most: Stretch, most_now: Stretch) -> Iterator[str]:
    for what, of in _COUNTED.items():
        pairs = (of(was), of(now)), (of(most), of(most_now))
        if all(after - before > max(SHARE * before, FEW) for before, after in pairs):
            yield f"{what} grew from {of(was):.0f} to {of(now):.0f}"


def _slope(samples: Sequence[Sample], *, each: bool) -> float:
    """Return the MiB that an hour adds: the median of the slopes between all samples."""
    step = max(1, len(samples) // 200)
    points = [(it.at / 3600, it.pss / 2**20 / (it.processes if each else 1)) for it in samples]
    pairs = itertools.combinations(points[::step], 2)
    slopes = [(there - here) / (later - early) for (early, here), (later, there) in pairs]
    return float(statistics.median(slopes)) if slopes else 0.0


def draw(samples: Sequence[Sample], folder: Path) -> None:
    """Draw a picture of what was seen."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    by = _by_role(samples)
    most = sorted(by, key=lambda role: -max(it.pss for it in by[role]))
    figure, axes = plt.subplots(3, sharex=True, figsize=(9, 10), layout="constrained")
    titles = ("memory (PSS), MiB", "open descriptors", "threads")
    for axis, title, name in zip(axes, titles, ("pss", "files", "threads"), strict=True):
        for role in most[:14]:
            unit = 2**20 if name == "pss" else 1
            values = [getattr(it, name) / unit for it in by[role]]
            axis.plot([it.at / 60 for it in by[role]], values, label=role, linewidth=1)
        axis.set(title=title, yscale="log")
    axes[-1].set_xlabel("minutes")
    axes[0].legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize=7)
    figure.savefig(folder / "soak.png", dpi=120)


def told(samples: Sequence[Sample], complaints: list[str], folder: Path) -> None:
    """Print the table and what is not as it should be, and leave them with the picture."""
    lines = [*table(samples, complaints)]
    text = "\n".join([*lines, *(complaints or ["everything is flat"])])
    (folder / "table.txt").write_text(f"{text}\n")
    print(text)
    draw(samples, folder)


if __name__ == "__main__":
    _where, _complaints = Path(sys.argv[1]), list[str]()
    told(read(_where), _complaints, _where)
    sys.exit(bool(_complaints))
