"""Hours at load on one long-lived Ray, as on a cluster: does every process stay what it was?

    python -m perf.soak --minutes 120 [--load 1] [--every 15] [--beside 1] [--out soak]

All models are simulated and take time. Four long runs go on side by side from beginning to end: an
index of choices, one of programs in the sandbox, games (jails and their programs among them) and
the peer protocol. Beside them short ones of each kind, `--beside` at once, one after the other, so
that drivers come and go, and actors and sandboxes with them. `--load` shortens the models' times.
In the end the long ones are interrupted.

Every few seconds all processes are looked at (`perf/processes.py`), and told by what they do:
memory (PSS), open descriptors, threads, and zombies. Warm-up is the first quarter. Then, for each
role, the median of the last quarter is held to that of the second, a process on average: flat is
memory that grew by no more than `MEMORY` of itself or `LEAST_MIB`, and descriptors and threads by
no more than `FEW`, or by what a role's number grew. Short runs' own drivers come and go and are
part of the total alone. The slope (Theil-Sen, of all after warm-up) says what an hour would add.

Exit code 1 where something is not flat, a zombie stays for longer than `ZOMBIE_S`, a run fails, or
a process is left that was not there before the runs. `--out` is where samples.csv, the table and a
picture of the memory go, and what the runs said.
"""

import argparse
import csv
import itertools
import math
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from perf.processes import Family, Name, Process

MEMORY, LEAST_MIB, FEW = 0.05, 8.0, 3.0
ZOMBIE_S = 60.0
_PATIENCE_S = 300.0
_STORE_MIB = 256
"""Ray Data's blocks run ahead until their store is full, and count as memory of who looked at them:
in a large one that takes hours."""
_BOUNDED = {
    "RAY_task_events_max_num_task_in_gcs": "2000",
    "RAY_maximum_gcs_destroyed_actor_cached_count": "100",
    "RAY_enable_metrics_collection": "0",
}
"""What Ray keeps of the past: its control store, of tasks and actors that are over (of its own it
is 100,000 of each, which takes days to get to), and its metrics, of every execution of Ray Data, in
an actor of the cluster (1.4 MB each, for ever)."""
_HERE = Path(__file__).parents[1]
_TOTAL, _SHORT = "all processes", "short runs"
_POOLED = ("IDLE", "default_worker", "setup_worker", "MapBatches(")
"""How the roles begin of workers that Ray keeps for whoever comes next, and of what they do."""
_WORKERS = "workers that Ray keeps"
_LASTING = {"ActorLocationTracker", "_AutoscalingCoordinatorActor", "_StatsActor", _WORKERS}
"""What a cluster has one of, or some, from the first run on: Ray Data's own, named and detached."""
_ROW = "{:<34} {:>4} {:>8} {:>8} {:>9} {:>7} {:>7} {:>5} {:>5}  {}"
_HEAD = ("role", "n", "MiB", "then", "MiB/hour", "files", "then", "thr.", "then", "")


def _models(count: int, latency_s: float) -> list[str]:
    of = ", ".join(
        f"{{name: sim-{it}, engine: simulated, options: {{ability: 0.{it}, "
        f"latency_s: {latency_s:.3g}}}}}"
        for it in range(1, count + 1)
    )
    return ["roster=simulated", f"roster.models=[{of}]"]


def long_ones(load: float, minutes: float) -> dict[str, list[str]]:
    """Return the runs that go on for longer than that."""
    many = load * minutes
    return {
        "index": [
            *_models(2, 60 / load),
            "+experiment=index", "data=samples", "benchmarks=[mmlu_pro,mgsm]",
            f"repeats={math.ceil(60 * many)}",
        ],
        "programs": [
            *_models(2, 60 / load),
            "+experiment=index", "data=samples", "benchmarks=[livecodebench]",
            f"repeats={math.ceil(40 * many)}",
        ],
        "games": [
            *_models(4, 1 / load),
            "+experiment=games", f"matches={math.ceil(10_000 * many)}", "at_once=32", "invalid=3",
            "names=[liars_dice,pyjail,poker]",
        ],
        "peers": [
            *_models(4, 1 / load),
            "+experiment=autobench", f"iterations={math.ceil(1000 * many)}", "at_once=8",
        ],
    }  # fmt: skip


def short_ones() -> Iterator[list[str]]:
    """Yield runs that end soon, without end."""
    for seed in itertools.count():
        few = [*_models(3, 0.2), f"seed={seed}"]
        yield [*few, "+experiment=index", "data=samples", "limit=2", "repeats=1"]
        yield [*few, "+experiment=games", "matches=60", "names=[liars_dice,mathquiz,werewolf]"]
        yield [*few, "+experiment=autobench", "iterations=6"]


@dataclass(frozen=True, slots=True)
class Sample:
    """What the processes of a role had at one time."""

    at: float
    role: str
    processes: int
    pss: int
    files: int
    threads: int


class _Rows:
    """The file of what was seen, to which is added at once: hours are long, and may be cut off."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("w", newline="") as file:
            csv.writer(file).writerow(
                ("seconds", "role", "processes", "pss_bytes", "files", "threads")
            )

    def add(self, it: Sample) -> None:
        with self._path.open("a", newline="") as file:
            row = (f"{it.at:.1f}", it.role, it.processes, it.pss, it.files, it.threads)
            csv.writer(file).writerow(row)


class Watch:
    """Looks at everything again and again."""

    def __init__(self, family: Family, out: Path) -> None:
        self._family = family
        self._rows = _Rows(out / "samples.csv")
        self._begun = time.monotonic()
        self.samples: list[Sample] = []
        self.zombies: dict[Name, tuple[float, str]] = {}
        """Those that are there: since when, and what they were."""
        self.stayed: dict[Name, str] = {}
        """Those that were there for too long."""

    @property
    def at(self) -> float:
        """Return the seconds since the beginning."""
        return time.monotonic() - self._begun

    def roles(self, named: Mapping[int, str]) -> dict[str, list[Process]]:
        """Return the living processes by their roles; those in `named` have another one."""
        there = self._family.look(named)
        by: dict[str, list[Process]] = defaultdict(list)
        for process in there:
            if not process.zombie:
                role = named.get(process.name.pid, process.role)
                by[_WORKERS if role.startswith(_POOLED) else role].append(process)
        zombies = {it.name: it.role for it in there if it.zombie}
        self.zombies = {
            name: self.zombies.get(name, (self.at, role)) for name, role in zombies.items()
        }
        self.stayed |= {
            name: role for name, (since, role) in self.zombies.items() if self.at - since > ZOMBIE_S
        }
        return by

    def look(self, named: Mapping[int, str]) -> None:
        """Note how things stand."""
        at, total = self.at, [0, 0, 0, 0]
        for role, them in self.roles(named).items():
            sums = [
                len(them),
                sum(it.pss() for it in them),
                sum(it.files() for it in them),
                sum(it.threads for it in them),
            ]
            total = [have + more for have, more in zip(total, sums, strict=True)]
            self._note(Sample(at, role, *sums))
        self._note(Sample(at, _TOTAL, *total))

    def _note(self, sample: Sample) -> None:
        self.samples.append(sample)
        self._rows.add(sample)


@dataclass(frozen=True)
class Stretch:
    """What a process of a role had on average, in the middle of a stretch of time."""

    processes: float
    mib: float
    files: float
    threads: float

    @classmethod
    def of(cls, samples: Sequence[Sample], *, each: bool) -> "Stretch":
        """Return the medians; not `each` process's but the sums of all."""

        def median(name: str) -> float:
            values = (getattr(it, name) / (it.processes if each else 1) for it in samples)
            return float(statistics.median(values))

        processes = statistics.median(it.processes for it in samples)
        return cls(processes, median("pss") / 2**20, median("files"), median("threads"))


def main() -> None:
    """Put everything under load, and say what became of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--load", type=float, default=1.0, help="2 halves the models' times")
    parser.add_argument("--every", type=float, default=15.0, help="seconds between looks")
    parser.add_argument("--beside", type=int, default=1, help="short runs at once")
    parser.add_argument("--out", type=Path, default=Path("soak"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    # Whoever was started in the background ignores it, and so would the runs, which end by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    family = Family()
    watch = Watch(family, asked.out)
    try:
        with TemporaryDirectory(prefix="s", ignore_cleanup_errors=True) as folder:
            complaints = _soaked(watch, asked, Path(folder))
    finally:
        family.end(0)
    table = "\n".join(_table(watch.samples, complaints))
    complaints += [f"a zombie stayed: {role} {name.pid}" for name, role in watch.stayed.items()]
    said = "\n".join(complaints or ["everything is flat"])
    (asked.out / "table.txt").write_text(f"{table}\n{said}\n")
    print(table, said, sep="\n")
    _draw(watch.samples, asked.out)
    sys.exit(bool(complaints))


def _soaked(watch: Watch, asked: argparse.Namespace, folder: Path) -> list[str]:
    """Have all runs go on for so long; return what went wrong with them."""
    complaints: list[str] = []
    with _ray(folder, asked.out) as (ray, address):
        environment = {**os.environ, "RAY_ADDRESS": address, "PYTHONPATH": str(_HERE)}

        def begun(arguments: Sequence[str], name: str) -> "subprocess.Popen[bytes]":
            with (asked.out / f"{name}.log").open("ab") as log:
                return subprocess.Popen(
                    [sys.executable, "-m", "raybench", *arguments],
                    cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip

        watch.look({ray: "ray start"})
        before = {it.role for it in watch.samples} | _LASTING
        endless = long_ones(asked.load, asked.minutes)
        runs = {f"driver, long {name}": begun(it, name) for name, it in endless.items()}
        short, more, ended = list["subprocess.Popen[bytes]"](), short_ones(), 0
        until, next_look = time.monotonic() + 60 * asked.minutes, 0.0
        while time.monotonic() < until:
            for name, run in runs.items():
                if run.poll() is not None:
                    return [*complaints, f"{name} ended: {run.returncode}; its log has why"]
            for run in [it for it in short if it.poll() is not None]:
                short.remove(run)
                ended += 1
                if run.returncode:
                    complaints.append(f"a short run failed: {run.returncode}; short.log has why")
            while len(short) < asked.beside:
                short.append(begun(next(more), "short"))
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + asked.every
                watch.look(
                    {ray: "ray start"}
                    | {run.pid: name for name, run in runs.items()}
                    | {run.pid: _SHORT for run in short}
                )
            time.sleep(0.5)
        done = {
            name: _lines(folder, run) for name, run in (("units", "index"), ("matches", "games"))
        }
        print(f"{ended} short runs ended; the long ones journalled {done} lines", flush=True)
        complaints += _ended([*runs.values(), *short])
        complaints += _left(watch, before, ray)
    return complaints


def _lines(folder: Path, experiment: str) -> int:
    """Return how much the journals of an experiment's runs hold."""
    found = folder.glob(f"runs/{experiment}/*/journal/[um]*.jsonl")
    return sum(it.read_bytes().count(b"\n") for it in found)


def _ended(runs: Sequence["subprocess.Popen[bytes]"]) -> Iterator[str]:
    """Interrupt what goes on; yield what does not end."""
    for run in runs:
        run.send_signal(signal.SIGINT)
    for run in runs:
        with suppress(subprocess.TimeoutExpired):
            run.wait(_PATIENCE_S)
            continue
        run.kill()
        yield f"a run did not end when it was interrupted: {run.args!r}"


def _left(watch: Watch, before: set[str], ray: int) -> Iterator[str]:
    """Yield what is left of the runs on a Ray that has none any more."""
    until = time.monotonic() + 2 * ZOMBIE_S
    while True:
        left = watch.roles({ray: "ray start"})
        over = {role: len(them) for role, them in left.items() if role not in before}
        if (not over and not watch.zombies) or time.monotonic() > until:
            break
        time.sleep(1)
    for role, count in over.items():
        yield f"left when all runs were over: {count} × {role}"


@contextmanager
def _ray(folder: Path, out: Path) -> Iterator[tuple[int, str]]:
    """Keep a cluster of this machine running; yield its first process, and its address."""
    import ray

    ports = _free(3)
    with (out / "ray.log").open("w+b") as log:
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "ray"), "start", "--head", "--block",
                "--disable-usage-stats", "--include-dashboard=false", "--num-cpus=8",
                f"--port={ports[0]}", f"--ray-client-server-port={ports[1]}",
                f"--dashboard-agent-listen-port={ports[2]}", f"--temp-dir={folder}/t",
                f"--object-store-memory={_STORE_MIB * 2**20}",
            ],
            env={
                **os.environ,
                "RAY_AUTH_MODE": "disabled", "PYTHONPATH": str(_HERE), "PYTHONUNBUFFERED": "1",
                **_BOUNDED,
            },
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + _PATIENCE_S
        while b"Ray runtime started" not in (told := (out / "ray.log").read_bytes()):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"Ray did not start:\n{told.decode()}")
            time.sleep(0.2)
        yield process.pid, f"{ray.util.get_node_ip_address()}:{ports[0]}"


def _free(count: int) -> list[int]:
    """Return ports that nobody has."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _table(samples: Sequence[Sample], complaints: list[str]) -> Iterator[str]:
    """Yield a line for each role that was there in both quarters; complain of what grew."""
    last = samples[-1].at
    yield _ROW.format(*_HEAD)
    by: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by[sample.role].append(sample)
    for role, them in sorted(by.items(), key=lambda it: it[0]):
        first = [it for it in them if last / 4 < it.at <= last / 2]
        then = [it for it in them if it.at > 3 * last / 4]
        looks = len({it.at for it in by[_TOTAL] if it.at > 3 * last / 4})
        if not first or len(then) < looks / 2 or role == _SHORT:
            continue
        whole = role == _TOTAL
        was, now = Stretch.of(first, each=not whole), Stretch.of(then, each=not whole)
        grown = [] if whole else [*_grown(was, now)]
        complaints += [f"{role}: {it}" for it in grown]
        slope = _slope([it for it in them if it.at > last / 4], each=not whole)
        yield _ROW.format(
            role[:34], f"{now.processes:g}", f"{was.mib:.1f}", f"{now.mib:.1f}",
            f"{slope:+.1f}", f"{was.files:.0f}", f"{now.files:.0f}", f"{was.threads:.0f}",
            f"{now.threads:.0f}", "" if whole else "not flat" if grown else "flat",
        )  # fmt: skip


def _grown(was: Stretch, now: Stretch) -> Iterator[str]:
    if now.mib - was.mib > max(MEMORY * was.mib, LEAST_MIB):
        yield f"memory grew from {was.mib:.1f} to {now.mib:.1f} MiB"
    for what, before, after in (
        ("descriptors", was.files, now.files),
        ("threads", was.threads, now.threads),
        ("processes", was.processes, now.processes),
    ):
        if after - before > FEW:
            yield f"{what} grew from {before:.0f} to {after:.0f}"


def _slope(samples: Sequence[Sample], *, each: bool) -> float:
    """Return the MiB that an hour adds: the median of the slopes between all samples."""
    step = max(1, len(samples) // 200)
    points = [(it.at / 3600, it.pss / 2**20 / (it.processes if each else 1)) for it in samples]
    pairs = itertools.combinations(points[::step], 2)
    slopes = [(there - here) / (later - early) for (early, here), (later, there) in pairs]
    return float(statistics.median(slopes)) if slopes else 0.0


def _draw(samples: Sequence[Sample], out: Path) -> None:
    """Draw a picture of what was seen."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    by: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by[sample.role].append(sample)
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
    figure.savefig(out / "soak.png", dpi=120)


if __name__ == "__main__":
    main()
