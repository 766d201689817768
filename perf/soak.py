"""Hours at load on one long-lived Ray, as on a cluster: does every process stay what it was?

    python -m perf.soak --minutes 120 [--load 1] [--every 15] [--beside 1] [--out soak]

All models are simulated and take time. Four long runs go on side by side from beginning to end: an
index of choices, one of programs in the sandbox, games (jails and their programs among them) and
the peer protocol. Beside them short ones of each kind, `--beside` at once, one after the other, so
that drivers come and go, and actors and sandboxes with them. `--load` shortens the models' times.
In the end the long ones are interrupted.

Every few seconds all processes are looked at (`perf/processes.py`), and told by what they do:
memory (PSS), open descriptors, threads, and zombies. What is flat says `perf/flatness.py`. Short
runs' own drivers come and go, and count in the sum of all alone.

Exit code 1 where something is not flat, a zombie stays for longer than `ZOMBIE_S`, a run fails, or
a process is left that was not there before the runs. `--out` is where samples.csv, the table and a
picture of the memory go, and what the runs said.
"""

import argparse
import itertools
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from perf import flatness
from perf.flatness import SHORT, TOTAL, Rows, Sample, driver
from perf.processes import Family, Name, Process

ZOMBIE_S = 60.0
_PATIENCE_S, _INTERRUPTED = 300.0, 130
_STORE_MIB = 256
"""Ray Data's blocks run ahead until their store is full, and count as memory of who looked at them:
in a large one that takes hours."""
_BOUNDED = {
    "RAY_task_events_max_num_task_in_gcs": "2000",
    "RAY_task_events_max_dropped_task_attempts_tracked_per_job_in_gcs": "2000",
    "RAY_maximum_gcs_destroyed_actor_cached_count": "100",
    "RAY_maximum_gcs_dead_worker_cached_count": "100",
    "RAY_enable_metrics_collection": "0",
    "RAY_local_gc_interval_s": "600",
}
"""What Ray keeps of the past: its control store, of tasks, actors and workers that are over (of its
own it is 100,000 of each, which takes days to get to), and the names of tasks of which it keeps
nothing else any more (a million for each job, some 60 MB); and its metrics, of every execution of
Ray Data, in an actor of the cluster (1.4 MB each, for ever).

And when its raylet asks all workers to collect their garbage, for which it connects to each and
stays so while that worker lives: every 90 minutes by default, so that in two hours a single time,
after warm-up, would pass for growth."""
_HERE = Path(__file__).parents[1]
_POOLED = ("IDLE", "default_worker", "setup_worker", "MapBatches(")
"""How the roles begin of workers that Ray keeps for whoever comes next, and of what they do."""
_WORKERS = "workers that Ray keeps"
_JOURNALS = {"index": "units", "programs": "units", "games": "matches", "peers": "iterations"}
"""What has a line for each unit of a long run."""
_LASTING = {"ActorLocationTracker", "_AutoscalingCoordinatorActor", "_StatsActor", _WORKERS}
"""What a cluster has one of, or some, from the first run on: Ray Data's own, named and detached."""


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


class Done:
    """How many units the long runs have finished: their journals are read as they grow."""

    def __init__(self, runs: Mapping[str, Path]) -> None:
        """Take the folders in which they were started, by their names."""
        self._runs = runs
        self._read, self._lines = dict.fromkeys(runs, 0), dict.fromkeys(runs, 0)

    def now(self) -> dict[str, int]:
        """Return them by the roles of the drivers."""
        for name, folder in self._runs.items():
            for journal in folder.glob(f"runs/*/*/journal/{_JOURNALS[name]}.jsonl"):
                with journal.open("rb") as file:
                    file.seek(self._read[name])
                    more = file.read()
                self._read[name] += len(more)
                self._lines[name] += more.count(b"\n")
        return {driver(name): lines for name, lines in self._lines.items()}


class Watch:
    """Looks at everything again and again."""

    def __init__(self, family: Family, out: Path) -> None:
        self._family = family
        self._rows = Rows(out)
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

    def look(
        self, named: Mapping[int, str], done: Mapping[str, int] = MappingProxyType({})
    ) -> None:
        """Note how things stand; `done` has what drivers have finished."""
        at, total = self.at, [0, 0, 0, 0]
        for role, them in self.roles(named).items():
            sums = (
                len(them),
                sum(it.pss() for it in them),
                sum(it.files() for it in them),
                sum(it.threads for it in them),
            )
            total = [have + more for have, more in zip(total, sums, strict=True)]
            self._note(Sample(at, role, *sums, done.get(role, 0)))
        self._note(Sample(at, TOTAL, *total))

    def _note(self, sample: Sample) -> None:
        self.samples.append(sample)
        self._rows.add(sample)


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
    complaints += [f"a zombie stayed: {role} {name.pid}" for name, role in watch.stayed.items()]
    flatness.told(watch.samples, complaints, asked.out)
    sys.exit(bool(complaints))


def _soaked(watch: Watch, asked: argparse.Namespace, folder: Path) -> list[str]:
    """Have all runs go on for so long; return what went wrong with them."""
    complaints: list[str] = []
    with _ray(folder, asked.out) as (ray, address):
        environment = {**os.environ, "RAY_ADDRESS": address, "PYTHONPATH": str(_HERE)}

        def begun(arguments: Sequence[str], name: str) -> "subprocess.Popen[bytes]":
            (own := folder / name).mkdir(exist_ok=True)
            with (asked.out / f"{name}.log").open("ab") as log:
                return subprocess.Popen(
                    [sys.executable, "-m", "raybench", *arguments],
                    cwd=own, env=environment, stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip

        watch.look({ray: "ray start"})
        before = {it.role for it in watch.samples} | _LASTING
        endless = long_ones(asked.load, asked.minutes)
        runs = {driver(name): begun(it, name) for name, it in endless.items()}
        done = Done({name: folder / name for name in endless})
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
                    | {run.pid: SHORT for run in short},
                    done.now(),
                )
            time.sleep(0.5)
        print(f"{ended} short runs ended; the long ones finished {done.now()}", flush=True)
        complaints += _ended([*runs.values()], short)
        complaints += _left(watch, before, ray, folder / "t", asked.out)
    return complaints


def _ended(
    runs: Sequence["subprocess.Popen[bytes]"], short: Sequence["subprocess.Popen[bytes]"]
) -> Iterator[str]:
    """Interrupt what goes on, and let the others end; yield what does not, or not as it should."""
    for run in runs:
        run.send_signal(signal.SIGINT)
    for run in [*runs, *short]:
        try:
            code = run.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            run.kill()
            yield f"a run did not end: {run.args!r}"
            continue
        if code not in (0, _INTERRUPTED if run in runs else 0):  # 0: it was over just then
            yield f"a run ended with {code}: {run.args!r}; its log has why"


def _left(watch: Watch, before: set[str], ray: int, session: Path, out: Path) -> Iterator[str]:
    """Yield what is left of the runs on a Ray that has none any more; keep what it says of them."""
    until = time.monotonic() + 2 * ZOMBIE_S
    while True:
        left = watch.roles({ray: "ray start"})
        over = {role: them for role, them in left.items() if role not in before}
        if (not over and not watch.zombies) or time.monotonic() > until:
            break
        time.sleep(1)
    for role, them in over.items():
        yield f"left when all runs were over: {len(them)} × {role}; left/ has what Ray says of it"
        for process in them:
            _keep(process.name.pid, session, out / "left")


def _keep(pid: int, session: Path, folder: Path) -> None:
    """Keep what a process waits for, and what it and Ray wrote of it: soon all that is gone."""
    folder.mkdir(exist_ok=True)
    for path in (Path(f"/proc/{pid}/{name}") for name in ("cmdline", "status", "stack", "wchan")):
        with suppress(OSError):
            (folder / f"{pid}.{path.name}").write_bytes(path.read_bytes())
    for log in session.glob(f"session_2*/logs/*{pid}.*"):
        shutil.copy(log, folder)


@contextmanager
def _ray(folder: Path, out: Path) -> Iterator[tuple[int, str]]:
    """Keep a cluster of this machine running; yield its first process, and its address."""
    ports = _free(3)
    with (out / "ray.log").open("w+b") as log:
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "ray"), "start", "--head", "--block",
                "--disable-usage-stats", "--include-dashboard=false", "--num-cpus=8",
                "--node-ip-address=127.0.0.1", f"--port={ports[0]}",
                f"--ray-client-server-port={ports[1]}",
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
        yield process.pid, f"127.0.0.1:{ports[0]}"


def _free(count: int) -> list[int]:
    """Return ports that nobody has."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


if __name__ == "__main__":
    main()
