"""Nodes that die under a graph: who looks sees it, and the graph begins anew with what is left."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from refusals import refused

from raybench.config import FleetConf
from raybench.fleet.link import Link
from raybench.pipeline import graph, losses
from raybench.pipeline.losses import Losses, WorkLost
from raybench.pipeline.stages import Asking, Unit
from raybench.pipeline.units import Job, unit_id


class Dead(dict[str, str]):
    """The addresses of nodes that have died, by their names; it counts who looks."""

    looks = 0

    async def looked(self) -> None:
        """Wait for a whole look from now on."""
        before = self.looks
        async with asyncio.timeout(120):
            while self.looks < before + 2:
                await asyncio.sleep(0)


@pytest.fixture
def dead(monkeypatch: pytest.MonkeyPatch) -> Dead:
    found = Dead()

    def look() -> Dead:
        found.looks += 1
        return found

    monkeypatch.setattr(losses, "_dead", look)
    monkeypatch.setattr(losses, "_LOOK_S", 0.001)
    return found


async def test_what_comes_is_returned_and_what_breaks_is_raised(dead: Dead) -> None:
    async def broken() -> None:
        raise KeyError("it")

    async def later() -> str:
        await dead.looked()
        return "it"

    looking = Losses(lambda: {"here"})
    assert await looking.beside(later()) == "it"
    with pytest.raises(KeyError, match="it"):
        await looking.beside(broken())


async def test_a_node_with_work_that_dies_ends_the_wait(dead: Dead) -> None:
    places = {"one", "other"}
    looking = Losses(lambda: places)
    waiting = asyncio.create_task(looking.beside(asyncio.Event().wait()))
    dead["third"] = "10.0.0.3"  # nothing was there
    await dead.looked()
    assert not waiting.done()
    places = {"other"}  # Ray knows at once that its actors are elsewhere
    dead["one"] = "10.0.0.1"
    with pytest.raises(WorkLost, match=r"10\.0\.0\.1 died"):
        await asyncio.wait_for(waiting, 120)


async def test_a_node_that_had_work_once_and_dies_later_ends_nothing(dead: Dead) -> None:
    places = {"one", "other"}
    looking = Losses(lambda: places)
    await looking.look()
    places = {"other"}
    await looking.look()
    dead["one"] = "10.0.0.1"
    await looking.look()


def unit(number: int) -> Unit:
    names = {"benchmark": "mmlu_pro", "language": "", "key": str(number)}
    return {**names, "model": "m", "repeat": 0}


class Graphs:
    """Graphs of which each is cut off after so many units; the last one ends."""

    def __init__(self, after: Sequence[int]) -> None:
        self.after = list(after)
        self.began: list[int] = []

    async def __call__(self, work: graph.Work, link: Link) -> AsyncGenerator[list[Unit]]:
        self.began.append(len(work.done))
        left = [it for it in map(unit, range(6)) if unit_id(it) not in {*work.done}]
        for count, it in enumerate(left):
            if self.after and count == self.after[0]:
                self.after.pop(0)
                raise WorkLost("10.0.0.1 died")
            yield [it]


@pytest.fixture
def graphs(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Graphs:
    found = Graphs(request.param)
    monkeypatch.setattr(graph, "_streamed", found)
    monkeypatch.setattr(graph, "alive", lambda: {"one": ("10.0.0.1", 2)})
    return found


async def streamed(warned: list[str], jobs: Sequence[Job] = ()) -> list[str]:
    work = graph.Work(jobs, asking=Asking({}, 0), done=[unit_id(unit(0))])
    link: Any = Link((), FleetConf(), None, {})
    found: list[str] = []
    async with aclosing(graph.stream(work, link, warn=warned.append)) as blocks:
        async for units in blocks:
            found += [it["key"] for it in units]
    return found


@pytest.mark.parametrize("graphs", [(2, 0, 1)], indirect=True)
async def test_every_unit_comes_once_whatever_dies(graphs: Graphs) -> None:
    warned: list[str] = []
    assert await streamed(warned) == ["1", "2", "3", "4", "5"]
    assert graphs.began == [1, 3, 3, 4]  # with what is left
    assert [it.split()[0] for it in warned] == ["10.0.0.1"] * 3


async def test_units_that_do_not_come_are_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[int] = []

    async def forgetful(work: graph.Work, link: Link) -> AsyncGenerator[list[Unit]]:
        began.append(len(work.done))
        left = [it for it in map(unit, range(6)) if unit_id(it) not in {*work.done}]
        yield left[:4]

    monkeypatch.setattr(graph, "_streamed", forgetful)
    warned: list[str] = []
    jobs = [Job("m", "mmlu_pro", "", 0, 6, 1)]
    assert await streamed(warned, jobs) == ["1", "2", "3", "4", "5"]
    assert began == [1, 5] and len(warned) == 1


@pytest.mark.parametrize("graphs", [(1, 0, 0, 0)], indirect=True)
async def test_who_never_comes_to_anything_gives_up(graphs: Graphs) -> None:
    with refused("ray.lost"):
        await streamed([])
