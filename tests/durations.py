"""Measure where the time of the test suite goes: per phase, kind of test and file.

`make test ARGS=--durations-report` prints the summary; `--durations-report=FILE` also writes every
measurement as JSON. Wall seconds are those of pytest's own report. CPU seconds are those of the
worker and of its child processes that have ended; daemons (Ray, engines) are not among them.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tiers import kind_of

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

    def listen(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Record an audit event of the interpreter (`sys.addaudithook`)."""
        if event == "subprocess.Popen":
            command = arguments[1]
            words = [command] if isinstance(command, str | bytes) else list(command)
            self.programs.append(" ".join(os.fsdecode(word) for word in words[:4])[:120])
        elif event in ("os.fork", "os.forkpty", "os.posix_spawn"):
            self.programs.append(event)
        elif event == "time.sleep":
            self.slept += float(arguments[0])


class WorkerMeasurements:
    """Adds CPU seconds, started programs and sleeps to every report of this worker."""

    def __init__(self) -> None:
        self.observed = Observed()
        self.cpu: dict[str, float] = {}
        self.collection = (0.0, 0.0)
        sys.addaudithook(self.observed.listen)

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

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        """Note the start of a phase."""
        self._begin("call")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        """Note the start of a phase."""
        self._begin("teardown")

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


class Summary:
    """Collects the measurements of all workers and prints where the time went."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
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
            measurements = session.config.pluginmanager.get_plugin("measurements")
            self.collections.append(measurements.collection)
        if self.file is not None:
            rows = [asdict(row) for row in self.measurements]
            self.file.write_text(json.dumps({"collection": self.collections, "tests": rows}))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the summary."""
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
    walls: dict[str, Counter[str]] = {by: Counter() for by in ("phase", "kind", "file", "test")}
    cpus: dict[str, Counter[str]] = {by: Counter() for by in walls}
    for row in rows:
        for by in walls:
            walls[by][getattr(row, by)] += row.wall  # type: ignore[assignment]
            cpus[by][getattr(row, by)] += row.cpu  # type: ignore[assignment]
    walls["phase"]["collection"] = sum(wall for wall, _ in collected)  # type: ignore[assignment]
    cpus["phase"]["collection"] = sum(cpu for _, cpu in collected)  # type: ignore[assignment]
    tests = {
        by: Counter(key for key, _ in {(getattr(row, by), row.test) for row in rows})
        for by in ("kind", "file")
    }
    lines = ["", f"{'worker seconds':<64}{'wall':>9}{'CPU':>9}{'tests':>8}"]

    def table(title: str, by: str, keys: Iterable[str]) -> None:
        lines.append(title)
        for key in keys:
            count = str(tests[by][key]) if by in tests else ""
            lines.append(f"  {key[-62:]:<62}{walls[by][key]:>9.1f}{cpus[by][key]:>9.1f}{count:>8}")

    table("by phase", "phase", PHASES)
    table("by kind of test", "kind", [key for key, _ in walls["kind"].most_common()])
    table("ten slowest files", "file", [key for key, _ in walls["file"].most_common(10)])
    table("ten slowest tests", "test", [key for key, _ in walls["test"].most_common(10)])
    total, cpu = sum(walls["phase"].values()), sum(cpus["phase"].values())
    lines.append(f"{'total':<64}{total:>9.1f}{cpu:>9.1f}{len({row.test for row in rows}):>8}")
    lines.append(f"{'elapsed':<64}{elapsed:>9.1f}")
    return lines
