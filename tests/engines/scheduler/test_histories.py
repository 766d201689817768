"""Random histories: what must never happen, and what has to happen in the end.

`Controlled` checks every order: memory, one move at a time on a device, drained before moved,
places, host memory. Here engines are wanted and not, loads fail, processes die, nodes come and go.
"""

import random
from dataclasses import replace

import pytest
from engines.scheduler.controlled import LEFT_GIB, RULES, Controlled
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from raybench.engines.scheduler.messages import (
    ClientGone,
    Device,
    DevicesFound,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    MoveFailed,
    Node,
    NoMoreDevices,
    Restarting,
    Rules,
)

CLIENTS = ("one", "two")


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Node], list[EngineNeed], Rules]:
    nodes = [
        Node(
            name,
            tuple(
                Device(f"{name}{number}", draw(st.sampled_from([24.0, 40.0, 80.0])))
                for number in range(draw(st.integers(1, 4)))
            ),
            draw(st.sampled_from([0.0, 30.0, 200.0])),
            {"kind": draw(st.sampled_from(["a", "b"]))},
        )
        for name in "xyz"[: draw(st.integers(1, 3))]
    ]
    needs = []
    for number in range(draw(st.integers(1, 7))):
        stages = draw(st.sampled_from([1, 1, 1, 2]))
        needs.append(
            EngineNeed(
                f"e{number}",
                MemoryBudget(draw(st.floats(2, 40)), draw(st.floats(0, 10))),
                devices=stages * draw(st.integers(1, 3)),
                nodes=stages,
                replicas=draw(st.sampled_from([None, None, 1, 2])),
                on=draw(st.sampled_from([{}, {}, {"kind": "a"}])),
                can_sleep=draw(st.sampled_from([frozenset(), frozenset({1}), frozenset({1, 2})])),
                is_referee=draw(st.booleans()),
                load_s=draw(st.floats(1, 100)),
            )
        )
    rules = Rules(draw(st.floats(50, 5000)), draw(st.floats(0, 5)), LEFT_GIB)
    return nodes, needs, rules


def step(world: Controlled, rng: random.Random, all_nodes: list[Node], *, calm: bool) -> None:
    """Let one thing happen that a cluster does by itself."""
    name = rng.choice(sorted(world.needs))
    copies = sorted(world.copies)
    match rng.choice(["report", "report", "finish", "finish", "finish", "tick", "fault"]):
        case "report":
            ready, outstanding = rng.choice([0, 0, 1, 300]), rng.choice([0, 0, 1, 300])
            remaining = rng.choice([0, 0, 10, 100_000])
            world.report(name, ready, outstanding, remaining, client=rng.choice(CLIENTS))
        case "finish" if busy := world.under_way():
            world.finish(rng.choice(busy))
        case "fault" if not calm:
            fault(world, rng, all_nodes, copies)
        case _:
            world.tick()


def fault(world: Controlled, rng: random.Random, all_nodes: list[Node], copies: list[str]) -> None:
    """Let something go wrong, or a node come back."""
    moving = [it for it in copies if world.copies[it].state in ("loading", "waking", "to sleep")]
    alive = [it for it in copies if world.copies[it].state in ("open", "closing", "asleep")]
    here = {each.name for _, each in world.devices.values()}
    away = [each for each in all_nodes if each.name not in here]
    match rng.choice(["fail", "die", "lose", "come", "client", "no more"]):
        case "fail" if moving:
            kind = rng.choice(["memory", "other", "other"])
            world.tell(MoveFailed(rng.choice(moving), "why", kind))  # type: ignore[arg-type]
        case "die" if alive:
            world.tell(Restarting(rng.choice(alive)))
        case "lose" if here and rng.random() < 0.3:
            gone = rng.choice(sorted(here))
            names = frozenset(name for name, (_, on) in world.devices.items() if on.name == gone)
            world.tell(DevicesLost(names, awaited=rng.random() < 0.5))
        case "come" if away:
            world.tell(DevicesFound((rng.choice(away),)))
        case "client":
            world.tell(ClientGone(rng.choice(CLIENTS)))
        case "no more":
            world.tell(NoMoreDevices())
        case _:
            world.tick()


@pytest.mark.slow
@given(worlds(), st.randoms(use_true_random=False))
@examples(50)
def test_orders_are_always_possible_and_at_the_end_everybody_is_served(
    drawn: tuple[list[Node], list[EngineNeed], Rules], rng: random.Random
) -> None:
    nodes, needs, rules = drawn
    world = Controlled(nodes, needs, rules)
    if rng.random() < 0.5:
        world.preload()
    for _ in range(120):
        world.now += rng.uniform(0, 20)
        step(world, rng, nodes, calm=False)
    # Then nothing goes wrong any more, and each engine is asked for once more.
    here = {each.name for _, each in world.devices.values()}
    world.tell(DevicesFound(tuple(each for each in nodes if each.name not in here)))
    world.tell(NoMoreDevices())
    for client in CLIENTS:
        world.tell(ClientGone(client))
    for name in world.needs:
        world.settle()
        world.report(name, ready=1, after=rules.linger_s)
        for _ in range(4):
            world.settle()
            world.tick(rules.linger_s + 1)
        assert world.open(name) or name in world.scheduler.failures()
        world.report(name)


@pytest.mark.slow
@given(worlds(), st.randoms(use_true_random=False))
@examples(30)
def test_every_engine_with_demand_is_served_in_turn_however_much_the_others_have(
    drawn: tuple[list[Node], list[EngineNeed], Rules], rng: random.Random
) -> None:
    nodes, needs, _ = drawn
    # Endless work for all: a round of turns takes engines × (drain, sleep, load, a load's time).
    needs = [replace(each, load_s=20.0) for each in needs]
    patience = 2.0 * len(needs) * 4 * 30
    world = Controlled(nodes, needs, replace(RULES, patience_s=patience))
    fit = [name for name in world.needs if name not in world.scheduler.failures()]
    unserved = dict.fromkeys(fit, 0.0)
    for name in fit:
        world.report(name, ready=100, remaining=100_000)
    moves: dict[str, float] = {}
    while world.now < 2 * patience:
        world.tick(10)
        for name in world.under_way():
            moves.setdefault(name, world.now)
            if world.now - moves[name] >= 5:
                del moves[name]
                world.finish(name)
        for name in fit:
            if world.open(name):
                unserved[name] = world.now
                world.report(name, ready=100, outstanding=10, remaining=100_000)
            else:
                world.report(name, ready=100, remaining=100_000)
            assert world.now - unserved[name] <= patience
