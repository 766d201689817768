"""The rules of the scheduler, one by one (`raybench/engines/scheduler/policy.py` counts them)."""

import pytest
from engines.scheduler.controlled import RULES, Controlled, need, node
from statements import code, values

from raybench.engines.scheduler.messages import (
    Action,
    Announce,
    Asleep,
    ClientGone,
    Close,
    Device,
    DevicesFound,
    DevicesLost,
    Drained,
    Load,
    Loaded,
    Measured,
    MoveFailed,
    Node,
    NoMoreDevices,
    Refuse,
    Reopen,
    ReplicaState,
    Restarting,
    Rules,
    Sleep,
    SleepLevel,
    Unload,
    Unloaded,
    Wake,
)

BOTH = frozenset({1, 2})


def shared() -> Controlled:
    """Return engines a and b on one device, a open and b not."""
    world = Controlled([node("n", 10.0)], [need("a"), need("b")])
    assert world.report("a", ready=1) == [Load("a-r0", "a", ("n0",))]
    assert world.finish("a-r0", 10) == []
    return world


# 1. Load what fits


def test_every_engine_with_demand_has_one_replica_before_any_has_two() -> None:
    world = Controlled([node("n", *[10.0] * 4)], [need(name) for name in "abc"])
    assert world.report("a", ready=9, remaining=100_000) == [Load("a-r0", "a", ("n0",))]
    assert world.report("b", ready=9, remaining=10) == [Load("b-r0", "b", ("n1",))]
    assert world.report("c", ready=9, remaining=10) == [
        Load("c-r0", "c", ("n2",)),
        Load("a-r1", "a", ("n3",)),
    ]


def test_engines_are_spread_over_the_emptiest_devices() -> None:
    world = Controlled([node("n", *[10.0] * 4)], [need(name, 4.0) for name in "abcde"])
    for name in "abcde":
        world.report(name, ready=1)
    world.settle()
    places = [action.devices for action in world.actions if isinstance(action, Load)]
    assert places == [("n0",), ("n1",), ("n2",), ("n3",), ("n0",)]


def test_what_fits_is_loaded_before_any_client_reports() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a", 6.0), need("b", 6.0), need("c", 4.0)])
    assert world.preload() == [Load("a-r0", "a", ("n0",)), Load("b-r0", "b", ("n1",))]
    assert world.finish("a-r0", 10) == [Load("c-r0", "c", ("n0",))]
    assert [*world.under_way()] == ["b-r0", "c-r0"]
    world.settle()
    assert world.report("c", ready=1) == []


def test_where_not_all_fit_referees_are_preloaded_then_the_largest() -> None:
    needs = [need("small", 2.0), need("large", 8.0), need("wide", 5.0, devices=2)]
    world = Controlled([node("n", 10.0, 10.0)], [*needs, need("r", 4.0, is_referee=True)])
    world.preload()
    world.settle()
    loads = [(it.engine, it.devices) for it in world.actions if isinstance(it, Load)]
    assert loads == [("r", ("n0",)), ("wide", ("n1", "n0")), ("small", ("n1",))]


def test_a_device_has_one_move_at_a_time() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 4.0), need("b", 4.0)])
    assert world.report("a", ready=1) == [Load("a-r0", "a", ("n0",))]
    assert world.report("b", ready=1) == []
    assert world.states("b") == {"b-r0": ReplicaState.PLANNED}
    assert world.finish("a-r0", 10) == [Load("b-r0", "b", ("n0",))]


def test_a_move_of_several_devices_is_not_passed_by_others_for_ever() -> None:
    engines = [need("wide", 4.0, devices=2), *(need(name, 2.0) for name in "abc")]
    world = Controlled([node("n", 10.0, 10.0)], engines)
    assert world.report("a", ready=1) == [Load("a-r0", "a", ("n0",))]
    assert world.report("wide", ready=1) == []
    assert world.report("b", ready=1) == []  # on n1, which is free, but wide was first
    assert world.finish("a-r0", 10) == [Load("wide-r0", "wide", ("n1", "n0"))]
    assert world.finish("wide-r0", 10) == [Load("b-r0", "b", ("n1",))]


# 2. Free devices become replicas


def test_an_engine_does_not_grow_on_a_device_that_it_is_on() -> None:
    world = Controlled([node("n", 100.0, 100.0)], [need("a")])
    world.report("a", ready=9, remaining=100_000)
    world.settle()
    world.tick(10)
    world.settle()
    assert [it.devices for it in world.actions if isinstance(it, Load)] == [("n0",), ("n1",)]


def test_free_devices_become_replicas_of_the_engine_with_the_most_work_per_replica() -> None:
    world = Controlled([node("n", *[10.0] * 6)], [need("a"), need("b")])
    world.report("a", ready=9, remaining=60_000)
    world.report("b", ready=9, remaining=10_000)
    world.settle()
    assert (len(world.open("a")), len(world.open("b"))) == (5, 1)


def test_more_work_per_replica_is_known_from_the_measured_rate() -> None:
    world = Controlled([node("n", 10.0, 10.0, 10.0)], [need("a"), need("b")], RULES)
    world.report("a", ready=1, remaining=1)
    world.report("b", ready=1, remaining=1)
    world.settle()
    # In 100 s a answers 5,000 requests and b 50. Then both have as many left.
    world.report("a", ready=9, outstanding=9, remaining=5_982)
    world.report("b", ready=9, outstanding=9, remaining=1_032)
    world.report("a", ready=9, outstanding=9, remaining=982, after=100)
    world.report("b", ready=9, outstanding=9, remaining=982)
    assert world.tick(10) == [Load("b-r1", "b", ("n2",))]


def test_growth_waits_for_engines_that_may_report_yet() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b")])
    assert world.report("a", ready=9, remaining=100_000) == [Load("a-r0", "a", ("n0",))]
    world.finish("a-r0", 1)
    assert world.scheduler.next_tick() == 5
    assert world.tick(4) == [Load("a-r1", "a", ("n1",))]


# 3. Grow only if it pays


def test_an_engine_with_little_work_left_does_not_grow() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a")])
    assert len(world.report("a", ready=9, remaining=500)) == 1  # 50 s, half of it less than 3 loads
    world.settle()
    assert world.tick(10) == []


def test_an_engine_whose_requests_are_all_under_way_does_not_grow() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a")])
    world.report("a", ready=10)
    world.settle()
    world.report("a", outstanding=100_000)
    assert world.tick(10) == []


def waits_for_two() -> Controlled:
    """Return a and b on two of three devices; the third is free, and wide waits for two."""
    engines = [need("a"), need("b"), need("wide", devices=2)]
    world = Controlled([node("n", 10.0, 10.0, 10.0)], engines)
    world.report("a", ready=9)
    world.report("b", ready=9)
    world.settle(10)
    world.report("wide", ready=9)
    return world


def test_an_engine_does_not_grow_on_devices_that_an_engine_without_replica_takes_soon() -> None:
    world = waits_for_two()
    world.report("a", ready=9, remaining=100_000)
    world.report("b", ready=9, remaining=50)  # less than 10 s
    assert world.tick(10) == []
    world.report("b")
    assert world.tick(2) == [Close("b-r0")]
    assert world.settle()[-1] == Load("wide-r0", "wide", ("n2", "n1"))


def test_an_engine_grows_on_devices_that_would_long_be_idle_for_one_without_replica() -> None:
    world = waits_for_two()
    world.report("a", ready=9, remaining=100_000)
    world.report("b", ready=9, remaining=90_000)
    assert world.tick(10) == [Load("a-r1", "a", ("n2",))]


def test_a_number_of_replicas_that_is_asked_for_is_obeyed() -> None:
    world = Controlled(
        [node("n", *[10.0] * 8)], [need("a", replicas=3), need("b", replicas=1), need("c")]
    )
    for name in "abc":
        world.report(name, ready=1, remaining=100_000 * (name != "a"))
    world.settle()
    assert [len(world.open(name)) for name in "abc"] == [3, 1, 4]


def test_a_number_that_is_asked_for_comes_before_growth() -> None:
    world = Controlled([node("n", 10.0, 10.0, 10.0)], [need("a"), need("b", replicas=2)])
    world.report("a", ready=9, remaining=100_000)
    world.report("b")
    world.settle()
    assert len(world.open("a")) == 3
    world.report("b", ready=1)
    world.settle()
    assert (len(world.open("a")), len(world.open("b"))) == (1, 2)


# 4. Admission


def test_referees_come_in_first_then_the_longest_work_then_the_oldest() -> None:
    needs = [need("a"), need("short"), need("long"), need("longer"), need("r", is_referee=True)]
    world = Controlled([node("n", 10.0)], needs)
    world.report("a", ready=1)
    world.settle()
    world.report("short", ready=1, remaining=10)
    world.report("long", ready=1, remaining=1000, after=1)
    world.report("longer", ready=1, remaining=5000, after=1)
    world.report("r", ready=1, after=1)
    came = []
    world.report("a")
    for _ in range(4):
        world.tick(2)
        orders = world.settle()
        loads = [action.engine for action in orders if isinstance(action, Load)]
        came += loads
        world.report(loads[0])
    assert came == ["r", "longer", "long", "short"]


def test_work_that_is_too_short_to_pay_a_replica_comes_in_by_age() -> None:
    world = Controlled([node("n", 10.0)], [need("a"), need("old"), need("more")])
    world.report("a", ready=1)
    world.settle()
    world.report("old", ready=1)
    world.report("more", ready=200, after=1)
    world.report("a")
    world.tick(2)
    assert world.settle()[-1] == Load("old-r0", "old", ("n0",))


def test_patience_holds_though_nobody_knows_how_many_requests_follow() -> None:
    names, patience_s = "abcdef", 300.0
    rules = Rules(patience_s, linger_s=1.0, left_gib=1.0)
    world = Controlled([node("n", 10.0)], [need(name) for name in names], rules)
    unserved, longest_s = dict.fromkeys(names, 0.0), 0.0
    while world.now < 3 * patience_s:
        for name in names:
            is_open = bool(world.open(name))
            world.report(name, ready=1, outstanding=int(is_open))
            longest_s = max(longest_s, world.now - unserved[name])
            unserved[name] = world.now if is_open else unserved[name]
        world.tick(5)
        for replica in world.under_way():
            world.finish(replica)
    assert longest_s <= patience_s


def test_a_resident_with_work_is_not_sent_away_before_patience_ends() -> None:
    world = shared()
    world.report("b", ready=1)
    orders: list[Action] = []
    while not orders and world.now < 1000:
        world.report("a", ready=1, outstanding=1)
        orders = world.tick(1)
    assert orders == [Close("a-r0", cut_waiting=True)]
    # Less a tenth in hand, and what a load and a way to sleep take.
    assert 800 < world.now < 910
    assert world.finish("a-r0", 1) == [Unload("a-r0")]
    assert world.finish("a-r0", 1) == [Load("b-r0", "b", ("n0",))]


def test_a_large_engine_waits_until_all_of_its_devices_are_free() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b"), need("c", devices=2)])
    world.report("a", ready=1)
    world.report("b", ready=1)
    world.settle()
    world.report("a")
    assert world.report("c", ready=1, after=2) == []
    world.report("b")
    assert world.tick(2) == [Close("a-r0"), Close("b-r0")]
    assert world.settle()[-1] == Load("c-r0", "c", ("n0", "n1"))


def test_who_sleeps_elsewhere_leaves_free_devices_to_engines_that_were_not_loaded() -> None:
    world = Controlled(
        [node("n", 10.0, 10.0)],
        [need(name, 8.0, can_sleep=BOTH) for name in ("a", "b", "c", "d")],
    )
    for name in "ab":
        world.report(name, ready=1)
    world.settle()
    world.report("a")
    world.report("c", ready=1, after=2)  # a sleeps where c comes in
    world.settle()
    world.report("a", ready=1, remaining=9_000)
    world.report("d", ready=1)
    world.report("b")
    world.tick(2)
    assert [it for it in world.settle() if isinstance(it, Load)] == [Load("d-r0", "d", ("n1",))]


# 5. Give way


def test_an_idle_replica_lingers_then_gives_way() -> None:
    world = shared()
    assert world.report("b", ready=1) == []
    assert world.report("a") == []
    assert world.scheduler.next_tick() == 11
    assert world.tick(1) == [Close("a-r0")]
    assert world.finish("a-r0") == [Unload("a-r0")]
    assert world.finish("a-r0", 1) == [Load("b-r0", "b", ("n0",))]
    assert world.scheduler.costs.swaps == 1
    assert world.finish("b-r0", 10) == []
    assert world.scheduler.costs.swap_seconds == 11


def test_an_idle_replica_stays_while_nobody_waits() -> None:
    world = shared()
    world.report("a")
    assert world.tick(1000) == []
    assert world.scheduler.next_tick() is None


def test_a_second_replica_gives_way_to_an_engine_that_has_none() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b")])
    world.report("b")
    world.report("a", ready=9, remaining=100_000)
    world.settle()
    assert len(world.open("a")) == 2
    assert world.report("b", ready=1) == [Close("a-r1", cut_waiting=True)]
    assert world.settle()[-1] == Load("b-r0", "b", ("n1",))


def test_a_growing_engine_takes_the_devices_of_one_that_has_finished() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b")])
    world.report("a", ready=9, remaining=100_000)
    world.report("b", ready=9, remaining=100_000)
    world.settle()
    world.report("b")
    assert world.tick(1) == [Close("b-r0")]


def test_a_growing_engine_leaves_one_that_pauses_its_devices() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b")])
    world.report("a", ready=9, remaining=100_000)
    world.report("b", ready=9, remaining=100_000)
    world.settle()
    world.report("b", remaining=100_000)
    assert world.tick(1) == []


def test_who_was_closed_opens_again_when_nobody_waits_any_more() -> None:
    world = shared()
    world.report("a")
    world.report("b", ready=1)
    assert world.tick(1) == [Close("a-r0")]
    assert world.report("b") == [Reopen("a-r0")]
    assert world.scheduler.handle(Drained("a-r0"), world.now) == []  # it was on its way


def test_running_work_is_never_moved_however_long_others_wait() -> None:
    world = shared()
    world.report("a", outstanding=1)
    world.report("b", ready=1)
    closed = [action for _ in range(3000) for action in world.tick(1)]
    assert closed == [Close("a-r0", cut_waiting=True)]
    assert world.states("a") == {"a-r0": ReplicaState.CLOSING}


# 6. Blocked counts as idle


def test_an_engine_whose_client_cannot_take_replies_gives_way_to_its_judge() -> None:
    world = shared()
    world.report("b", ready=5)
    assert world.report("a", ready=0, outstanding=0, remaining=9_000) == []
    assert world.tick(1) == [Close("a-r0")]
    assert world.settle()[-1] == Load("b-r0", "b", ("n0",))
    world.report("b")
    world.report("a", ready=5, remaining=8_000)
    assert world.tick(1) == [Close("b-r0")]


# 7. Failure is not for ever


def test_a_load_that_lacked_memory_is_tried_alone_after_the_sleepers_left() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 6.0, can_sleep=BOTH), need("b", 6.0)])
    world.report("a", ready=1)
    world.settle()
    world.report("a")
    world.report("b", ready=1)
    world.tick(1)
    world.finish("a-r0")
    assert world.finish("a-r0", 1) == [Load("b-r0", "b", ("n0",))]
    assert world.tell(MoveFailed("b-r0", "too little", "memory"), 5) == [Unload("b-r0")]
    assert world.finish("b-r0", 1) == [Unload("a-r0")]
    assert world.finish("a-r0", 1) == [Load("b-r1", "b", ("n0",))]
    assert world.finish("b-r1", 10) == []
    assert world.refused == []
    # It keeps the device for itself until it was measured.
    assert world.report("a", ready=1) == []


def test_after_two_failures_an_engine_is_refused_until_something_changes() -> None:
    world = Controlled([node("n", 10.0)], [need("a")])
    world.report("a", ready=1)
    assert world.tell(MoveFailed("a-r0", "why"), 5) == [Unload("a-r0")]
    assert world.finish("a-r0", 1) == [Load("a-r1", "a", ("n0",))]
    assert world.tell(MoveFailed("a-r1", "why"), 5) == [Unload("a-r1"), Refuse("a", "why")]
    assert world.finish("a-r1", 1) == []
    assert world.scheduler.failures() == {"a": "why"}
    world.report("a")
    assert world.report("a", ready=1) == [Refuse("a", "why")]
    assert world.tell(DevicesFound((node("m", 10.0),)), 1) == [Load("a-r0", "a", ("n0",))]
    assert world.scheduler.failures() == {}


def test_a_permanent_failure_is_not_tried_again() -> None:
    world = Controlled([node("n", 10.0)], [need("a")])
    world.report("a", ready=1)
    orders = world.tell(MoveFailed("a-r0", "no weights", "permanent"), 5)
    assert orders == [Unload("a-r0"), Refuse("a", "no weights")]
    assert world.finish("a-r0", 1) == []


def test_the_devices_of_a_failed_engine_go_to_the_next_one_that_waits() -> None:
    world = Controlled([node("n", 10.0)], [need("a"), need("b")])
    world.report("a", ready=1)
    world.report("b", ready=1)
    world.tell(MoveFailed("a-r0", "no weights", "permanent"), 5)
    assert world.finish("a-r0", 1) == [Load("b-r0", "b", ("n0",))]


def test_an_engine_that_lacked_memory_is_tried_again_after_a_neighbour_has_left() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 4.0), need("b", 4.0), need("c", 8.0)])
    world.report("a", ready=1)
    world.settle()
    world.report("b", ready=1)
    world.tell(MoveFailed("b-r0", "too little", "memory"), 5)
    assert world.finish("b-r0", 1) == []  # it is to be alone, and a is at work
    world.report("a")
    assert world.tick(1) == [Close("a-r0")]
    world.finish("a-r0")
    world.finish("a-r0")
    assert world.tell(MoveFailed("b-r0", "too little", "memory"), 5)[-1] == Refuse(
        "b", "too little"
    )
    world.finish("b-r0", 1)
    world.report("c", ready=1)
    world.settle()
    world.report("c")
    assert world.report("b", ready=1, after=2, client="other") == []
    assert world.report("a", ready=1) == [Close("c-r0")]
    world.finish("c-r0")
    world.finish("c-r0", 1)
    assert "b" not in world.scheduler.failures()


def test_a_failed_replica_does_not_fail_its_engine() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a")])
    world.report("a", ready=9, remaining=100_000)
    world.finish("a-r0", 10)
    for _ in range(3):
        world.tick(10)
        if "a-r1" in world.copies:
            world.tell(MoveFailed("a-r1", "why"), 5)
            world.finish("a-r1", 1)
    assert world.open("a") == ["a-r0"]
    assert world.refused == []
    assert sum(action == Load("a-r1", "a", ("n1",)) for action in world.actions) == 1


def test_a_process_that_starts_again_waits_for_the_moves_on_its_device() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 4.0), need("b", 4.0)])
    world.report("a", ready=1)
    world.finish("a-r0", 10)
    assert world.report("b", ready=1) == [Load("b-r0", "b", ("n0",))]
    assert world.tell(Restarting("a-r0"), 1) == []
    assert world.open("a") == []
    assert world.finish("b-r0", 10) == [Load("a-r0", "a", ("n0",))]
    assert world.tell(Restarting("a-r0"), 1) == [Unload("a-r0")]


def test_a_process_that_starts_again_ends_where_it_has_no_room_any_more() -> None:
    """Its engine takes whole devices by now, and nobody makes way for what is planned."""
    world = Controlled(
        [node("n", 10.0), node("m", 10.0)],
        [need("a", 4.0, replicas=2), need("b", 5.0, replicas=1)],
    )
    world.report("a", ready=1, remaining=1000)
    world.finish("a-r0", 10)
    world.report("b", ready=1)
    world.finish("b-r0")
    assert world.copies["a-r0"].devices == world.copies["b-r0"].devices
    world.tell(MoveFailed("a-r1", "no memory", "memory"))
    world.settle()
    orders = world.tell(Restarting("a-r0"), 1)
    assert orders == [Unload("a-r0"), Load("a-r1", "a", ("m0",))]
    world.settle()
    assert world.open("a") == ["a-r1"]


# Sleep


def test_sleep_at_level_1_while_host_memory_lasts_then_at_2() -> None:
    world = Controlled(
        [node("n", 10.0, host_gib=10.0)],
        [need(name, 6.0, can_sleep=BOTH) for name in "abc"],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    orders = []
    for name in "abca":
        world.report(name, ready=1, after=1)
        orders += world.settle()
        world.report(name)
    assert [each for each in orders if isinstance(each, Sleep | Wake)] == [
        Sleep("a-r0", 1), Sleep("b-r0", 2), Sleep("c-r0", 2), Wake("a-r0", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("levels", [BOTH, frozenset({1})])
def test_it_is_said_once_of_each_engine_that_host_memory_lacks_for_its_sleep(
    levels: frozenset[SleepLevel],
) -> None:
    world = Controlled(
        [node("n", 10.0, host_gib=10.0)],
        [need(name, 6.0, can_sleep=levels) for name in "ab"] + [need("c", 6.0)],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    for name in "abcbc":
        world.report(name, ready=1, after=1)
        world.settle()
        world.report(name)
    said = [each.text for each in world.actions if isinstance(each, Announce)]
    assert [code(text) for text in said] == ["engine.no_host_memory"]
    assert values(said[0])["engine"] == "b"
    assert (values(said[0])["gib"], values(said[0])["host_gib"]) == (6.0, 10.0)


@pytest.mark.parametrize(("measured", "level"), [(None, 1), (7.0, 2)])
def test_host_memory_is_counted_as_it_was_measured(
    measured: float | None, level: SleepLevel
) -> None:
    world = Controlled(
        [node("n", 9.0, host_gib=10.0)],
        [need("a", 6.0, can_sleep=BOTH), need("b", 4.0, can_sleep=BOTH), need("c", 6.0)],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    world.report("a", ready=1)
    world.settle()
    world.report("a")
    world.report("b", ready=1, after=1)
    assert world.finish("a-r0") == [Sleep("a-r0", 1)]
    world.tell(Asleep("a-r0", host_gib=measured))
    world.settle()
    world.report("b")
    world.report("c", ready=1, after=1)
    assert Sleep("b-r0", level) in world.finish("b-r0")


def test_sleepers_are_unloaded_where_what_they_leave_is_too_much() -> None:
    world = Controlled(
        [node("n", 10.0)],
        [need(name, 9.0, can_sleep=BOTH) for name in "abc"],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    orders = []
    for name in "abc":
        orders += world.report(name, ready=1, after=1) + world.settle()
        world.report(name)
    left = [each for each in orders if isinstance(each, Sleep | Unload)]
    assert left == [Sleep("a-r0", 1), Unload("a-r0"), Sleep("b-r0", 1)]


@pytest.mark.parametrize(
    ("waiting", "unloaded"), [("a", "b"), ("b", "a"), ("ab", "b"), ("ba", "a")]
)
def test_sleepers_that_are_waited_for_are_unloaded_last(waiting: str, unloaded: str) -> None:
    """Two sleepers fit beside an engine; the one that is to be woken last gives way."""
    world = Controlled(
        [node("n", 10.0)],
        [need(name, 8.0, can_sleep=BOTH) for name in "abcd"],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    for name in "abc":
        for earlier in "abc":
            world.report(earlier)
        world.report(name, ready=1, after=1)
        world.settle()
    for name in f"d{waiting}":
        world.report(name, ready=1, after=1)
    orders = world.report("c") + world.settle()
    assert [it for it in orders if isinstance(it, Unload)] == [Unload(f"{unloaded}-r0")]


def test_a_replica_that_could_sleep_is_unloaded_where_what_it_leaves_is_too_much() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 5.0, can_sleep=BOTH), need("b")])
    world.report("a", ready=1)
    world.settle()
    world.report("a")
    world.report("b", ready=1)
    assert world.tick(2) == [Close("a-r0")]
    assert world.settle() == [Unload("a-r0"), Load("b-r0", "b", ("n0",))]


# What moves cost


def test_swap_seconds_are_those_of_all_moves_that_a_swap_takes() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 5.0), need("b", 5.0), need("c")])
    for name in "ab":
        world.report(name, ready=1)
    world.settle(1)
    for name in "ab":
        world.report(name)
    world.report("c", ready=1, after=8)
    for replica, seconds in (("a-r0", 0), ("b-r0", 0), ("a-r0", 2), ("b-r0", 2), ("c-r0", 6)):
        world.finish(replica, seconds)
    swaps = world.scheduler.costs.until(world.now)
    assert (world.now, swaps.count, swaps.seconds, swaps.share) == (20, 1, 10, 0.5)


def test_moves_at_the_same_time_on_one_device_count_once() -> None:
    memory = Node("n", (Device("n0", 10.0, exclusive_moves=False),))
    world = Controlled([memory], [need(name, 5.0) for name in "abcd"])
    for name in "ab":
        world.report(name, ready=1)
    world.settle(0)
    for name in "ab":
        world.report(name)
    for name in "cd":
        world.report(name, ready=1, after=5)
    for replica, seconds in (("a-r0", 0), ("b-r0", 0), ("a-r0", 2), ("b-r0", 0)):
        world.finish(replica, seconds)
    for replica, seconds in (("c-r0", 6), ("d-r0", 2)):
        world.finish(replica, seconds)
    swaps = world.scheduler.costs.until(world.now)
    assert (world.now, swaps.count, swaps.seconds, swaps.share) == (20, 2, 10, 0.5)


def test_a_swap_that_has_to_be_repeated_counts_once_with_all_its_time() -> None:
    world = Controlled([node("n", 10.0)], [need("a"), need("c")])
    world.report("a", ready=1)
    world.settle(1)
    world.report("a")
    world.report("c", ready=1, after=8)
    world.finish("a-r0")
    world.finish("a-r0", 2)
    world.tell(MoveFailed("c-r0", "why"), 3)
    world.finish("c-r0", 1)
    under_way = world.scheduler.swaps(world.now + 4)
    assert (under_way.count, under_way.seconds) == (1, 10)
    world.finish("c-r1", 6)
    swaps = world.scheduler.swaps(world.now)
    assert (swaps.count, swaps.seconds) == (1, 12)


def test_time_without_devices_is_no_device_time() -> None:
    world = Controlled([node("x", 10.0)], [need("a")])
    world.tell(DevicesLost(frozenset({"x0"}), awaited=True), 10)
    world.tell(DevicesFound((node("y", 10.0),)), 20)
    world.tick(20)
    assert world.scheduler.costs.device_seconds(world.now) == 10 + 20


# Nodes that come and go


def test_an_engine_whose_node_is_lost_comes_up_on_another_one() -> None:
    world = Controlled([node("x", 10.0), node("y", 10.0)], [need("a")])
    world.report("a", ready=1)
    world.settle()
    orders = world.tell(DevicesLost(frozenset({"x0"})), 1)
    assert orders == [Unload("a-r0"), Load("a-r1", "a", ("y0",))]


def test_where_no_other_node_has_room_it_is_refused() -> None:
    world = Controlled([node("x", 10.0)], [need("a")])
    world.report("a", ready=1)
    world.settle()
    lost, refused = world.tell(DevicesLost(frozenset({"x0"})), 1)
    assert (lost, code(refused.reason)) == (Unload("a-r0"), "engine.no_node")  # type: ignore[union-attr]


def test_where_others_are_awaited_it_waits_for_them() -> None:
    world = Controlled([node("x", 10.0)], [need("a"), need("b")])
    world.report("a", ready=1)
    world.settle()
    assert world.tell(DevicesLost(frozenset({"x0"}), awaited=True), 10) == [Unload("a-r0")]
    assert world.scheduler.without_devices() == ["a"]
    world.finish("a-r0", 1)
    assert world.tell(DevicesFound((node("y", 10.0),)), 1) == [Load("a-r0", "a", ("y0",))]
    assert world.tell(NoMoreDevices(), 1) == []
    assert world.scheduler.failures() == {}


def test_where_none_comes_in_the_end_it_is_refused() -> None:
    world = Controlled([node("x", 10.0)], [need("a")])
    world.report("a", ready=1)
    world.settle()
    world.tell(DevicesLost(frozenset({"x0"}), awaited=True), 1)
    world.finish("a-r0", 1)
    (refused,) = world.tell(NoMoreDevices(), 1)
    assert code(refused.reason) == "engine.no_node"  # type: ignore[union-attr]


def test_devices_that_come_are_used_at_once() -> None:
    world = shared()
    assert world.report("b", ready=1) == []
    assert world.tell(DevicesFound((node("m", 10.0),)), 1) == [Load("b-r0", "b", ("m0",))]


def test_the_demand_of_a_client_that_ended_is_dropped() -> None:
    world = shared()
    world.report("b", ready=1, client="other")
    world.tell(ClientGone("client"))
    assert world.tick(1) == [Close("a-r0")]
    assert world.tell(ClientGone("other")) == [Reopen("a-r0")]


def test_memory_that_others_take_is_left_to_them() -> None:
    world = Controlled([node("n", 10.0, 10.0)], [need("a"), need("b")])
    world.tell(Measured("n0", 1.0))
    assert world.report("a", ready=1) == [Load("a-r0", "a", ("n1",))]
    assert world.report("b", ready=1) == []
    world.settle()
    assert world.tell(Measured("n0", 0.0)) == [Load("b-r0", "b", ("n0",))]


def test_engines_are_placed_by_what_they_were_measured_to_take() -> None:
    world = Controlled([node("n", 10.0)], [need("a", 6.0), need("b", 5.0)])
    world.report("a", ready=1)
    assert world.report("b", ready=1) == []
    assert world.tell(Loaded("a-r0", 4.5)) == [Load("b-r0", "b", ("n0",))]
    assert world.scheduler.usage()["n0"] == 9.5


def test_of_an_engine_that_takes_a_share_only_what_is_beyond_it_is_the_same_everywhere() -> None:
    world = Controlled([node("n", 20.0, 10.0)], [need("a", 4.0, share=0.8, replicas=2)])
    world.report("a", ready=1, remaining=1000)
    world.tell(Loaded("a-r0", 10.0))
    world.settle(10)
    assert world.scheduler.usage() == {"n0": 18.0, "n1": 10.0}


def test_a_share_with_what_is_beyond_it_is_no_more_than_the_device() -> None:
    world = Controlled(
        [node("n", 10.0)],
        [need("a", 4.0, share=0.9, can_sleep=BOTH), need("b", 5.0)],
        Rules(linger_s=0.0),
    )
    world.report("a", ready=1)
    world.tell(Loaded("a-r0", 9.9))
    assert world.scheduler.usage()["n0"] == 9.9
    world.report("a")
    world.report("b", ready=1, after=1)
    world.settle()
    world.report("b")
    world.report("a", ready=1, after=1)
    assert Wake("a-r0", 1) in world.settle()


def test_what_sleepers_were_measured_to_leave_has_no_other_engine() -> None:
    world = Controlled(
        [node("n", 10.0)],
        [need("a", 6.0, can_sleep=BOTH), need("b", 8.0)],
        Rules(linger_s=0.0, left_gib=1.0),
    )
    world.report("a", ready=1)
    world.settle()
    world.report("a")
    world.report("b", ready=1, after=1)
    world.finish("a-r0")
    orders = world.tell(Asleep("a-r0", left_gib=3.0))
    assert orders == [Unload("a-r0")]
    assert world.settle() == [Load("b-r0", "b", ("n0",))]


def test_late_events_of_a_replica_that_is_to_unload_change_nothing() -> None:
    world = Controlled([node("x", 10.0), node("y", 10.0)], [need("a")])
    world.report("a", ready=1)
    world.tell(DevicesLost(frozenset({"x0"})), 1)
    assert world.scheduler.handle(Loaded("a-r0"), 2.0) == []
    assert world.scheduler.open_replicas() == {}
    assert world.tell(Unloaded("a-r0")) == []
