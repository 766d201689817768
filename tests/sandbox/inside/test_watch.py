"""What processes hold together, while they come and go and whoever looks is slow.

The processes are made up: what each has is a function of time, and every look at one takes time.
"""

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from raybench.sandbox.inside import kernel, watch
from raybench.sandbox.inside.watch import Proc

FIRST = 1 << 23
"""No process has such a number: nothing of the machine's own is looked at."""
LIMIT, OTHERS = 512, 30
PAGES = watch._MB // watch._PAGE

Has = tuple[float, float]
"""What lies in memory of a process, and its part of that: MiB."""
World = Callable[[float], dict[int, Has]]
"""Says by the time who lives and what each has; who has ended and is not waited for has nothing."""


@dataclass
class Machine(Proc):
    """A /proc of processes that are made up."""

    world: World
    wall_s: float
    """How long a look at one takes."""
    cpu_s: float = 0.0005
    """And how long it has the processor for it."""
    alike: set[tuple[int, int]] = field(default_factory=set)
    """Who share all of their memory."""
    looks: list[int] = field(default_factory=list)
    now: float = 0.0
    """By the clock of those who are looked at, who wait where they are told to."""
    cpu: float = 0.0
    waits: bool = False

    def memory_mb(self) -> float:
        return self.usage(0, 0.0, LIMIT).memory_mb

    def _below(self, init: int) -> Iterator[tuple[int, list[str]]]:
        for task, (size, _) in self.world(self.now).items():
            state = "Z" if not size else "T" if self.waits else "S"
            fields = [state, *["0"] * watch._RSS]
            fields[watch._RSS] = str(round(size * PAGES))
            yield FIRST + task, fields

    def _stat(self, place: int | str) -> list[str]:
        return []

    def _threads(self, pid: int) -> list[str]:
        return []

    def _tell(self, pid: int, what: signal.Signals) -> None:
        self.waits = what == signal.SIGSTOP

    def _exact_mb(self, task: int) -> float:
        self.now += 0.0 if self.waits else self.wall_s
        self.cpu += self.cpu_s
        self.looks.append(task - FIRST)
        return self.world(self.now).get(task - FIRST, (0.0, 0.0))[1]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Machine]:
    def made(world: World, wall_s: float, **more: float | set[tuple[int, int]]) -> Machine:
        of = Machine(world, wall_s, **more)  # type: ignore[arg-type]
        clock = SimpleNamespace(monotonic=lambda: of.now, thread_time=lambda: of.cpu)
        monkeypatch.setattr(watch, "time", clock)
        alike = {(FIRST + one, FIRST + other) for one, other in of.alike}

        def same(one: int, other: int) -> bool:
            return (one, other) in alike or (other, one) in alike

        monkeypatch.setattr(kernel, "same_memory", same)
        return of

    return made


def others(count: int = OTHERS) -> dict[int, Has]:
    """Return processes that share nearly all of what lies in memory of each."""
    return {100 + i: (220.0, 1.0) for i in range(count)}


def in_turn(now: float) -> dict[int, Has]:
    """A worker ends after a while, and another one takes as much."""
    first, second = (300.0, 300.0), (300.0, 300.0)
    return {1: first} if now < 0.05 else {2: second} if now > 0.1 else {}


def forked(now: float) -> dict[int, Has]:
    """A parent has three children after a while, who share with it all that it has."""
    return {1: (300.0, 300.0)} if now < 0.05 else dict.fromkeys(range(1, 5), (300.0, 75.0))


def handed_over(now: float) -> dict[int, Has]:
    """Two are there from the beginning to the end, and one has what the other had."""
    much, little = (300.0, 300.0), (20.0, 20.0)
    return {1: much, 2: little} if now < 0.05 else {1: little, 2: much}


@pytest.mark.parametrize("world", [in_turn, forked, handed_over])
@pytest.mark.parametrize("wall_s", [0.001, 0.005, 0.011, 0.02, 0.04, 0.07, 0.2])
@pytest.mark.parametrize("count", [2, OTHERS])
def test_who_never_holds_too_much_is_let_be_however_slow_the_look(
    world: World, count: int, wall_s: float, machine: Callable[..., Machine]
) -> None:
    of = machine(lambda now: others(count) | world(now), wall_s)
    assert of.memory_mb() <= LIMIT


def test_of_those_who_have_ended_nothing_counts(machine: Callable[..., Machine]) -> None:
    """Neither where all is below the limit."""
    of = machine(lambda now: others() | in_turn(now), 0.01)
    assert of.memory_mb() == pytest.approx(300 + OTHERS)


def test_who_waits_to_be_waited_for_is_not_looked_at(machine: Callable[..., Machine]) -> None:
    def ended(now: float) -> dict[int, Has]:
        return {1: (500.0, 300.0), 2: (400.0, 100.0)} | {10 + i: (0.0, 0.0) for i in range(500)}

    of = machine(ended, 0.04)
    assert of.memory_mb() == pytest.approx(400)
    assert of.looks == [1, 2]


@pytest.mark.parametrize("wall_s", [0.001, 0.01, 0.04])
def test_too_much_is_seen_by_the_largest_alone(
    wall_s: float, machine: Callable[..., Machine]
) -> None:
    def bomb(now: float) -> dict[int, Has]:
        return others() | dict.fromkeys(range(6), (250.0, 190.0))

    of = machine(bomb, wall_s)
    assert LIMIT < of.memory_mb() < math.inf
    assert len(of.looks) == 6


def test_too_much_is_seen_although_it_grows_while_others_are_looked_at(
    machine: Callable[..., Machine],
) -> None:
    """They take long, and are not looked at once more."""

    def grows(now: float) -> dict[int, Has]:
        grown = min(256.0, 1.0 + 2000 * now)
        return {100 + i: (20.0, 19.0) for i in range(OTHERS)} | dict.fromkeys(
            range(6), (grown, grown)
        )

    of = machine(grows, 0.01)
    assert LIMIT < of.memory_mb() < math.inf
    assert of.cpu < watch._SHORT_LOOK_S


@pytest.mark.parametrize("wall_s", [0.01, 0.04, 0.1, 0.4])
def test_who_takes_long_to_look_at_does_not_grow_meanwhile(
    wall_s: float, machine: Callable[..., Machine]
) -> None:
    """However seldom whoever looks has the processor."""

    def grows(now: float) -> dict[int, Has]:
        grown = 1.0 + 300 * now
        return {100 + i: (20.0, 10.0) for i in range(20)} | dict.fromkeys(range(6), (grown, grown))

    of = machine(grows, wall_s, cpu_s=0.01)
    while of.memory_mb() <= LIMIT:
        of.now += 0.03
    began, looks = of.now, len(of.looks)
    assert looks > 2
    held = sum(own for _, own in grows(began).values())
    assert held <= LIMIT + 6 * 300 * (0.03 + 2 * wall_s)
    assert not of.waits


def test_nobody_waits_where_the_look_is_short(machine: Callable[..., Machine]) -> None:
    told: list[int] = []
    of = machine(lambda now: others(9) | {1: (300.0, 300.0)}, 0.04, cpu_s=0.0005)
    of._tell = lambda pid, what: told.append(pid)  # type: ignore[method-assign]
    assert of.memory_mb() == pytest.approx(309)
    assert not told


_FAMILY = """
import os, signal, sys, time
for stops in (False, True):
    if os.fork() == 0:
        if stops:
            os.kill(os.getpid(), signal.SIGSTOP)
        while True:
            time.sleep(0.001)
print("ready", flush=True)
sys.stdin.read()
os.killpg(0, signal.SIGKILL)
"""


@pytest.mark.process
def test_all_wait_meanwhile_and_then_go_on_but_who_was_stopped_by_another() -> None:
    proc = Proc()

    def states() -> list[str]:
        return [fields[0] for _, fields in proc._below(family.pid)]

    def until(state: str, count: int) -> None:
        end = time.monotonic() + 120
        while states().count(state) != count:
            assert time.monotonic() < end, states()
            time.sleep(0.01)

    with subprocess.Popen(
        [sys.executable, "-c", _FAMILY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as family:
        assert family.stdout is not None
        family.stdout.readline()
        until("T", 1)
        with proc._stopped(family.pid):
            until("T", 2)
        until("T", 1)
        os.killpg(family.pid, signal.SIGKILL)


@pytest.mark.parametrize("life_s", [0.004, 0.005, 0.01])
def test_too_much_that_goes_from_one_to_the_next_is_not_looked_at_for_ever(
    life_s: float, machine: Callable[..., Machine]
) -> None:
    """Three at a time live for a few looks each, and then others have all that they had."""

    def chain(now: float) -> dict[int, Has]:
        born = 3 * int(now / life_s)
        return dict.fromkeys(range(born, born + 3), (400.0, 400.0))

    of = machine(chain, 0.001, cpu_s=0.001)
    assert of.memory_mb() > LIMIT
    assert of.cpu < watch._LONGEST_LOOK_S + 0.01


def test_whoever_takes_too_long_to_look_at_is_not_looked_at_for_twice_as_long(
    machine: Callable[..., Machine],
) -> None:
    of = machine(lambda now: dict.fromkeys(range(9), (250.0, 100.0)), 0.04, cpu_s=0.04)
    assert of.memory_mb() == math.inf
    assert of.cpu < watch._LONGEST_LOOK_S + 2 * 0.04


def test_thousands_are_looked_at_once_each_while_they_wait(
    machine: Callable[..., Machine],
) -> None:
    def thousands(now: float) -> dict[int, Has]:
        passing = int(now / 0.005)
        return dict.fromkeys(range(2000), (9.0, 0.1)) | {10_000 + passing: (9.0, 0.1)}

    of = machine(thousands, 0.002, cpu_s=0.0001)
    assert of.memory_mb() == pytest.approx(200, abs=1)
    assert len(of.looks) <= len(set(of.looks)) + watch._SHORT_LOOK_S / 0.0001 + 1


def test_a_memory_that_two_share_counts_once_also_when_the_first_has_ended(
    machine: Callable[..., Machine],
) -> None:
    def alike(now: float) -> dict[int, Has]:
        owners = {1: (300.0, 300.0)} if now < 0.05 else {}
        return {**others(), **owners, 2: (300.0, 300.0)}

    of = machine(alike, 0.01, alike={(1, 2)})
    assert of.memory_mb() == pytest.approx(300 + OTHERS)
