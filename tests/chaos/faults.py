"""What can break in a run, each with how it is mended.

A fault is a context: on entering it something breaks, on leaving it what has to be mended is. Where
there is nothing to break yet, it is waited for. All that is killed is killed as kill -9 does. What
a run can go by without a look at it lasts until the run has said that it was felt.
"""

import errno
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

import psutil
from chaos.schedule import Event
from chaos.world import FAR, World, set_clock
from hosts import Host

_PATIENCE_S, _STORE_TIMES = 200, 7
_HOURS = (-26, -3, 5, 31)
"""By how much clocks are wrong: their dates are, too."""


class Victim(Protocol):
    """The run that is disturbed."""

    def over(self) -> bool:
        """Tell whether it has come to its end."""
        ...

    def kill(self) -> None:
        """Kill its driver."""
        ...

    def processes(self) -> list[psutil.Process]:
        """Return what it has started."""
        ...

    def says(self, line: str) -> bool:
        """Tell whether what it has said since its command was given last has something like it."""
        ...

    def goes_on(self) -> bool:
        """Tell whether its process is there."""
        ...

    def has_results(self) -> bool:
        """Tell whether it has come to something."""
        ...


class TooLateError(Exception):
    """The run was over before there was anything to break."""


Fault = Callable[[World, Victim, Event], AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {}
"""All faults, by name."""


def _fault(break_: Callable[[World, Victim, Event], Iterator[None]]) -> Fault:
    context = contextmanager(break_)
    FAULTS[break_.__name__.strip("_").replace("_", " ")] = context
    return context


@_fault
def _driver(world: World, run: Victim, event: Event) -> Iterator[None]:
    run.kill()
    yield


@_fault
def _clocks(world: World, run: Victim, event: Event) -> Iterator[None]:
    """The clock of a machine is set while it works, and the driver's before it is begun again."""
    for number, clock in enumerate(world.clocks):
        set_clock(clock, 3600 * _HOURS[(event.pick + number) % len(_HOURS)])
    time.sleep(event.lasts_s)
    run.kill()
    yield


@_fault
def _raylet(world: World, run: Victim, event: Event) -> Iterator[None]:
    """A machine is cut off, dies, and is there again."""
    host = world.far[event.of(world.far)]
    world.lan.cut(host)
    time.sleep(event.lasts_s)
    host.kill("raylet")
    yield
    world.lan.bring_back(host, *FAR)


@_fault
def _gcs(world: World, run: Victim, event: Event) -> Iterator[None]:
    """What knows the cluster dies, and comes up again with what it has on its disk."""
    first = world.lan.hosts[0]
    (gcs,) = first.processes(r"\S*gcs_server")
    command, environment = gcs.cmdline(), gcs.environ()
    gcs.kill()
    yield
    with (first.folder / "gcs.log").open("a") as log:
        first.run(*command, env=environment, stdout=log, stderr=log)


@_fault
def _gcs_for_good(world: World, run: Victim, event: Event) -> Iterator[None]:
    """That of a Ray that nobody has set up to outlive it: all of it ends, and the run."""
    (gcs,) = waited(lambda: [it for it in run.processes() if it.name() == "gcs_server"], run)
    gcs.kill()
    yield


@_fault
def _disk_full(world: World, run: Victim, event: Event) -> Iterator[None]:
    ballast = world.disk / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file:
            # Nobody finds what others have just given back.
            for _ in until_felt(run, r"No space left", event.lasts_s):
                try:
                    file.write(bytes(4096))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    time.sleep(0.02)
        yield
    finally:
        ballast.unlink()


@_fault
def _store_away(world: World, run: Victim, event: Event) -> Iterator[None]:
    """It takes requests and says nothing, now and then for longer than its own library waits."""
    least_s = _STORE_TIMES * event.lasts_s
    with world.service("store").paused():
        for _ in until_felt(run, r"cannot be reached|has not answered", least_s):
            time.sleep(0.1)
        yield


@_fault
def _tracking_server(world: World, run: Victim, event: Event) -> Iterator[None]:
    world.service("tracking").kill()
    yield
    world.service("tracking").start()


@_fault
def _endpoint_flaps(world: World, run: Victim, event: Event) -> Iterator[None]:
    """It hangs, refuses connections and cuts them off, again and again."""
    endpoint = world.service("endpoint")
    for _ in range(2):
        with endpoint.paused():
            time.sleep(event.lasts_s / 4)
        endpoint.kill()
        time.sleep(event.lasts_s / 4)
        endpoint.start()
    yield


def _killed(name: str, line: str, hosts: Callable[[World], Sequence[Host]] | None = None) -> None:
    """Have a fault be that one of the processes with such a command line is killed."""

    def process(world: World, run: Victim, event: Event) -> Iterator[None]:
        places = hosts(world) if hosts else world.far
        found = waited(lambda: [it for host in places for it in host.processes(line)], run)
        found[event.of(found)].kill()
        yield

    FAULTS[name] = contextmanager(process)


def waited(look: Callable[[], list[psutil.Process]], run: Victim) -> list[psutil.Process]:
    """Wait until there is something to break."""
    until = time.monotonic() + _PATIENCE_S
    while not (found := look()):
        if run.over() or time.monotonic() > until:
            raise TooLateError
        time.sleep(0.05)
    return sorted(found, key=lambda it: it.pid)


def until_felt(run: Victim, line: str, least_s: float) -> Iterator[None]:
    """Yield again and again, for so long at least, until the run has said something like that."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < least_s or not run.says(line):
        if run.has_results():
            raise TooLateError
        assert run.goes_on() or run.says(line), f"it ended, and does not say '{line}'"
        assert passed < _PATIENCE_S, f"it does not say '{line}'"
        yield


_killed("grading actor", r"ray::\S*(Grade|Programs|InTurn)", lambda world: world.lan.hosts)
_killed("generating actor", r"ray::\S*Generate", lambda world: world.lan.hosts)
_killed("match worker", r"ray::_Remote")
_killed("slot", r"ray::Slot")
_killed("sandbox", r"\S*python\S* -s -P -S -B -c")
_killed("replica", r"ray::ServeReplica")
_killed("engine core", r"VLLM::EngineCore")
_killed("proxy", r"ray::ProxyActor", lambda world: world.lan.hosts[:1])
