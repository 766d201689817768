"""What happens to replicas: from a plan over moves to sleep and end, and what may fail there.

`ReplicaMoves` carries out what the rules of `policy.py` have decided, one move on a device at a
time: it sets devices aside, closes who has to leave, and orders each move as soon as its devices
are free of others.
"""

from collections.abc import Iterator, Sequence
from itertools import count

from raybench.engines.scheduler.devices import (
    TOLERANCE,
    DeviceMemory,
    Devices,
    Leaver,
    Never,
    Placement,
    Replica,
    choose_devices,
)
from raybench.engines.scheduler.engine_state import EngineState, new_engine
from raybench.engines.scheduler.messages import (
    Action,
    Announce,
    Asleep,
    Close,
    Drained,
    EngineNeed,
    FailureKind,
    Load,
    Loaded,
    MoveFailed,
    Node,
    Refuse,
    Reopen,
    ReplicaState,
    Restarting,
    Rules,
    Sleep,
    Unload,
    Unloaded,
    Wake,
    Woken,
)
from raybench.engines.scheduler.move_costs import MoveCosts
from raybench.statements import Statement

_TRIES = 2
_MOVES = (
    ReplicaState.LOADING, ReplicaState.WAKING, ReplicaState.GOING_TO_SLEEP, ReplicaState.UNLOADING,
)  # fmt: skip


class ReplicaMoves:
    """All replicas, and the orders that bring them in and send them away."""

    def __init__(
        self, nodes: Sequence[Node], needs: Sequence[EngineNeed], rules: Rules, now: float
    ) -> None:
        self.now = now
        self.devices = Devices()
        self.devices.add(nodes)
        self.engines = {need.engine: new_engine(need, rules) for need in needs}
        self.replicas: dict[str, Replica] = {}
        self.are_awaited = False
        """Devices are to come in the place of lost ones."""
        self.costs = MoveCosts()
        self.costs.set_devices(len(self.devices.by_name), now)
        self._pending: dict[Replica, None] = {}
        """Replicas that wait for a move to begin."""
        for engine in self.engines.values():
            self._find_place(engine)

    def hear_of(
        self,
        replica: Replica,
        event: Loaded | Woken | Drained | Asleep | Unloaded | MoveFailed | Restarting,
    ) -> Iterator[Action]:
        """Take in what became of a replica. What was ordered before its unload is out of date."""
        engine, state = self.engine_of(replica), replica.state
        seconds = self.now - replica.since
        match event:
            case Loaded(gib=gib) if state is ReplicaState.LOADING:
                self._end_move(replica)
                engine.load_s, engine.tries, engine.repeats_swap = seconds, _TRIES, False
                if gib is not None:
                    replica.memory.note_load(gib, replica.devices)
                    self.devices.recompute(engine.name)
                self._open(engine, replica)
            case Woken() if state is ReplicaState.WAKING:
                self._end_move(replica)
                engine.wake_s[replica.level] = seconds
                self._open(engine, replica)
            case Drained() if state is ReplicaState.CLOSING:
                self._set(replica, ReplicaState.CLOSED)
                self._pending[replica] = None
            case Asleep(left_gib=left, host_gib=host) if state is ReplicaState.GOING_TO_SLEEP:
                self._end_move(replica)
                engine.leave_s = seconds
                replica.memory.left_gib = replica.memory.left_gib if left is None else left
                replica.memory.host_gib = replica.memory.host_gib if host is None else host
                self._set(replica, ReplicaState.ASLEEP)
            case Unloaded() if state is ReplicaState.UNLOADING:
                self._end_move(replica)
                self._remove(replica)
            case MoveFailed(reason=reason, kind=kind) if state in _MOVES:
                yield self._begin_unload(replica)
                if state is not ReplicaState.GOING_TO_SLEEP:
                    yield from self._fail_load(engine, replica, reason, kind)
            case Restarting():
                yield from self._restart(engine, replica)
            case _:
                pass

    def _open(self, engine: EngineState, replica: Replica) -> None:
        engine.count_time(self.now)
        replica.level = 0
        self._set(replica, ReplicaState.OPEN)

    def _restart(self, engine: EngineState, replica: Replica) -> Iterator[Action]:
        """Grant a process that Serve started again its load, or end it where it was leaving."""
        engine.count_time(self.now)
        match replica.state:
            case ReplicaState.OPEN:
                self._set(replica, ReplicaState.PLANNED)
                replica.restarts = True
                self._pending[replica] = None
            case ReplicaState.LOADING | ReplicaState.WAKING:
                yield self._begin_unload(replica)
                reason = Statement(
                    "engine.died_starting",
                    "the process of replica {replica} ended while it started",
                    replica=replica.name,
                )
                yield from self._fail_load(engine, replica, reason, "other")
            case ReplicaState.GOING_TO_SLEEP:
                yield self._begin_unload(replica)
            case ReplicaState.CLOSING | ReplicaState.CLOSED | ReplicaState.ASLEEP:
                self._leave_for_good(replica)
            case ReplicaState.PLANNED:  # it was asleep, and has lost what it kept
                replica.level = 0
                replica.restarts = True
            case ReplicaState.UNLOADING:
                pass

    def _fail_load(
        self, engine: EngineState, replica: Replica, reason: str, kind: FailureKind
    ) -> Iterator[Action]:
        """Note a failure; decide whether the engine is tried again (rule 7)."""
        engine.repeats_swap |= replica.is_swap
        if kind == "memory":
            engine.failed_on = frozenset(device.name for device in replica.devices)
            engine.memory.alone = True
            for other in [each for device in replica.devices for each in device.replicas]:
                if other.state is ReplicaState.ASLEEP:
                    self._leave_for_good(other)
        if any(other is not replica for other in engine.coming):
            engine.may_grow = False  # its other replicas continue
            return
        engine.tries -= 1
        if engine.tries <= 0 or kind == "permanent":
            yield from self._give_up(engine, reason)

    def _give_up(self, engine: EngineState, reason: str) -> Iterator[Action]:
        engine.reason, engine.waiting_since, engine.is_expected = reason, None, False
        if engine.is_busy:
            yield Refuse(engine.name, reason)

    def _retry(self, engine: EngineState, tries: int) -> None:
        """Let an engine that failed be tried again: something has changed."""
        if not engine.has_no_place:
            engine.reason = engine.weights_failure
        engine.tries, engine.may_grow = max(engine.tries, tries), True

    def lose(self, names: frozenset[str]) -> Iterator[Action]:
        """Forget devices that are gone, and end what was on them."""
        for device in self.devices.drop(names):
            for replica in [*device.replicas]:
                engine = self.engine_of(replica)
                engine.count_time(self.now)
                replica.devices = tuple(each for each in replica.devices if each is not device)
                device.replicas.remove(replica)
                has_process = replica.level or replica.restarts
                if replica.state is ReplicaState.PLANNED and not has_process:
                    self._remove(replica)
                elif replica.state is ReplicaState.UNLOADING:
                    pass
                elif replica.state in _MOVES or not replica.devices:
                    yield self._begin_unload(replica)
                else:
                    self._leave_for_good(replica)
        yield from self.change_devices()

    def note_weights(self, engine: EngineState, node: str) -> None:
        """Note that a node has the weights of an engine."""
        if node in self.devices.nodes:
            self.devices.nodes[node].lacks.discard(engine.name)
            self.devices.recompute(engine.name)
        if engine.weights_failure:
            engine.weights_failure = ""
            self._retry(engine, _TRIES)

    def fail_weights(self, engine: EngineState, reason: str) -> Iterator[Action]:
        """Note that no node has the weights of an engine, or will have them."""
        if self.devices.lacks_weights(engine.memory) and not engine.replicas:
            engine.weights_failure = reason
            yield from self._give_up(engine, reason)

    def change_devices(self) -> Iterator[Action]:
        """Look again which engines have a place; refuse those that have none any more."""
        self.costs.set_devices(len(self.devices.by_name), self.now)
        for engine in self.engines.values():
            had_reason = engine.reason
            self._retry(engine, _TRIES)
            self._find_place(engine)
            if engine.reason and not had_reason and engine.is_busy:
                yield Refuse(engine.name, engine.reason)

    def _find_place(self, engine: EngineState) -> None:
        """Note whether there are devices that an engine fits on, or may come."""
        chosen = choose_devices(engine.memory, self.devices, lambda replica: None)
        if not isinstance(chosen, Never):
            engine.had_place = True
        if not isinstance(chosen, Never) or self.are_awaited:
            engine.has_no_place, engine.reason = False, engine.weights_failure
        elif not engine.has_no_place:
            engine.has_no_place, engine.reason = True, chosen.reason
            if engine.had_place:
                engine.reason = Statement(
                    "engine.no_node",
                    "engine {engine} had its place on a node that died, and no other node "
                    "has room for it: bring one up, and give the same command again",
                    engine=engine.name,
                )

    def plan(
        self, engine: EngineState, placement: Placement, sleeper: Replica | None = None
    ) -> Iterator[Action]:
        """Set devices aside for a replica, and send away whoever has to leave them."""
        replica = sleeper
        if replica is None:
            number = next(n for n in count() if f"{engine.name}-r{n}" not in self.replicas)
            name = f"{engine.name}-r{number}"
            replica = Replica(name, engine.memory, placement.devices)
            self.replicas[name] = engine.replicas[name] = replica
            for device in placement.devices:
                device.replicas.append(replica)
        replica.is_swap = engine.repeats_swap or any(
            leaver.replica.state is ReplicaState.OPEN for leaver in placement.leaving
        )
        self._set(replica, ReplicaState.PLANNED)
        self._pending[replica] = None
        for leaver in placement.leaving:
            yield from self._send_away(leaver, replica)

    def _send_away(self, leaver: Leaver, comer: Replica) -> Iterator[Action]:
        replica = leaver.replica
        match replica.state:
            case ReplicaState.PLANNED:
                self._cancel(replica)
            case ReplicaState.OPEN:
                engine = self.engine_of(replica)
                engine.count_time(self.now)
                replica.makes_way_for, replica.is_swap = comer, True
                replica.must_unload = leaver.unload
                self._set(replica, ReplicaState.CLOSING)
                yield Close(replica.name, cut_waiting=engine.is_busy)
            case ReplicaState.ASLEEP:
                self._leave_for_good(replica)
            case _:
                replica.must_unload = True
                self.engine_of(replica).sort_replicas()

    def cancel_plans(self) -> None:
        """Drop plans that nobody wants any more, or whose memory is not there after all."""
        for replica in [each for each in self._pending if each.state is ReplicaState.PLANNED]:
            for device in replica.devices:
                for other in sorted(device.replicas, key=lambda each: each.since):
                    if device.unclaimed_gib() >= -TOLERANCE:
                        break
                    if other.state is ReplicaState.ASLEEP and not other.must_unload:
                        self._leave_for_good(other)
            lacks = any(device.unclaimed_gib() < -TOLERANCE for device in replica.devices)
            unwanted = not self.engine_of(replica).wants
            if (lacks or unwanted) and not replica.restarts:
                self._cancel(replica)
            elif lacks:  # it takes more than before its process died
                self._leave_for_good(replica)

    def _cancel(self, replica: Replica) -> None:
        if replica.level:
            self._set(replica, ReplicaState.ASLEEP)
            self._pending.pop(replica, None)
        else:
            self._remove(replica)

    def reopen(self) -> Iterator[Action]:
        """Open replicas again that were closed for a plan that was dropped."""
        for replica in self.replicas.values():
            comer = replica.makes_way_for
            if comer is None or (
                comer.state is ReplicaState.PLANNED and comer.name in self.replicas
            ):
                continue
            replica.makes_way_for = None
            if replica.state not in (ReplicaState.CLOSING, ReplicaState.CLOSED):
                continue
            if all(
                device.unclaimed_gib() + replica.claimed_gib(device)
                >= replica.memory.awake_gib(device) - TOLERANCE
                for device in replica.devices
            ):
                self._pending.pop(replica, None)
                replica.must_unload = False
                self.engine_of(replica).count_time(self.now)
                self._set(replica, ReplicaState.OPEN)
                yield Reopen(replica.name)

    def begin_moves(self) -> Iterator[Action]:
        """Begin the moves whose devices are free of others: leavers first.

        A move that has to wait keeps its devices from those behind it: else one that needs
        several devices could wait for ever.
        """
        kept: set[DeviceMemory] = set()
        for replica in sorted(self._pending, key=lambda each: each.state is ReplicaState.PLANNED):
            arrives = replica.state is ReplicaState.PLANNED
            if arrives and not all(
                device.held_gib() - replica.held_gib(device) + replica.memory.awake_gib(device)
                <= device.gib + TOLERANCE
                for device in replica.devices
            ):
                continue
            if any(device.moving or device in kept for device in replica.devices):
                kept.update(replica.devices)
            elif arrives:
                yield self._arrive(replica)
            else:
                yield from self._leave(replica)

    def _arrive(self, replica: Replica) -> Action:
        names = tuple(device.name for device in replica.devices)
        level, replica.restarts = replica.level, False
        self._begin_move(replica, ReplicaState.WAKING if level else ReplicaState.LOADING)
        is_new = not self.engine_of(replica).repeats_swap  # a swap is counted once
        self.costs.add_arrival(from_sleep=bool(level), is_swap=replica.is_swap and is_new)
        if level:
            return Wake(replica.name, level)
        return Load(replica.name, replica.memory.need.engine, names)

    def _leave(self, replica: Replica) -> Iterator[Action]:
        level = 0 if replica.must_unload else self.devices.sleep_level(replica)
        engine = self.engine_of(replica)
        if level != 1 and 1 in engine.need.can_sleep and not replica.must_unload:
            if not engine.has_told_of_host:
                yield Announce(_explain_level(replica, level))
            engine.has_told_of_host = True
        if not level:
            yield self._begin_unload(replica)
            return
        replica.level = level
        self._begin_move(replica, ReplicaState.GOING_TO_SLEEP)
        yield Sleep(replica.name, level)

    def _leave_for_good(self, replica: Replica) -> None:
        """Let a replica unload as soon as its devices have no move."""
        replica.must_unload, replica.makes_way_for = True, None
        asleep = replica.state is ReplicaState.ASLEEP or (
            replica.state is ReplicaState.PLANNED and replica.level
        )
        self._set(replica, ReplicaState.ASLEEP if asleep else ReplicaState.CLOSED)
        self._pending[replica] = None

    def _begin_unload(self, replica: Replica) -> Action:
        if replica.state is not ReplicaState.ASLEEP:
            replica.level = 0
        self._begin_move(replica, ReplicaState.UNLOADING)
        return Unload(replica.name)

    def _begin_move(self, replica: Replica, state: ReplicaState) -> None:
        self._pending.pop(replica, None)
        for device in replica.devices:
            device.moving = replica if device.exclusive_moves else None
            if replica.is_swap:
                if not device.swapping:
                    device.swapping_since = self.now
                device.swapping.add(replica)
        self._set(replica, state)

    def _end_move(self, replica: Replica) -> None:
        for device in replica.devices:
            device.moving = None
            if replica in device.swapping:
                device.swapping.remove(replica)
                if not device.swapping:
                    self.costs.swap_seconds += self.now - device.swapping_since

    def _set(self, replica: Replica, state: ReplicaState) -> None:
        replica.state, replica.since = state, self.now
        self.engine_of(replica).sort_replicas()

    def _remove(self, replica: Replica) -> None:
        """Forget a replica; engines that lacked memory on its devices are tried again (rule 7)."""
        engine = self.engine_of(replica)
        names = {device.name for device in replica.devices}
        for device in replica.devices:
            device.replicas.remove(replica)
        self._pending.pop(replica, None)
        del self.replicas[replica.name], engine.replicas[replica.name]
        engine.sort_replicas()
        for other in self.engines.values():
            if other is not engine and other.reason and other.failed_on & names:
                self._retry(other, 1)

    def engine_of(self, replica: Replica) -> EngineState:
        """Return the engine of a replica."""
        return self.engines[replica.memory.need.engine]


def _explain_level(replica: Replica, level: int) -> Statement:
    nodes = {device.node.node.name: device.node.node for device in replica.devices}
    return Statement(
        "engine.no_host_memory",
        "host memory has no room for the {gib:.1f} GiB of weights of engine {engine} while it "
        "sleeps: sleepers of a node may take {host_gib:.1f} GiB (fleet.sleep_gib). "
        "It {what_follows}",
        engine=replica.memory.need.engine,
        gib=replica.memory.host_gib,
        host_gib=min(node.host_gib for node in nodes.values()),
        what_follows="sleeps without them, and reads them again when it wakes"
        if level
        else "is unloaded, and loaded again for its next turn",
    )
