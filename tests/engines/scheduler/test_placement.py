"""Which devices an engine gets, and which engines never get any."""

import pytest
from engines.scheduler.controlled import Controlled, need, node
from statements import code, values

from raybench.engines.scheduler.messages import Load, MemoryBudget, Refuse, Unload


def loads(world: Controlled, *engines: str) -> dict[str, tuple[str, ...]]:
    """Return the devices of these engines when all of them are wanted."""
    for engine in engines:
        world.report(engine, ready=1)
    world.settle()
    return {it.engine: it.devices for it in world.actions if isinstance(it, Load)}


def test_a_budget_is_the_sum_of_its_parts() -> None:
    assert MemoryBudget(10.0, 4.0, 3.0, 1.5, 1.0, 0.5).total == 20.0


def test_engines_on_mixed_devices_take_the_smallest_that_hold_them() -> None:
    nodes = [node("large", 80.0, 80.0), node("small", 24.0, 24.0)]
    world = Controlled(
        nodes, [need("s1", 5.0), need("s8", 20.0), need("m14", 36.0), need("m32", 72.0)]
    )
    assert loads(world, "s1", "s8", "m14", "m32") == {
        "s1": ("small0",), "s8": ("small1",), "m14": ("large0",), "m32": ("large1",)
    }  # fmt: skip


def test_a_share_of_a_device_is_a_share_of_its_own_size() -> None:
    nodes = [node("large", 80.0), node("small", 24.0)]
    world = Controlled(nodes, [need("a", 20.0, share=0.9), need("b", 60.0, share=0.9)])
    assert loads(world, "a", "b") == {"a": ("small0",), "b": ("large0",)}
    assert world.scheduler.usage() == {"large0": pytest.approx(72), "small0": pytest.approx(21.6)}


def test_several_devices_are_of_one_node() -> None:
    world = Controlled([node("x", 10.0), node("y", 10.0, 10.0)], [need("a", devices=2), need("b")])
    assert loads(world, "a", "b") == {"a": ("y0", "y1"), "b": ("x0",)}


def test_an_engine_spreads_over_nodes_only_where_none_has_enough_devices() -> None:
    engines = [need("wide", devices=4, nodes=2), need("a"), need("b")]
    world = Controlled([node("x", *[10.0] * 3), node("y", *[10.0] * 3)], engines)
    assert loads(world, "wide", "a", "b") == {
        "wide": ("x0", "x1", "y0", "y1"), "a": ("x2",), "b": ("y2",)
    }  # fmt: skip
    world = Controlled([node("x", *[10.0] * 3), node("y", *[10.0] * 4)], engines)
    assert loads(world, "wide")["wide"] == ("y0", "y1", "y2", "y3")


def test_an_engine_of_sixteen_devices_takes_turns_beside_three_small_ones() -> None:
    nodes = [node("x", *[80.0] * 8), node("y", *[80.0] * 8)]
    world = Controlled(
        nodes, [need("wide", 60.0, devices=16, nodes=2), *(need(n, 70.0) for n in "abc")]
    )
    assert len(loads(world, "a", "b", "c")) == 3
    world.report("wide", ready=1)
    assert world.open("wide") == []
    for name in "abc":
        world.report(name)
    world.tick(2)
    world.settle()
    assert world.open("wide") == ["wide-r0"]


def test_labels_of_nodes_are_kept() -> None:
    nodes = [node("x", 10.0, kind="a100"), node("y", 10.0, kind="h100"), node("z", 10.0)]
    engines = [need("a", on={"kind": "h100"}), need("b", on={"kind": "in(a100, h100)"}), need("c")]
    world = Controlled(nodes, engines)
    assert loads(world, "a", "b", "c") == {"a": ("y0",), "b": ("x0",), "c": ("z0",)}


@pytest.mark.parametrize(
    "fields", [{"gib": 20.0}, {"devices": 3}, {"on": {"kind": "h100"}}, {"devices": 6, "nodes": 2}]
)
def test_an_engine_that_fits_nowhere_is_refused_before_it_is_loaded(
    fields: dict[str, object],
) -> None:
    world = Controlled([node("x", 10.0, 10.0), node("y", 10.0)], [need("a", **fields)])  # type: ignore[arg-type]
    (refused,) = world.report("a", ready=1)
    assert isinstance(refused, Refuse)
    assert code(refused.reason) == "engine.fits_nowhere"
    assert values(refused.reason)["engine"] == "a"
    assert world.scheduler.failures() == {"a": refused.reason}


def test_a_device_with_fewest_losses_is_taken() -> None:
    """An idle engine goes to sleep rather than that sleepers are unloaded."""
    sleeps = {"can_sleep": frozenset({1, 2})}
    world = Controlled([node("n", 10.0, 10.0)], [need(name, 9.0, **sleeps) for name in "abcd"])
    loads(world, "a", "b")
    world.report("a")
    world.tick(2)
    assert loads(world, "c")["c"] == ("n0",)  # beside a, which sleeps
    for name in "bc":
        world.report(name)
    world.tick(2)
    orders = world.report("d", ready=1) + world.settle()
    assert not [each for each in orders if isinstance(each, Unload)]
    assert Load("d-r0", "d", ("n1",)) in orders


def test_replicas_of_an_engine_are_spread_over_nodes() -> None:
    nodes = [node("x", 10.0, 10.0), node("y", 10.0, 10.0)]
    world = Controlled(nodes, [need("a", replicas=2)])
    world.report("a", ready=1)
    world.settle()
    assert [it.devices for it in world.actions if isinstance(it, Load)] == [("x0",), ("y0",)]
