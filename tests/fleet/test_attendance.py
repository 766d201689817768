"""Nodes that come and go under engines that take turns: what is told of them, and asked for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing

import pytest
from clusters import lasting
from refusals import refused
from statements import code, values
from virtual_time import until

from raybench.config import FleetConf
from raybench.demands import Demand, NoneComesError
from raybench.errors import Problem, RunFailed
from raybench.fleet import attendance
from raybench.fleet.attendance import Attendance
from raybench.fleet.cluster import cluster
from raybench.fleet.places import Node
from raybench.fleet.turns import Device, Found, Lost, NoMore

Change = Lost | Found | NoMore
After = Callable[[], Awaitable[Change]]


class Cluster:
    """Nodes by their addresses, each with so many GPUs, and somebody who is asked for more."""

    def __init__(self) -> None:
        self.gpus = {"x": 2, "head": 0}
        self.asked: list[Demand] = []
        self.reserved: list[set[str]] = []
        self.released: list[str] = []
        self.none: str = ""
        """Why nothing comes, where that is so."""
        self.taken = False
        """By others."""
        self.deaf = 0
        """How often nodes do not say yet what they have."""
        self.said: list[str] = []
        self.unusable: dict[str, Problem] = {}
        """Nodes on whose GPUs no engine can start."""

    async def come(
        self, lacking: Callable[[], int], demand: Demand, what: str, **more: object
    ) -> None:
        self.asked.append(demand)
        while lacking():
            if self.none:
                raise NoneComesError(Problem("resources.nodes", self.none))
            await asyncio.sleep(0.001)

    def nodes(self, conf: FleetConf, *, gpu: bool, only: set[str]) -> list[Node]:
        if self.deaf:
            self.deaf -= 1
            raise ConnectionError("it is not up yet")
        return [
            Node(name, 8.0, {}, (self.unusable[name],))
            if name in self.unusable
            else Node(name, 8.0, {str(it): 80.0 for it in range(self.gpus[name])})
            for name in sorted(only)
        ]

    async def reserve(self, places: dict[str, tuple[str, str]], *given: object, gpu: bool) -> None:
        if self.taken:
            raise RunFailed(Problem("resources.gpus", "2 GPUs did not become free"))
        self.reserved.append({*places})

    def release(self, nodes: Iterable[str], engine: str) -> None:
        self.released += nodes


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setattr(attendance, "_alive", lambda: {*found.gpus})
    monkeypatch.setattr(attendance, "may_come", lambda: True)
    for name in ("come", "nodes", "reserve", "release"):
        monkeypatch.setattr(attendance, name, getattr(found, name))
    return found


PLACES = {"x/gpu0": ("x", "0"), "x/gpu1": ("x", "1")}


@pytest.fixture
async def attended(there: Cluster) -> AsyncIterator[tuple[Attendance, After]]:
    held = Attendance(PLACES, FleetConf(), there.said.append, engine="one", gpu=True)
    async with aclosing(held.changes()) as changes:

        async def after() -> Change:
            return await anext(changes)

        yield held, after


@pytest.mark.virtual_time
async def test_in_the_place_of_a_node_that_died_another_one_is_asked_for(
    there: Cluster, attended: tuple[Attendance, After]
) -> None:
    held, after = attended
    del there.gpus["x"]
    assert await after() == Lost(frozenset(PLACES), awaited=True)
    there.gpus["y"] = 1
    assert await after() == Found((Device("y/gpu0", 80.0, "y"),))
    assert held.places["y/gpu0"] == ("y", "0")
    assert await after() == NoMore()
    (demand,) = there.asked
    assert demand.amounts == {"GPU": 2}  # as the one that died had
    assert there.reserved == [{"y/gpu0"}]
    assert there.released == ["x"]


@pytest.mark.virtual_time
async def test_where_none_comes_that_is_told(
    there: Cluster, attended: tuple[Attendance, After]
) -> None:
    _, after = attended
    there.none = "and none came within 1 s"
    del there.gpus["x"]
    assert await after() == Lost(frozenset(PLACES), awaited=True)
    assert await after() == NoMore()
    (said,) = there.said
    assert said.endswith(there.none)


@pytest.mark.virtual_time
async def test_where_nobody_brings_nodes_none_is_awaited_and_who_comes_is_welcome(
    there: Cluster,
    attended: tuple[Attendance, After],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, after = attended
    monkeypatch.setattr(attendance, "may_come", lambda: False)
    del there.gpus["x"]
    assert await after() == Lost(frozenset(PLACES))
    there.gpus |= {"x": 2, "more": 0}  # it was started again, at its address
    assert await after() == Found((Device("x/gpu0", 80.0, "x"), Device("x/gpu1", 80.0, "x")))
    del there.gpus["x"]
    assert await after() == Lost(frozenset(PLACES))
    assert there.asked == []


@pytest.mark.virtual_time
async def test_what_others_have_taken_is_none_of_ours(
    there: Cluster, attended: tuple[Attendance, After]
) -> None:
    held, after = attended
    there.taken = True
    there.gpus["y"] = 2
    waits = asyncio.ensure_future(after())
    await until(lambda: bool(there.said))
    (said,) = there.said
    assert "2 GPUs" in said
    assert held.places == PLACES
    del there.gpus["x"]
    assert await waits == Lost(frozenset(PLACES), awaited=True)


@pytest.mark.virtual_time
async def test_a_new_node_on_whose_gpus_no_engine_can_start_is_left_out(
    there: Cluster, attended: tuple[Attendance, After]
) -> None:
    _, after = attended
    there.unusable["y"] = Problem("resources.driver", "the driver is too old")
    there.gpus |= {"y": 2, "z": 1}
    assert await after() == Found((Device("z/gpu0", 80.0, "z"),))
    assert there.reserved == [{"z/gpu0"}]
    (said,) = there.said
    assert (code(said), values(said)) == (
        "fleet.node_left_out",
        {"problem": there.unusable["y"].text},
    )


@pytest.mark.virtual_time
async def test_a_node_that_does_not_say_yet_what_it_has_is_asked_again(
    there: Cluster, attended: tuple[Attendance, After]
) -> None:
    _, after = attended
    there.deaf = 2
    there.gpus["y"] = 1
    assert await after() == Found((Device("y/gpu0", 80.0, "y"),))


@pytest.mark.ray
async def test_gpus_are_kept_from_others_until_they_are_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With Ray itself, which takes an operator's word for it that there are GPUs."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with lasting("--num-cpus=1", "--num-gpus=2") as address:
        async with cluster(FleetConf(address=address), lambda text: None):
            (node,) = attendance._alive()
            places = {"a": (node, "0"), "b": (node, "1")}
            await attendance.reserve(places, "one", 30.0, gpu=True)
            with refused("resources.gpus"):
                await attendance.reserve(places, "other", 0.5, "it=", gpu=True)
            attendance.release([node, "gone"], "other")  # of whom there is none
            attendance.release([node], "one")
            await attendance.reserve(places, "other", 30.0, gpu=True)
            attendance.release([node], "other")
            await attendance.reserve(places, "one", 30.0, gpu=True)  # as when a node comes back
