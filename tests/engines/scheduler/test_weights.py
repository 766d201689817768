"""Engines whose weights come to nodes while others run there."""

from dataclasses import replace

import pytest
from engines.scheduler.controlled import Controlled, need, node

from raybench.engines.scheduler.messages import (
    DevicesFound,
    DevicesLost,
    Load,
    Node,
    Refuse,
    Rules,
    WeightsFetched,
    WeightsMissing,
)


def lacking(name: str, *engines: str, gib: tuple[float, ...] = (10.0,)) -> Node:
    return replace(node(name, *gib), lacks=frozenset(engines))


def test_no_engine_is_loaded_before_its_weights_are_there() -> None:
    world = Controlled([lacking("n", "a")], [need("a"), need("b")])
    assert world.preload() == [Load("b-r0", "b", ("n0",))]
    world.settle()
    assert world.report("a", ready=1) == []
    assert world.scheduler.without_weights() == {"a"}
    assert world.scheduler.without_devices() == []
    world.report("b", ready=5)
    assert world.tick(5000) == []
    assert world.scheduler.failures() == {}
    world.report("b")
    world.tell(WeightsFetched("a", "n"), 10)
    assert Load("a-r0", "a", ("n0",)) in world.settle()
    assert world.scheduler.without_weights() == set()


def test_one_that_waits_for_weights_stands_in_nobodys_way() -> None:
    names = [f"e{number}" for number in range(4)]
    world = Controlled(
        [lacking("n", *names[:2], gib=(10.0, 10.0))],
        [need(name) for name in names],
        Rules(patience_s=100.0, linger_s=0.0),
    )
    for name in names:
        world.report(name, ready=1)
    assert [each.engine for each in world.actions if isinstance(each, Load)] == names[2:]
    world.settle()
    world.tell(WeightsFetched("e1", "n"), 1000)
    world.report("e2")
    world.settle()
    assert world.open("e1")


def test_an_engine_goes_to_the_node_that_has_its_weights() -> None:
    world = Controlled([lacking("x", "a"), lacking("y", "b")], [need("a"), need("b")])
    world.report("a", ready=1)
    world.report("b", ready=1)
    assert {(it.engine, it.devices) for it in world.actions if isinstance(it, Load)} == {
        ("a", ("y0",)),
        ("b", ("x0",)),
    }


def test_replicas_are_added_where_weights_have_come() -> None:
    world = Controlled([lacking("x"), lacking("y", "a")], [need("a", replicas=2)])
    world.report("a", ready=1, remaining=1000)
    world.settle(10)
    assert len(world.open("a")) == 1
    assert world.tell(WeightsFetched("a", "y"), 10) == [Load("a-r1", "a", ("y0",))]


def test_what_is_fetched_before_any_client_reports_is_loaded_at_once() -> None:
    world = Controlled([lacking("n", "a", gib=(10.0, 10.0))], [need("a"), need("b")])
    world.preload()
    assert world.tell(WeightsFetched("a", "n"), 10) == [Load("a-r0", "a", ("n1",))]


def test_an_engine_whose_weights_cannot_be_had_is_refused_until_they_come() -> None:
    world = Controlled([lacking("n", "a", gib=(10.0, 10.0))], [need("a"), need("b")])
    world.report("a", ready=1)
    assert world.tell(WeightsMissing("a", "it is gated")) == [Refuse("a", "it is gated")]
    assert world.scheduler.failures() == {"a": "it is gated"}
    world.tell(DevicesLost(frozenset({"n1"})))
    assert world.scheduler.failures() == {"a": "it is gated"}
    world.tell(DevicesFound((lacking("m", "a"),)))
    assert world.scheduler.failures() == {"a": "it is gated"}
    assert world.tell(WeightsFetched("a", "m")) == [Load("a-r0", "a", ("m0",))]
    assert world.scheduler.failures() == {}


@pytest.mark.parametrize("lacks", [(), ("a",)])
def test_an_engine_that_fits_nowhere_is_refused_though_its_weights_are_missing(
    lacks: tuple[str, ...],
) -> None:
    world = Controlled([lacking("n", *lacks)], [need("a", 20.0)])
    assert [*world.scheduler.failures()] == ["a"]
    assert world.scheduler.without_weights() == set()


def test_a_failed_download_does_not_end_an_engine_that_runs_elsewhere() -> None:
    world = Controlled([lacking("x"), lacking("y", "a")], [need("a")])
    world.report("a", ready=1)
    world.settle()
    assert world.tell(WeightsMissing("a", "the disk is full")) == []
    assert world.open("a")


def test_weights_of_a_node_that_is_gone_change_nothing() -> None:
    world = Controlled([lacking("x", "a"), lacking("y")], [need("a")])
    world.tell(DevicesLost(frozenset({"x0"})))
    assert world.scheduler.handle(WeightsFetched("a", "x"), 1.0) == [Load("a-r0", "a", ("y0",))]
