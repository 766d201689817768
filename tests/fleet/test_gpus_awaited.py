"""GPUs that are waited for before engines are laid out: what is asked for, and when it is over."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from refusals import refusal, refused

from raybench import demands
from raybench.config import FleetConf
from raybench.config.places import fleet_problems
from raybench.demands import Demand
from raybench.fleet import cluster
from raybench.sandbox.pool import lacking


class Cloud:
    """A cluster that brings a node of two GPUs whenever somebody asks, while it has any."""

    def __init__(self, nodes: int, kinds: Mapping[str, str]) -> None:
        self.left, self.kinds, self.asked = nodes, kinds, list[tuple[int, Mapping[str, str]]]()
        self.there: list[dict[str, Any]] = []

    def nodes(self, on: Mapping[str, str]) -> list[dict[str, Any]]:
        return self.there

    def want(self, demand: Demand, count: int) -> None:
        assert demand.amounts == {"GPU": 1}
        self.asked.append((count, demand.on))
        if self.left:
            self.left -= 1
            self.there.append({"Resources": {"GPU": 2.0}, "Labels": self.kinds})


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Cloud]:
    def made(nodes: int) -> Cloud:
        found = Cloud(nodes, {})
        monkeypatch.setattr(demands, "may_come", lambda: True)
        monkeypatch.setattr(demands, "_LOOK_S", 0.0)
        monkeypatch.setattr(Demand, "want", lambda self, count: found.want(self, count))
        monkeypatch.setattr(Demand, "refused", lambda self: found.left == 0)
        monkeypatch.setattr(Demand, "withdraw", lambda self: found.asked.append((0, {})))
        monkeypatch.setattr(cluster, "_meant", found.nodes)
        return found

    return made


async def test_as_many_are_asked_for_as_are_lacking(cloud: Callable[[int], Cloud]) -> None:
    found, said = cloud(5), list[str]()
    await cluster.gpus(FleetConf(gpus=3, nodes={"gpu": "yes"}), said.append)
    assert [count for count, _ in found.asked] == [3, 1, 0]
    assert found.asked[0][1] == {"gpu": "yes"}
    assert "3 GPUs" in said[0] and "gpu=yes (fleet.nodes)" in said[0]


async def test_who_names_none_or_has_enough_asks_for_none(cloud: Callable[[int], Cloud]) -> None:
    found = cloud(5)
    await cluster.gpus(FleetConf(), print)
    found.there = [{"Resources": {"GPU": 8.0}}]
    await cluster.gpus(FleetConf(gpus=8), print)
    assert found.asked == []


async def test_where_no_more_come_it_is_told_how_many_there_are(
    cloud: Callable[[int], Cloud], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demands, "_REFUSED_S", 0.0)
    found = cloud(1)
    with refused("resources.gpus", "fleet.gpus"):
        await cluster.gpus(FleetConf(gpus=4), print)
    assert found.asked[-1] == (0, {})
    with refused("resources.gpus", "fleet.gpus"):
        await cluster.gpus(FleetConf(gpus=4, start_deadline_s=1e-9), print)
    with refused("resources.gpus", "fleet.gpus"):
        await cluster.gpus(FleetConf(gpus=4), print, ours=True)


def test_mistakes() -> None:
    assert [*fleet_problems(FleetConf(gpus=4))] == []
    (told,) = fleet_problems(FleetConf(gpus=4, device="cpu"))
    assert refusal(told) == ("setting.conflict", "fleet.gpus")
    (told,) = fleet_problems(FleetConf(gpus=0))
    assert (*refusal(told), told.given) == ("setting.range", "fleet.gpus", 0)


@pytest.mark.parametrize(
    ("waiting", "each_s", "slots", "more"),
    [
        (0, 60, 1, 0),
        (100, 0.0, 1, 0),
        (100, 2, 1, 0),
        (600, 2, 1, 3),
        (600, 2, 4, 0),
        (60, 50, 3, 7),
    ],
)
def test_more_slots_are_asked_for_where_work_would_wait(
    waiting: int, each_s: float, slots: int, more: int
) -> None:
    assert lacking(waiting, each_s, slots) == more
