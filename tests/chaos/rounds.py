"""A run that is disturbed again and again, begun anew where it ends, held against a calm one."""

import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest
from chaos.faults import FAULTS, TooLateError
from chaos.scenarios import Scenario
from chaos.schedule import Event
from chaos.world import World, right, told_by
from helpers import with_store
from undisturbed import Verdict, compared, count_units, journal

PATIENCE_S = 400
_KILLED = (-9, 137)


@dataclass
class Round:
    """What came of one run that was disturbed."""

    verdict: Verdict
    broke: list[str]
    """What broke in it."""
    late: list[str]
    """What it was over for."""
    begun: int
    """How often its command was given."""

    @property
    def whole(self) -> bool:
        """Whether it came to what it would have come to undisturbed."""
        return self.verdict == Verdict(self.verdict.planned, lost=0, doubled=0)


@dataclass
class Running:
    """A run whose command is given again whenever it ends without being done."""

    world: World
    scenario: Scenario
    folder: Path
    planned: int = 0
    slow: bool = False
    begun: int = 0
    told: list[str] = field(default_factory=list)
    """What its attempts have said."""
    _process: "subprocess.Popen[str] | None" = None
    _killed: bool = False

    def begin(self) -> None:
        """Give the command."""
        scratch = self.world.place / "scratch"
        scratch.mkdir(exist_ok=True)
        self.begun += 1
        self._killed = False
        with self._log.open("w") as log:
            self._process = self.world.lan.raybench(
                *self.scenario.command(self.world, self.folder.name, slow=self.slow),
                cwd=self.folder, scratch=scratch, told=log,
                environment={**self.scenario.environment, **told_by(self.world.clocks[0])},
            )  # fmt: skip

    def over(self) -> bool:
        """Tell whether it is done; give its command again where it has ended before."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return False
        if self._killed and self.has_results():
            return True  # a finished run is never touched again: the command would begin another
        told = self._log.read_text()
        self.told.append(told)
        if not (self._killed and code in _KILLED):
            assert "Traceback" not in told, told
            assert code in (0, 1), f"exit code {code}: {told}"
        if code:
            assert self.begun < 12, "\n".join([*self.told, *self.world.heard()])
            self.begin()
        return code == 0

    def kill(self) -> None:
        """Kill its driver."""
        assert self._process is not None
        self._killed = True
        for each in psutil.Process(self._process.pid).children():
            with suppress(psutil.Error):
                each.kill()
        self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """Return what it has started."""
        assert self._process is not None
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._process.pid).children(recursive=True)
        return []

    def says(self, line: str) -> bool:
        """Tell whether what it has said since its command was given last has something like it."""
        return re.search(line, self._log.read_text()) is not None

    def goes_on(self) -> bool:
        """Tell whether its process is there."""
        assert self._process is not None
        return self._process.poll() is None

    def has_results(self) -> bool:
        """Tell whether it has come to something."""
        runs = self.folder / "runs" / self.scenario.experiment
        return any(runs.glob("*/results.json"))

    def come_to(self, share: float) -> bool:
        """Wait until so much of it is done; return whether it goes on."""
        until = time.monotonic() + PATIENCE_S
        while not self.over():
            if self.done() >= share * self.planned > 0:
                return True
            if time.monotonic() > until:
                pytest.fail(f"it hangs at {self.done()} units:\n{self._log.read_text()}")
            time.sleep(0.25)
        return False

    def done(self) -> int:
        """Return how many units are in its journal."""
        return count_units(self.folder, self.scenario.experiment)

    @property
    def _log(self) -> Path:
        return self.world.place / f"{self.folder.name}.log"


def calm(world: World, scenario: Scenario, name: str) -> Path:
    """Have the run undisturbed; return where it was begun."""
    right(world)
    run = Running(world, scenario, with_store(world.disk / f"{name}-calm"))
    run.begin()
    run.come_to(2.0)
    assert run.begun == 1, "\n".join(run.told)
    return run.folder


def disturbed(
    world: World, scenario: Scenario, undisturbed: Path, events: Iterable[Event], name: str
) -> Round:
    """Have it disturbed, and say what it came to."""
    right(world)
    planned = len(journal(undisturbed, scenario.experiment))
    run = Running(world, scenario, with_store(world.disk / name), planned, slow=True)
    run.begin()
    broke, late, began = [], [], time.monotonic()

    def say(what: str) -> None:
        # Where a test fails, pytest shows it; who breaks things by hand watches it.
        print(
            f"{name} {time.monotonic() - began:6.1f} s {run.done()}/{planned}: {what}", flush=True
        )

    for event in events:
        going = run.come_to(event.after)
        try:
            if not going:
                raise TooLateError
            say(f"{event.fault} breaks")
            with FAULTS[event.fault](world, run, event):
                time.sleep(event.lasts_s)
                say(f"{event.fault} is mended")
            broke.append(event.fault)
        except TooLateError:
            late.append(event.fault)
            if not going:
                continue
    say("all is mended")
    run.come_to(2.0)
    say("over")
    verdict = compared(run.folder, undisturbed, scenario.experiment)
    return Round(verdict, broke, late, run.begun)


def figures(rounds: Sequence[Round]) -> Mapping[str, Any]:
    """Return what is to be said of some rounds."""
    return {
        "faults injected": sum(len(it.broke) for it in rounds),
        "survived": sum(len(it.broke) for it in rounds if it.whole),
        "units planned": sum(it.verdict.planned for it in rounds),
        "units lost": sum(it.verdict.lost for it in rounds),
        "units doubled": sum(it.verdict.doubled for it in rounds),
        "results otherwise": sum(bool(it.verdict.other) for it in rounds),
        "commands given": sum(it.begun for it in rounds),
        "of each": dict(sorted(Counter(name for it in rounds for name in it.broke).items())),
        "came too late": sum(len(it.late) for it in rounds),
    }
