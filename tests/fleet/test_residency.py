"""The policy, by example and by simulation: what must never happen, on any trace."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statements import code

from perf.residency import HOST_GIB, Trace, games, hle, ours, peers, played
from perf.residency_simulation import Listed, Request, simulate
from raybench.fleet.residency import Residency
from raybench.fleet.turns import (
    Action,
    Demand,
    Device,
    Done,
    Event,
    Failed,
    Found,
    Grant,
    Load,
    Lost,
    NoMore,
    Queued,
    Refuse,
    Rules,
    Settled,
    Sleep,
    State,
    Tick,
    Unload,
    Wake,
)

ONE = [Device("gpu", 10.0)]
RULES = Rules(patience_s=1000.0, linger_s=1.0, host_gib=8.0)


def demand(name: str, **fields: float | int | bool) -> Demand:
    return Demand(name, **({"memory_gib": 10.0} | fields))  # type: ignore[arg-type]


def two(rules: Rules = RULES, **fields: float | bool) -> Residency:
    """Return a policy with engines a and b on one slot, a awake."""
    policy = Residency(ONE, [demand("a", **fields), demand("b", **fields)], rules)
    assert policy.preload(0) == [Load("a", ("gpu",))]
    assert policy.handle(Settled("a"), 10) == []
    return policy


def test_what_fits_is_loaded_before_anybody_asks() -> None:
    policy = Residency(
        [Device("0", 10), Device("1", 10)],
        [demand("a", memory_gib=6), demand("b", memory_gib=6), demand("c", memory_gib=4)],
    )
    assert policy.preload(0) == [Load("a", ("0",)), Load("b", ("1",)), Load("c", ("0",))]


def test_work_for_a_resident_goes_at_once() -> None:
    assert two().handle(Queued("1", "a", 5), 11) == [Grant("1")]


def test_an_idle_engine_lingers_then_makes_way() -> None:
    policy = two()
    policy.handle(Queued("1", "a", 1), 10)
    assert policy.handle(Queued("2", "b", 1), 11) == []
    assert policy.handle(Done("1"), 12) == []
    assert policy.next_tick() == 13
    assert policy.handle(Tick(), 13) == [Unload("a")]
    assert policy.handle(Settled("a"), 14) == [Load("b", ("gpu",))]
    assert policy.handle(Settled("b"), 24) == [Grant("2")]
    assert policy.swaps(24).count == 1
    assert policy.swaps(24).seconds == 11


def test_the_resident_queue_is_drained_first() -> None:
    policy = two()
    policy.handle(Queued("1", "a", 1), 10)
    policy.handle(Queued("2", "b", 1), 11)
    for time in range(12, 100):
        assert policy.handle(Queued(f"a{time}", "a", 1), time) == [Grant(f"a{time}")]
        policy.handle(Done(f"a{time}"), time)
    assert policy.state("a") is State.AWAKE


def test_patience_ends_a_stream_that_never_does() -> None:
    policy = two(Rules(patience_s=100.0, linger_s=1.0), load_s=10)
    policy.handle(Queued("a0", "a", 1), 10)
    policy.handle(Queued("2", "b", 1), 11)
    time, last = 12.0, "a0"
    while time < 200:
        policy.handle(Tick(), time)
        granted = policy.handle(Queued(f"a{time}", "a", 1), time)
        left = policy.handle(Done(last), time)
        if not granted:
            break
        last, time = f"a{time}", time + 1
    assert left == [Unload("a")]
    assert time <= 111 - 10
    assert policy.handle(Settled("a"), time + 1) == [Load("b", ("gpu",))]
    # Whom it was taken from is back as soon as the other has nothing to do.
    policy.handle(Settled("b"), time + 11)
    policy.handle(Done("2"), time + 12)
    assert policy.handle(Tick(), time + 13) == [Unload("b")]


def test_running_work_is_never_moved_however_long_others_wait() -> None:
    policy = two(Rules(patience_s=5.0, linger_s=1.0))
    policy.handle(Queued("1", "a", 1), 10)
    for time in range(11, 500):
        assert policy.handle(Queued(f"b{time}", "b", 1), time) == []
        assert policy.handle(Tick(), time) == []


def test_who_was_asked_to_leave_stays_when_nobody_waits_any_more() -> None:
    policy = two(Rules(patience_s=5.0, linger_s=1.0))
    policy.handle(Queued("1", "a", 1), 10)
    policy.handle(Queued("2", "b", 1), 10)
    assert policy.handle(Tick(), 20) == []
    assert policy.handle(Queued("3", "a", 1), 21) == []  # closing
    assert policy.handle(Done("2"), 22) == []  # the client of b is gone
    assert policy.handle(Done("1"), 23) == [Grant("3")]


def test_sleep_at_level_1_while_host_memory_lasts_then_at_2() -> None:
    policy = Residency(
        ONE,
        [demand(name, can_sleep=True, host_gib=5, memory_gib=8) for name in "abc"],
        Rules(linger_s=0.0, host_gib=8.0),
    )
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    assert policy.handle(Queued("1", "b", 1), 2) == [Sleep("a", 1)]
    assert policy.handle(Settled("a"), 3) == [Load("b", ("gpu",))]
    policy.handle(Settled("b"), 4)
    policy.handle(Done("1"), 5)
    assert policy.handle(Queued("2", "c", 1), 6) == [Sleep("b", 2)]
    assert policy.handle(Settled("b"), 7) == [Load("c", ("gpu",))]
    policy.handle(Settled("c"), 8)
    policy.handle(Done("2"), 9)
    assert policy.handle(Queued("3", "a", 1), 10) == [Sleep("c", 2)]
    assert policy.handle(Settled("c"), 11) == [Wake("a", 1)]
    policy.handle(Settled("a"), 12)
    policy.handle(Done("3"), 13)
    assert policy.handle(Queued("4", "b", 1), 14) == [Sleep("a", 1)]
    assert policy.handle(Settled("a"), 15) == [Wake("b", 2)]


def test_sleepers_are_unloaded_where_their_rest_leaves_no_room() -> None:
    fields = {"can_sleep": True, "asleep_gib": 3.0, "memory_gib": 7.0, "host_gib": 1.0}
    policy = Residency(ONE, [demand(name, **fields) for name in "abc"], Rules(linger_s=0.0))
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    assert policy.handle(Queued("1", "b", 1), 2) == [Sleep("a", 2)]
    assert policy.handle(Settled("a"), 3) == [Load("b", ("gpu",))]
    policy.handle(Settled("b"), 4)
    policy.handle(Done("1"), 5)
    assert policy.handle(Queued("2", "c", 1), 6) == [Sleep("b", 2), Unload("a")]
    assert policy.handle(Settled("b"), 7) == []
    assert policy.handle(Settled("a"), 8) == [Load("c", ("gpu",))]


def test_who_could_sleep_is_unloaded_where_even_its_rest_is_too_much() -> None:
    policy = Residency(
        ONE,
        [demand("a", can_sleep=True, asleep_gib=1.0, memory_gib=5.0), demand("b")],
        Rules(linger_s=0.0),
    )
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    assert policy.handle(Queued("1", "b", 1), 2) == [Unload("a")]
    assert policy.handle(Settled("a"), 3) == [Load("b", ("gpu",))]


def test_time_is_lost_once_on_a_device_however_many_come_and_go() -> None:
    policy = Residency(
        ONE, [demand("a", memory_gib=5), demand("b", memory_gib=5), demand("c")], Rules()
    )
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    policy.handle(Settled("b"), 1)
    assert policy.handle(Queued("1", "c", 1), 10) == [Unload("a"), Unload("b")]
    policy.handle(Settled("a"), 12)
    assert policy.handle(Settled("b"), 14) == [Load("c", ("gpu",))]
    policy.handle(Settled("c"), 20)
    assert policy.swaps(20).seconds == 10
    assert policy.swaps(20).share == 0.5


def test_tensor_parallel_engines_take_devices_of_one_node() -> None:
    devices = [Device(name, 10, node) for name, node in (("0", "x"), ("1", "y"), ("2", "y"))]
    policy = Residency(devices, [demand("a", devices=2), demand("b")])
    assert policy.preload(0) == [Load("a", ("1", "2")), Load("b", ("0",))]


def test_a_large_engine_waits_until_all_of_its_devices_are_free() -> None:
    devices = [Device("0", 10), Device("1", 10)]
    policy = Residency(devices, [demand("a"), demand("b"), demand("c", devices=2)], RULES)
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    policy.handle(Settled("b"), 1)
    policy.handle(Queued("1", "b", 1), 2)
    assert policy.handle(Queued("2", "c", 1), 3) == []
    policy.handle(Done("1"), 4)
    assert policy.handle(Tick(), 5) == [Unload("a"), Unload("b")]
    assert policy.handle(Settled("b"), 6) == []
    assert policy.handle(Settled("a"), 7) == [Load("c", ("0", "1"))]


def test_an_engine_that_cannot_be_loaded_is_refused_and_leaves_its_place() -> None:
    policy = two(Rules(linger_s=0.0))
    assert policy.handle(Queued("1", "b", 1), 11) == [Unload("a")]
    policy.handle(Queued("2", "a", 1), 11)
    assert policy.handle(Settled("a"), 12) == [Load("b", ("gpu",))]
    assert policy.handle(Failed("b", "no such file"), 13) == [
        Refuse("1", "no such file"),
        Load("a", ("gpu",)),
    ]
    assert policy.handle(Queued("3", "b", 1), 14) == [Refuse("3", "no such file")]
    assert policy.handle(Settled("a"), 15) == [Grant("2")]
    assert policy.failures() == {"b": "no such file"}


def test_an_engine_larger_than_any_device_is_refused_with_the_mend() -> None:
    policy = Residency(ONE, [demand("a", memory_gib=20), demand("b")])
    (refusal,) = policy.handle(Queued("1", "a", 1), 0)
    assert isinstance(refusal, Refuse)
    assert "needs 20.0 GiB" in refusal.reason
    assert "tensor_parallel_size" in refusal.reason
    assert policy.preload(0) == [Load("b", ("gpu",))]


def test_giving_back_twice_or_what_was_refused_changes_nothing() -> None:
    policy = two()
    policy.handle(Queued("1", "a", 1), 10)
    policy.handle(Done("1"), 11)
    assert policy.handle(Done("1"), 12) == []
    assert policy.handle(Done("never"), 13) == []


# By simulation


class Watched(Residency):
    """A policy that looks at itself after every step."""

    def __init__(self, devices: Sequence[Device], demands: Sequence[Demand], rules: Rules) -> None:
        super().__init__(devices, demands, rules)
        self.capacity = {device.name: device.memory_gib for device in devices}
        self.nodes = {device.name: device.node for device in devices}
        self.host = rules.host_gib
        self.needs = {demand.engine: demand for demand in demands}
        self.running: dict[str, set[str]] = {demand.engine: set() for demand in demands}
        self.owner: dict[str, str] = {}
        self.granted: list[str] = []

    def handle(self, event: object, now: float) -> list[Action]:
        if isinstance(event, Queued):
            self.owner[event.lease] = event.engine
        if isinstance(event, Done):
            self.running[self.owner[event.lease]].discard(event.lease)
        actions = super().handle(event, now)  # type: ignore[arg-type]
        for action in actions:
            match action:
                case Grant(lease):
                    assert self.state(self.owner[lease]) is State.AWAKE
                    self.running[self.owner[lease]].add(lease)
                    self.granted.append(lease)
                case Sleep(engine) | Unload(engine):
                    assert not self.running[engine], f"{engine} moved under running work"
        for device, gib in self.usage().items():
            assert gib <= self.capacity[device] + 1e-6
        asleep: dict[str, float] = {}
        for name, kept in self._engines.items():
            if kept.level == 1:
                node = self.nodes[kept.devices[0]]
                asleep[node] = asleep.get(node, 0.0) + self.needs[name].host_gib
        assert max(asleep.values(), default=0.0) <= self.host + 1e-6
        return actions


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Device], list[Demand], Rules, list[Request]]:
    gib = st.floats(1, 20)
    devices = [
        Device(str(number), draw(st.floats(20, 40)), draw(st.sampled_from(["x", "y"])))
        for number in range(draw(st.integers(1, 4)))
    ]
    largest = max(
        sum(device.node == node for device in devices) for node in {d.node for d in devices}
    )
    demands = [
        Demand(
            f"e{number}",
            draw(gib),
            draw(st.integers(1, largest)),
            draw(st.booleans()),
            draw(st.floats(0, 1)),  # less than any takes awake
            draw(gib),
        )
        for number in range(draw(st.integers(1, 6)))
    ]
    rules = Rules(
        draw(st.floats(1, 5000)), draw(st.floats(0, 5)), draw(st.sampled_from([0.0, 15.0, 60.0]))
    )
    requests = [
        Request(
            f"e{draw(st.integers(0, len(demands) - 1))}",
            draw(st.floats(0, 50)),
            tuple(draw(st.sets(st.integers(0, number - 1), max_size=2))) if number else (),
        )
        for number in range(draw(st.integers(1, 40)))
    ]
    return devices, demands, rules, requests


@given(worlds(), st.booleans())
def test_everything_is_answered_once_within_memory_and_never_moved_under_work(
    world: tuple[list[Device], list[Demand], Rules, list[Request]], preload: bool
) -> None:
    devices, demands, rules, requests = world
    policy = Watched(devices, demands, rules)
    outcome = simulate(Listed(requests), policy, start=policy.preload(0) if preload else ())
    assert outcome.answered == len(requests)
    assert sorted(policy.granted) == sorted(str(number) for number in range(len(requests)))
    assert 0 <= policy.swaps(outcome.seconds + 1).share <= 1


@given(st.integers(2, 6), st.integers(0, 2**32))
def test_no_work_waits_longer_than_patience_where_that_can_be_done(engines: int, seed: int) -> None:
    # Endless work for every engine. A round of visits takes engines x (load + leave + running
    # work): 62 s and 20 s each; twice that leaves room for estimates to be wrong.
    patience = 2.0 * engines * (62 + 20)
    requests = [
        Request(f"e{engine}", 10.0 + (seed + number) % 11, (start,) if start >= 0 else ())
        for engine in range(engines)
        for number in range(60)
        for start in [engine * 60 + number - 4 if number >= 4 else -1]
    ]
    demands = [Demand(f"e{engine}", 10.0) for engine in range(engines)]
    policy = Watched(ONE, demands, Rules(patience_s=patience))
    outcome = simulate(Listed(requests), policy)
    assert outcome.longest_wait <= patience
    assert outcome.answered == len(requests)


@pytest.mark.parametrize(
    ("trace", "most"),
    [(peers(), 1.5), (hle(questions=600), 1.25), (games(models=6, each=4), 1.25)],
    ids=["peers", "hle", "games"],
)
def test_swaps_stay_near_what_no_schedule_can_do_without(trace: Trace, most: float) -> None:
    """The measurement in perf/residency.py, smaller where the trace allows it.

    The bound of `peers` leaves out what its generators, and unknown weights, make others wait for.
    """
    rules = Rules(host_gib=HOST_GIB)
    outcome = played(trace, ours(trace, rules))
    assert outcome.swaps <= most * trace.bound
    assert outcome.longest_wait <= rules.patience_s
    if trace.steps is not None:
        assert 20 * outcome.swaps < trace.steps


def test_who_would_leave_too_much_behind_asleep_is_unloaded() -> None:
    sleeper = Demand("sleeper", 79.0, can_sleep=True, asleep_gib=1.5, host_gib=1.0)
    large = Demand("large", 79.0, can_sleep=True, asleep_gib=1.5, host_gib=1.0)
    policy = Residency([Device("gpu", 80.0)], [sleeper, large], Rules(linger_s=0.0, host_gib=100))
    assert policy.preload(0.0) == [Load("sleeper", ("gpu",))]
    policy.handle(Settled("sleeper"), 1.0)
    assert policy.handle(Queued("l", "large", 1), 2.0) == [Unload("sleeper")]
    assert policy.handle(Settled("sleeper"), 3.0) == [Load("large", ("gpu",))]
    assert policy.handle(Settled("large"), 4.0) == [Grant("l")]


# Nodes that die

TWO_NODES = [Device("x/gpu", 10, "x"), Device("y/gpu", 10, "y")]


def test_an_engine_whose_node_dies_comes_up_on_another_one() -> None:
    policy = Residency(TWO_NODES, [demand("a")], Rules(linger_s=0.0))
    assert policy.preload(0) == [Load("a", ("x/gpu",))]
    policy.handle(Settled("a"), 1)
    assert policy.handle(Queued("1", "a", 4), 2) == [Grant("1")]
    assert policy.handle(Lost(frozenset({"x/gpu"})), 3) == [Unload("a")]
    assert policy.handle(Done("1"), 4) == []  # its client has heard that the replica died
    assert policy.handle(Queued("2", "a", 3), 5) == []
    assert policy.handle(Settled("a"), 6) == [Load("a", ("y/gpu",))]
    assert policy.handle(Settled("a"), 7) == [Grant("2")]


@pytest.mark.parametrize("settled", [False, True], ids=["arriving", "awake"])
def test_where_no_other_node_has_room_it_is_told(settled: bool) -> None:
    policy = Residency(TWO_NODES, [demand("a", devices=1)], Rules(linger_s=0.0))
    policy.preload(0)
    if settled:
        policy.handle(Settled("a"), 1)
    policy.handle(Lost(frozenset({"y/gpu"})), 2)
    assert policy.handle(Lost(frozenset({"x/gpu"})), 3) == [Unload("a")]
    assert policy.handle(Queued("1", "a", 1), 4) == []
    (refusal,) = policy.handle(Settled("a"), 5)
    assert isinstance(refusal, Refuse)
    assert code(refusal.reason) == "engine.no_node"
    assert policy.failures() == {"a": refusal.reason}


def test_an_engine_that_was_on_its_way_out_of_a_node_that_dies_is_cold() -> None:
    policy = Residency(TWO_NODES[:1], [demand("a"), demand("b")], Rules(linger_s=0.0))
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    assert policy.handle(Queued("1", "b", 1), 2) == [Unload("a")]
    assert policy.handle(Lost(frozenset({"x/gpu"})), 3)[0] == Unload("a")
    policy.handle(Settled("a"), 4)
    assert policy.failures().keys() == {"a", "b"}


def test_where_others_are_awaited_who_has_no_place_waits_for_them() -> None:
    policy = Residency(TWO_NODES[:1], [demand("a")], Rules(linger_s=0.0))
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    assert policy.handle(Lost(frozenset({"x/gpu"}), awaited=True), 10) == [Unload("a")]
    assert policy.handle(Queued("1", "a", 1), 11) == []
    assert policy.handle(Settled("a"), 12) == []
    assert policy.handle(Found((Device("z/gpu", 10, "z"),)), 30) == [Load("a", ("z/gpu",))]
    assert policy.handle(NoMore(), 31) == []
    assert policy.handle(Settled("a"), 40) == [Grant("1")]
    # What swaps take is held to the device time that there was, without that of no device.
    assert policy.swaps(50).device_seconds == 10 + 20


def test_where_none_comes_in_the_end_it_is_told() -> None:
    policy = Residency(TWO_NODES[:1], [demand("a")], Rules(linger_s=0.0))
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    policy.handle(Lost(frozenset({"x/gpu"}), awaited=True), 2)
    policy.handle(Settled("a"), 3)
    assert policy.handle(Queued("1", "a", 1), 4) == []
    (refusal,) = policy.handle(NoMore(), 5)
    assert isinstance(refusal, Refuse)
    assert code(refusal.reason) == "engine.no_node"


def test_devices_that_come_are_used_at_once() -> None:
    policy = Residency(TWO_NODES[:1], [demand("a"), demand("b")], Rules(linger_s=0.0))
    policy.preload(0)
    policy.handle(Settled("a"), 1)
    policy.handle(Queued("1", "a", 1), 2)
    assert policy.handle(Queued("2", "b", 1), 3) == []
    assert policy.handle(Found((TWO_NODES[1],)), 4) == [Load("b", ("y/gpu",))]


@given(worlds(), st.randoms(use_true_random=False))
def test_whatever_dies_every_lease_is_answered_once_by_engines_that_have_a_place(
    world: tuple[list[Device], list[Demand], Rules, list[Request]], rng: random.Random
) -> None:
    devices, demands, rules, requests = world
    policy = Residency(devices, demands, rules)
    left, now = {device.name for device in devices}, 0.0
    open_, running, moving = set[str](), set[str](), list[str]()
    answers: dict[str, int] = {}

    def take(actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case Grant(lease) | Refuse(lease):
                    answers[lease] = answers.get(lease, 0) + 1
                    open_.discard(lease)
                    if isinstance(action, Grant):
                        running.add(lease)
                case _:
                    # A keeper gives up what it was at when the policy wants something else.
                    moving[:] = [it for it in moving if it != action.engine] + [action.engine]

    def step(event: Event) -> None:
        take(policy.handle(event, now))
        for engine in policy._engines.values():
            assert {*engine.devices} <= left
            assert (engine.state is not State.AWAKE) or engine.devices

    take(policy.preload(now))
    asked = iter(enumerate(requests))
    for _ in range(8 * len(requests) + 40):
        now += rng.uniform(0, 30)
        match rng.choice(
            ["ask", "ask", "done", "settle", "settle", "lose", "lose", "come", "tick"]
        ):
            case "ask" if (one := next(asked, None)) is not None:
                open_.add(str(one[0]))
                step(Queued(str(one[0]), one[1].engine, 1))
            case "done" if running:
                step(Done(lease := rng.choice(sorted(running))))
                running.discard(lease)
            case "settle" if moving:
                step(Settled(moving.pop(rng.randrange(len(moving)))))
            case "lose" if left and rng.random() < 0.2:
                gone = rng.choice(sorted(left))
                left.discard(gone)
                step(Lost(frozenset({gone}), awaited=rng.random() < 0.5))
            case "come" if rng.random() < 0.2:
                back = [it for it in devices if it.name not in left][:1]
                left |= {it.name for it in back}
                step(Found(tuple(back)))
                if rng.random() < 0.5:
                    step(NoMore())
            case _:
                step(Tick())
    step(NoMore())
    for _ in range(40 * len(demands) + 4 * len(requests)):
        now += 100
        if moving:
            step(Settled(moving.pop()))
        elif running:
            step(Done(running.pop()))
        else:
            step(Tick())
    assert not open_, policy._engines
    assert all(count == 1 for count in answers.values())
    for engine, reason in policy.failures().items():
        assert "died" in reason and engine in {it.engine for it in demands}
