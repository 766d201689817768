"""Slots on a real Ray: what comes back, what dies, who waits for whom, what is left behind."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from raybench import sandbox
from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet.cluster import cluster
from raybench.sandbox import Outcome, SandboxFaultError, SandboxUnavailableError, Settings
from raybench.sandbox.pool import Pool
from raybench.sandbox.slots import alive

pytestmark = [
    pytest.mark.ray,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]
SLOTS = 2


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ray() -> AsyncIterator[None]:
    async with cluster(FleetConf(address="local"), lambda text: None):
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool(ray: None) -> AsyncIterator[Pool]:
    opened = Pool(Settings(), SLOTS)
    await opened.ready()
    yield opened
    opened.close()


async def until(happened: Callable[[], Any]) -> Any:
    async with asyncio.timeout(60):
        while not (found := happened()):
            await asyncio.sleep(0.02)
        return found


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[psutil.Process]:
    """Return the processes that a slot has started: servers, and what these have."""
    return psutil.Process(pid).children(recursive=True)


def log(folder: Path) -> Callable[[], list[int]]:
    """Return what tells in which processes `noted` has begun, in order."""
    path = folder / "log"
    return lambda: [int(pid) for pid in path.read_text().split()] if path.exists() else []


def noting(folder: Path, then: Callable[[int], Any]) -> Callable[[], Any]:
    """Return a function that notes its process and does something, told how often it began."""
    path = str(folder / "log")

    def noted() -> Any:
        with open(path, "a") as file:  # noqa: PTH123
            file.write(f"{os.getpid()}\n")
        with open(path) as file:  # noqa: PTH123
            return then(len(file.readlines()))

    return noted


def meeting(folder: Path) -> Callable[[], int]:
    """Return a function that ends once every slot has begun it, and returns its process."""
    folder.mkdir()
    place = str(folder)

    def meet() -> int:
        with open(f"{place}/{os.getpid()}", "w"):  # noqa: PTH123
            pass
        deadline = time.monotonic() + 60
        while len(os.listdir(place)) < SLOTS:  # noqa: PTH208
            assert time.monotonic() < deadline, "nobody else has begun"
            time.sleep(0.01)
        return os.getpid()

    return meet


async def test_as_many_work_at_once_as_there_are_slots(pool: Pool, tmp_path: Path) -> None:
    meet = meeting(tmp_path / "met")

    def numbered(number: int) -> tuple[int, int]:
        return number, meet()

    answers = await asyncio.gather(*(pool.call(numbered, number) for number in range(6)))
    assert [number for number, _ in answers] == list(range(6))
    assert len({pid for _, pid in answers}) == pool.slots == SLOTS


async def test_a_slot_runs_programs(pool: Pool) -> None:
    outcome: Outcome = await pool.call(lambda: sandbox.run("print(6 * 7)"))
    assert (outcome.stdout, outcome.ok) == ("42\n", True)


async def test_a_slot_that_is_killed_costs_a_try_and_nothing_else(
    pool: Pool, tmp_path: Path
) -> None:
    begun = log(tmp_path)
    work = noting(tmp_path, lambda times: time.sleep(20) if times == 1 else f"try {times}")
    others = [asyncio.create_task(pool.call(time.sleep, 0.05)) for _ in range(20)]
    under_way = asyncio.create_task(pool.call(work))
    await until(begun)
    kill(begun()[0])
    assert await under_way == "try 2"
    await asyncio.gather(*others)
    assert len(begun()) == 2
    pids = await asyncio.gather(*(pool.call(pid_of) for _ in range(8)))
    assert len(set(pids)) == SLOTS
    assert begun()[0] not in pids


async def test_a_slot_that_does_not_answer_costs_a_try_too(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = log(tmp_path)
    work = noting(tmp_path, lambda times: time.sleep(600) if times == 1 else f"try {times}")
    monkeypatch.setattr("raybench.sandbox.pool.LONGEST_S", 4)
    under_way = asyncio.create_task(pool.call(work))
    await until(begun)
    monkeypatch.setattr("raybench.sandbox.pool.LONGEST_S", 3600)  # of the next try
    assert await under_way == "try 2"
    monkeypatch.setattr("raybench.sandbox.pool.LONGEST_S", 1)
    with pytest.raises(SandboxFaultError) as caught:
        await pool.call(time.sleep, 600)
    assert " 1 s" in str(caught.value)


def pid_of() -> int:
    time.sleep(0.1)
    return os.getpid()


async def test_every_slot_may_be_killed_at_once(pool: Pool) -> None:
    pids = set(await asyncio.gather(*(pool.call(pid_of) for _ in range(4))))
    work = [asyncio.create_task(pool.call(time.sleep, 0.5)) for _ in range(8)]
    await asyncio.sleep(0.2)
    for pid in pids:
        kill(pid)
    await asyncio.gather(*work)
    assert not pids & set(await asyncio.gather(*(pool.call(pid_of) for _ in range(4))))


async def test_a_slot_that_dies_while_it_does_nothing_costs_nothing(pool: Pool) -> None:
    pids = set(await asyncio.gather(*(pool.call(pid_of) for _ in range(4))))
    for pid in pids:
        kill(pid)
    await asyncio.sleep(0.5)
    again = set(await asyncio.gather(*(pool.call(pid_of) for _ in range(4))))
    assert len(again) == SLOTS
    assert not again & pids


async def test_a_server_that_is_killed_costs_a_try_and_nothing_else(
    pool: Pool, tmp_path: Path
) -> None:
    begun = log(tmp_path)
    source = "import time; time.sleep(3); print('done')"  # it is killed before its end
    work = noting(tmp_path, lambda _: sandbox.run(source))
    under_way = asyncio.create_task(pool.call(work))
    await until(begun)
    # The server, its fork that puts up the walls, and the program: all are under way.
    await until(lambda: len(descendants(begun()[0])) >= 3)
    (server,) = psutil.Process(begun()[0]).children()
    server.kill()
    outcome = await under_way
    assert (outcome.status, outcome.stdout) == ("ok", "done\n")
    assert len(begun()) == 1  # the slot itself tried again
    assert not server.is_running()


async def test_work_that_kills_its_slot_every_time_has_no_outcome(
    pool: Pool, tmp_path: Path
) -> None:
    work = noting(tmp_path, lambda _: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(SandboxFaultError) as caught:
        await pool.call(work)
    assert " 3 times " in str(caught.value)
    assert len(set(log(tmp_path)())) == 3
    assert await pool.call(lambda: "goes on") == "goes on"


class Odd(ValueError):
    """Takes more than a message."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message, number)
        self.number = number


async def test_what_the_function_raises_is_raised(pool: Pool) -> None:
    def broken(error: Exception) -> None:
        raise error

    with pytest.raises(KeyError) as plain:
        await pool.call(broken, KeyError("where"))
    assert type(plain.value) is KeyError
    with pytest.raises(Odd) as odd:
        await pool.call(broken, Odd("how", 7))
    assert (odd.value.args, odd.value.number) == (("how", 7), 7)
    with pytest.raises(SandboxUnavailableError, match=r"^no walls$") as told:
        await pool.call(broken, SandboxUnavailableError(Problem("sandbox.unavailable", "no walls")))
    assert type(told.value) is SandboxUnavailableError


async def test_who_wants_to_be_alone_waits_and_has_others_wait(pool: Pool, tmp_path: Path) -> None:
    def span(seconds: float) -> tuple[float, float]:
        began = time.monotonic()
        time.sleep(seconds)
        return began, time.monotonic()

    meet = meeting(tmp_path / "met")

    def met() -> tuple[float, float]:
        began = time.monotonic()
        meet()
        return began, time.monotonic()

    before = [asyncio.create_task(pool.call(span, seconds)) for seconds in (0.3, 0.6)]
    await asyncio.sleep(0.1)
    alone = [asyncio.create_task(pool.call(span, 0.3, alone=True)) for _ in range(2)]
    await asyncio.sleep(0.1)
    after = [asyncio.create_task(pool.call(met)) for _ in range(4)]  # together, or they fail
    spans = await asyncio.gather(*before, *alone, *after)
    for own in spans[2:4]:
        for other in spans:
            assert other is own or other[1] <= own[0] or own[1] <= other[0]
    assert max(end for _, end in spans[:2]) <= min(begin for begin, _ in spans[2:])


async def test_who_is_alone_may_be_killed(pool: Pool, tmp_path: Path) -> None:
    begun = log(tmp_path)
    work = noting(tmp_path, lambda times: time.sleep(20) if times == 1 else times)
    under_way = asyncio.create_task(pool.call(work, alone=True))
    await until(begun)
    waiting = [asyncio.create_task(pool.call(pid_of)) for _ in range(4)]
    kill(begun()[0])
    assert await under_way == 2
    assert len(set(await asyncio.gather(*waiting))) == SLOTS


async def test_who_gives_up_gives_his_slot_back(pool: Pool) -> None:
    for alone in (False, True, True, False):
        under_way = asyncio.create_task(pool.call(time.sleep, 1, alone=alone))
        await asyncio.sleep(0.1)
        under_way.cancel()
        with suppress(asyncio.CancelledError):
            await under_way
    async with asyncio.timeout(60):
        assert len(set(await asyncio.gather(*(pool.call(pid_of) for _ in range(8))))) == SLOTS


async def test_who_gives_up_waiting_to_be_alone_is_forgotten(pool: Pool) -> None:
    work = [asyncio.create_task(pool.call(time.sleep, 0.5)) for _ in range(SLOTS)]
    await asyncio.sleep(0.1)
    waiting = asyncio.create_task(pool.call(time.sleep, 1, alone=True))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    async with asyncio.timeout(60):
        await asyncio.gather(*work, pool.call(time.sleep, 0))


async def test_where_programs_cannot_be_confined_it_is_told(ray: None) -> None:
    moat = Pool(Settings(backend="moat"), 1)
    try:
        with pytest.raises(Exception, match="moat"):
            await moat.ready()
    finally:
        moat.close()


async def test_a_node_has_no_more_slots_than_cores(ray: None) -> None:
    opened = Pool(Settings(), 1000)
    try:
        await opened.ready()
        assert opened.slots == sum(cores for _, cores in alive().values())
    finally:
        await asyncio.to_thread(opened.close)


async def test_slots_end_with_their_pool(ray: None) -> None:
    opened = Pool(Settings(), SLOTS)
    await opened.ready()
    pids = set(await asyncio.gather(*(opened.call(pid_of) for _ in range(4))))
    family = [psutil.Process(pid) for pid in pids]
    family += [process for pid in pids for process in descendants(pid)]
    assert len(family) >= 2 * SLOTS
    busy = asyncio.create_task(opened.call(lambda: sandbox.run("while True: pass")))
    await asyncio.sleep(0.5)
    opened.close()
    _, left = await asyncio.to_thread(psutil.wait_procs, family, 60)
    assert not left
    busy.cancel()
