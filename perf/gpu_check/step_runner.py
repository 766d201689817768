"""Runs steps in worker processes, each within its deadline and all in a budget.

A step that fails, hangs or takes its process with it does not stop those after it.
"""

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from perf.gpu_check.claims import Measured, Row, Step, make_row, make_unmeasured_row
from perf.processes import Family

_CLOSE_S = 20.0
"""How long a worker has to take its engines down."""
_KILL_S = 5.0


class StepFailedError(Exception):
    """A step could not be measured; its worker may be asked for the next one."""


class WorkerEndedError(StepFailedError):
    """The process of a worker has ended before its step was measured."""


class Worker(Protocol):
    """A process that measures steps, one after the other."""

    def measure(self, step: Step, within_s: float) -> Measured:
        """Return what a step measured; raise TimeoutError or StepFailedError if it did not."""
        ...

    def end(self, within_s: float) -> None:
        """End it and all that it has started; politely, if it ends within this time."""
        ...


@dataclass
class Budget:
    """The time for all steps together."""

    seconds: float
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._until = self.clock() + self.seconds

    def left(self) -> float:
        """Return how long a step may take, so that its worker can still close."""
        return self._until - self.clock() - _CLOSE_S


def run_steps(
    steps: Sequence[Step],
    start: Callable[[Sequence[Step]], Worker],
    budget: Budget,
    gpus: int,
    report: Callable[[Row], None],
) -> list[Row]:
    """Measure steps and return their rows, in order; each is reported as soon as it is there.

    start: starts a worker for steps that share one.
    gpus: on how many GPUs.
    """
    rows: list[Row] = []

    def add(row: Row) -> None:
        rows.append(row)
        report(row)

    for _, group in groupby(steps, lambda step: step.worker):
        waiting = []
        for step in group:
            if step.gpus > gpus:
                add(make_unmeasured_row(step, "skipped", f"needs {step.gpus} GPUs"))
            else:
                waiting.append(step)
        while waiting:
            waiting = _measure_in_one_worker(waiting, start, budget, add)
    return rows


def _measure_in_one_worker(
    steps: Sequence[Step],
    start: Callable[[Sequence[Step]], Worker],
    budget: Budget,
    add: Callable[[Row], None],
) -> list[Step]:
    """Measure steps with one worker; return those that another one has to measure."""
    waiting, is_measured, worker = [*steps], False, None
    try:
        while waiting:
            step, began = waiting.pop(0), budget.clock()
            within_s = min(step.deadline_s, budget.left())
            if within_s <= 0:
                reason = f"not measured: the budget of {budget.seconds:.0f} s is used up"
                add(make_unmeasured_row(step, "fail", reason))
                continue
            reason, is_over = "", False
            try:
                worker = worker or start(steps)
                values = worker.measure(step, within_s)
            except TimeoutError:
                reason, is_over = f"not measured within {within_s:.0f} s", True
            except StepFailedError as error:
                reason, is_over = str(error), isinstance(error, WorkerEndedError)
            seconds = budget.clock() - began
            if not reason:
                add(make_row(step, values, seconds))
                is_measured = True
                continue
            add(make_unmeasured_row(step, "fail", reason, seconds))
            if not is_measured:
                for left in waiting:
                    add(make_unmeasured_row(left, "fail", f"not measured after {step.name}"))
                return []
            if is_over:
                return waiting
        return []
    finally:
        if worker is not None:
            worker.end(max(0.0, budget.left() + _CLOSE_S))


class WorkerProcess:
    """A worker that runs `python -m perf.gpu_check.measurements`."""

    def __init__(
        self,
        setting: Mapping[str, Any],
        steps: Sequence[Step],
        log: Path,
        environment: Mapping[str, str],
    ) -> None:
        """Start it. What it prints besides its measurements goes to a log."""
        self._family = Family()
        self._log = log
        self._unmeasured = len(steps)
        names = [step.name for step in steps]
        command = [sys.executable, "-m", "perf.gpu_check.measurements", json.dumps(setting), *names]
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, text=True,
                env=environment,
            )  # fmt: skip
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read_lines, daemon=True).start()

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return self._process.pid

    def measure(self, step: Step, within_s: float) -> Measured:
        """Return what the next step measured, which is this one."""
        try:
            line = self._lines.get(timeout=within_s)
        except queue.Empty:
            raise TimeoutError from None
        if not line:
            code = self._process.wait()
            raise WorkerEndedError(f"its process ended with code {code}; see {self._log}")
        self._unmeasured -= 1
        answer = json.loads(line)
        if answer["step"] != step.name:
            raise AssertionError(f"{answer['step']} was measured instead of {step.name}")
        if "error" in answer:
            raise StepFailedError(answer["error"])
        values: Measured = answer["values"]
        return values

    def end(self, within_s: float) -> None:
        """End it and all that it has started."""
        if not self._unmeasured:  # it takes its engines down
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(min(within_s, _CLOSE_S))
        self._family.end(_KILL_S)

    def _read_lines(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put("")
