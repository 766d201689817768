"""Measure where the time of the test suite goes: per phase, kind of test and file.

`make test ARGS=--durations-report` prints the summary; `--durations-json=FILE` writes every
measurement as JSON. Wall seconds are those of pytest's own report. CPU seconds are those of the
worker and of its child processes that have ended; daemons (Ray, engines) are not among them.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tiers import kind_of

_SLEEP = time.sleep
PHASES = ("collection", "setup", "call", "teardown")


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass
class Observed:
    """What the running phase of a test did: the programs it started and the seconds it slept."""

    programs: list[str] = field(default_factory=list)
    slept: float = 0.0

    def clear(self) -> None:
        """Forget the last phase."""
        self.programs.clear()
        self.slept = 0.0

    def record_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an audit event of the interpreter (`sys.addaudithook`)."""
        if event == "subprocess.Popen":
            command = arguments[1]
            words = [command] if isinstance(command, str | bytes) else list(command)
            self.programs.append(" ".join(os.fsdecode(word) for word in words[:4])[:120])
        elif event in ("os.fork", "os.forkpty", "os.posix_spawn"):
            self.programs.append(event)

    def record_sleeps(self, sleep: Callable[[float], None]) -> Callable[[Any], None]:
        """Return a `time.sleep` that records: Python 3.11 raises no audit event for it."""

        def recording_sleep(seconds: Any) -> None:
            self.slept += float(seconds)
            sleep(seconds)

        return recording_sleep


class WorkerMeasurements:
    """Adds CPU seconds, started programs and sleeps to every report of this worker."""

    def __init__(self) -> None:
        self.observed = Observed()
        self.cpu: dict[str, float] = {}
        self.collection = (0.0, 0.0)
        sys.addaudithook(self.observed.record_event)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        """Measure the collection."""
        wall, cpu = time.perf_counter(), cpu_seconds()
        result = yield
        self.collection = (time.perf_counter() - wall, cpu_seconds() - cpu)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, Any, Any]:
        """Attach the measurements to the report; xdist carries them to the controller."""
        report: Any = yield
        report.cpu = cpu_seconds() - self.cpu.get(call.when, cpu_seconds())
        report.programs = list(self.observed.programs)
        report.slept = round(self.observed.slept, 2)
        report.kind = kind_of(item)
        return report

    def _begin(self, phase: str) -> None:
        self.observed.clear()
        self.cpu[phase] = cpu_seconds()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Note the start of a phase."""
        self._begin("setup")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note the start of a phase; record the sleeps of a test that counts as pure."""
        self._begin("call")
        if kind_of(item) != "pure":  # others may send `time.sleep` to Ray, which knows only its own
            return (yield)
        if time.sleep is not _SLEEP:  # a fixture has replaced it: nothing sleeps
            return (yield)
        time.sleep = self.observed.record_sleeps(_SLEEP)
        try:
            return (yield)
        finally:
            time.sleep = _SLEEP

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, Any, Any]:
        """Note the start of a phase; drop a recorder that a test's own patch has brought back."""
        self._begin("teardown")
        try:
            return (yield)
        finally:
            time.sleep = _SLEEP

    @pytest.hookimpl
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the time of the collection to the controller."""
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["collection"] = self.collection


@dataclass(frozen=True)
class Measurement:
    """One phase of one test."""

    test: str
    kind: str
    phase: str
    outcome: str
    wall: float
    cpu: float
    slept: float
    programs: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """Return the file of the test."""
        return self.test.partition("::")[0]


@dataclass
class Sum:
    """Seconds of a group of measurements, and the tests in it."""

    wall: float = 0.0
    cpu: float = 0.0
    tests: set[str] = field(default_factory=set)

    def add(self, wall: float, cpu: float, test: str | None = None) -> None:
        """Add one measurement."""
        self.wall += wall
        self.cpu += cpu
        if test is not None:
            self.tests.add(test)


class Summary:
    """Collects the measurements of all workers and prints where the time went."""

    def __init__(self, file: Path | None, printed: bool = True) -> None:
        self.file = file
        self.printed = printed
        self.measurements: list[Measurement] = []
        self.collections: list[tuple[float, float]] = []
        self.began = time.perf_counter()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the measurements of a report."""
        self.measurements.append(
            Measurement(
                test=report.nodeid,
                kind=getattr(report, "kind", "pure"),
                phase=report.when,
                outcome=report.outcome,
                wall=report.duration,
                cpu=getattr(report, "cpu", 0.0),
                slept=getattr(report, "slept", 0.0),
                programs=tuple(getattr(report, "programs", ())),
            )
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Keep the time that a worker took for its collection."""
        self.collections.append(getattr(node, "workeroutput", {}).get("collection", (0.0, 0.0)))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write every measurement as JSON where a file was named."""
        if not self.collections:  # without xdist this process collects
            measurements: Any = session.config.pluginmanager.get_plugin("measurements")
            self.collections.append(measurements.collection)
        if self.file is not None:
            rows = [asdict(row) for row in self.measurements]
            self.file.write_text(json.dumps({"collection": self.collections, "tests": rows}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary where it was asked for."""
        if not self.printed:
            return
        wall = time.perf_counter() - self.began
        for line in summary_lines(self.measurements, self.collections, wall):
            terminalreporter.write_line(line)


def summary_lines(
    measurements: Iterable[Measurement],
    collections: Iterable[tuple[float, float]],
    elapsed: float,
) -> list[str]:
    """Return the tables of the report: per phase, per kind, and the ten slowest files and tests."""
    rows = list(measurements)
    collected = list(collections)
    sums: dict[str, dict[str, Sum]] = {by: {} for by in ("phase", "kind", "file", "test")}
    for row in rows:
        for by, groups in sums.items():
            groups.setdefault(getattr(row, by), Sum()).add(row.wall, row.cpu, row.test)
    collection = sums["phase"].setdefault("collection", Sum())
    for wall, cpu in collected:
        collection.add(wall, cpu)
    lines = ["", f"{'wall':>9}{'CPU':>9}{'tests':>8}  worker seconds"]

    def append(title: str, entry: Sum) -> None:
        count = len(entry.tests) or ""
        lines.append(f"{entry.wall:>9.1f}{entry.cpu:>9.1f}{count:>8}  {title}")

    for title, by, most in (
        ("by phase", "phase", len(PHASES)),
        ("by kind of test", "kind", len(sums["kind"])),
        ("ten slowest files", "file", 10),
        ("ten slowest tests", "test", 10),
    ):
        lines.append(f"{'':>28}{title}")
        slowest = sorted(sums[by].items(), key=lambda named: -named[1].wall)
        for key, entry in slowest[:most]:
            append(f"  {key}", entry)
    total = Sum()
    for entry in sums["phase"].values():
        total.add(entry.wall, entry.cpu)
        total.tests |= entry.tests
    append("total", total)
    lines.append(f"{elapsed:>9.1f}{'':>17}  elapsed")
    return lines
