"""Which engines are loaded where, and with how many replicas: a state machine without effects.

`EngineScheduler.handle` takes what happened and returns what is to be done. The rules, in order:

1. Load what fits: every engine with demand has one replica before any has two. Before any demand is
   known, the largest engines are loaded first.
2. Free devices become replicas of the engine with the most seconds of work left per replica.
3. A replica is added only if it saves several times what its load takes, before an engine that
   waits takes its devices.
4. Engines that wait come in as devices become free: referees first, then the longest work, then the
   oldest. Residents with work are sent away for them only when patience is about to end.
5. A replica without work gives way after `linger_s`; a busy one gives way to an engine that has no
   replica if its own engine has another.
6. A client that cannot take replies reports no ready requests, so its engine counts as idle.
7. Failure is not for ever: an engine is tried again, and again after something has changed.

Running requests are never moved: a replica is closed and drained before it sleeps or unloads. A
move has all its devices to itself, and no device is promised more memory than it has.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from heapq import heapify, heapreplace

from raybench.engines.scheduler.devices import (
    COMES,
    EXTRA,
    IDLE,
    PRESSED,
    SLEEPER,
    TOLERANCE,
    WANTED_SLEEPER,
    DeviceMemory,
    Devices,
    MayLeave,
    Placement,
    Replica,
    choose_devices,
    place_on,
    stages_of,
)
from raybench.engines.scheduler.engine_state import EngineState
from raybench.engines.scheduler.messages import (
    Action,
    ClientGone,
    DevicesFound,
    DevicesLost,
    EngineNeed,
    Event,
    Measured,
    Node,
    NoMoreDevices,
    Refuse,
    ReplicaState,
    Reported,
    Rules,
    Tick,
    WeightsFetched,
    WeightsMissing,
)
from raybench.engines.scheduler.move_costs import MoveCosts, Swaps
from raybench.engines.scheduler.moves import ReplicaMoves

PAYS = 3.0
"""A replica has to save this many times the seconds that bringing it in takes."""
_SETTLE_S = 5.0
"""How long growth waits for engines that have not been reported: their clients begin too."""
_LOOK_S = 10.0
"""How often growth is looked at while work is done."""
_TICK_S = 1.0
_IN_HAND = 0.1
"""Share of the patience that is kept back, because durations are estimates."""
_TURN = 5.0
"""So many times its load an engine is left at work, if that leaves the others in time."""


class EngineScheduler:
    """The policy and what it knows of devices and engines. One of it decides for all clients."""

    def __init__(
        self,
        nodes: Sequence[Node],
        needs: Sequence[EngineNeed],
        rules: Rules | None = None,
        now: float = 0.0,
    ) -> None:
        self._rules = rules or Rules()
        self._now = now
        self._moves = ReplicaMoves(nodes, needs, self._rules, now)
        self._engines = self._moves.engines
        self._look = False
        """Something happened that may start or end a replica; most reports change only numbers."""
        self._grow_from = float("inf")
        self._next_tick: float | None = None
        self._reckoned: list[EngineState] = []
        """The engines for which the next two were computed."""
        self._slack_s = float("inf")
        self._share_s = float("inf")
        """Of the patience, for one turn of an engine."""

    @property
    def costs(self) -> MoveCosts:
        """Return what moves have cost so far."""
        return self._moves.costs

    def swaps(self, now: float) -> Swaps:
        """Return what swaps have cost so far, those under way too."""
        devices = self._moves.devices.by_name.values()
        under_way = (now - device.swapping_since for device in devices if device.swapping)
        return self.costs.until(now, sum(under_way))

    def preload(self, now: float) -> list[Action]:
        """Load what fits side by side before any client reports: referees first, then the largest.

        The largest engines are taken to be the slowest: no work is known yet.
        """
        self._now = self._moves.now = now
        self._preload(self._engines.values())
        return [*self._moves.begin_moves()]

    def _preload(self, engines: Iterable[EngineState]) -> None:
        for engine in sorted(engines, key=_by_size):
            if not engine.reason and not engine.coming:
                placement = choose_devices(engine.memory, self._moves.devices, lambda replica: None)
                if isinstance(placement, Placement):
                    engine.is_expected = True
                    list(self._moves.plan(engine, placement))  # nobody has to leave

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done, in order."""
        self._now = self._moves.now = now
        actions = [*self._take_in(event)]
        if self._look:
            self._look = False
            actions += self._decide()
        return actions

    def next_tick(self) -> float | None:
        """Return when to look again though nothing happens; None where nothing can change."""
        return self._next_tick

    def open_replicas(self) -> Mapping[str, tuple[str, ...]]:
        """Return the replicas that requests go to, by engine."""
        return {
            engine.name: tuple(replica.name for replica in engine.opened)
            for engine in self._engines.values()
            if engine.opened
        }

    def states(self, engine: str) -> dict[str, ReplicaState]:
        """Return where the replicas of an engine stand."""
        return {each.name: each.state for each in self._engines[engine].replicas.values()}

    def failures(self) -> dict[str, str]:
        """Return the engines that are unavailable, and why."""
        return {each.name: each.reason for each in self._engines.values() if each.reason}

    def engines(self) -> list[str]:
        """Return the names of all engines."""
        return [*self._engines]

    def open_requests(self, engine: str) -> dict[str, int]:
        """Return the requests to an engine that have no reply, by the model that is asked."""
        models = Counter[str]()
        for report in self._engines[engine].reports.values():
            models.update(report.models)
        return dict(models)

    def waiting(self) -> dict[str, int]:
        """Return the ready requests of engines that have no open replica."""
        return {
            engine.name: engine.ready
            for engine in self._engines.values()
            if engine.ready and not engine.opened and not engine.reason
        }

    def without_devices(self) -> list[str]:
        """Return the engines with demand that fit on none of the devices that are there."""
        return [
            engine.name
            for engine in self._engines.values()
            if self._waits(engine) and not self._moves.devices.fitting(engine.memory)
        ]

    def without_weights(self) -> set[str]:
        """Return the engines that wait for their weights to come to a node that could hold them."""
        return {
            engine.name
            for engine in self._engines.values()
            if not engine.reason and self._moves.devices.lacks_weights(engine.memory)
        }

    def usage(self) -> dict[str, float]:
        """Return the GiB in use on each device, now."""
        return {name: device.held_gib() for name, device in self._moves.devices.by_name.items()}

    # What happened

    def _take_in(self, event: Event) -> Iterator[Action]:
        self._look = not isinstance(event, Reported)
        match event:
            case Reported(report):
                engine = self._engines[report.engine]
                before = engine.wants, engine.is_busy
                self._grow_from = min(self._grow_from, self._now + _SETTLE_S)
                engine.take_in(report, self._now)
                self._look = before != (engine.wants, engine.is_busy)
                if engine.reason and engine.is_busy and self._look:
                    yield Refuse(engine.name, engine.reason)
            case ClientGone(client):
                for engine in self._engines.values():
                    engine.forget(client, self._now)
            case DevicesLost(names, awaited):
                self._moves.are_awaited |= awaited
                yield from self._moves.lose(names)
            case DevicesFound(nodes):
                self._moves.devices.add(nodes)
                yield from self._moves.change_devices()
            case NoMoreDevices():
                self._moves.are_awaited = False
                yield from self._moves.change_devices()
            case Measured(name, gib):
                if name in self._moves.devices.by_name:
                    self._moves.devices.by_name[name].other_gib = gib
            case WeightsFetched(name, node):
                self._moves.note_weights(self._engines[name], node)
                if not self._engines[name].is_known:
                    self._preload([self._engines[name]])
            case WeightsMissing(name, reason):
                yield from self._moves.fail_weights(self._engines[name], reason)
            case Tick():
                pass
            case _:
                if event.replica in self._moves.replicas:
                    yield from self._moves.hear_of(self._moves.replicas[event.replica], event)

    # What to do

    def _decide(self) -> Iterator[Action]:
        self._moves.cancel_plans()
        if waiting := self._list_waiting():
            yield from self._admit(waiting)
        yield from self._moves.reopen()
        yield from self._grow()
        yield from self._moves.begin_moves()
        self._next_tick = self._find_next_tick()

    def _waits(self, engine: EngineState) -> bool:
        """Tell whether an engine waits for devices: not while it waits for its weights."""
        if not engine.wants or engine.reason or engine.coming:
            return False
        return not self._moves.devices.lacks_weights(engine.memory)

    def _list_waiting(self) -> list[EngineState]:
        waiting = []
        for engine in self._engines.values():
            if not self._waits(engine):
                engine.waiting_since = None
            else:
                if engine.waiting_since is None:
                    engine.waiting_since = self._now
                waiting.append(engine)
        return waiting

    def _admission_order(self, engine: EngineState) -> tuple[bool, float, float]:
        """Sort referees first, then the longest work, then the oldest (rule 4).

        Work that is too short to pay a replica is not ordered by its length: engines that ask
        each other would come in again and again for what has gathered since.
        """
        since = self._now if engine.waiting_since is None else engine.waiting_since
        left_s = engine.seconds_left()
        is_long = left_s >= PAYS * engine.load_s
        return not engine.need.is_referee, -left_s if is_long else 0.0, since

    def _admit(self, waiting: list[EngineState]) -> Iterator[Action]:
        """Give every engine with demand its first replica (rules 1, 4 and 5)."""
        mains = self._main_replicas()
        pressed = self._find_pressed(waiting)
        if pressed and (found := self._find_devices(pressed, self._gives_way(mains, pressed))):
            yield from self._moves.plan(pressed, *found)
        may_leave, too_large = self._gives_way(mains), _TooLarge(self._moves.devices)
        # Patience counts from the oldest; while it does not press, work is ordered by its length.
        ordered = sorted(waiting, key=_by_age if pressed else self._admission_order)
        # Who sleeps elsewhere is loaded once more only on devices that nobody else can use.
        for again in (False, True):
            for engine in ordered:
                loads = again or not engine.can_wake
                if engine.coming or (again and not self._pays_again(engine)):
                    continue
                if too_large.holds(engine) and (again or not engine.asleep):
                    continue
                if found := self._find_devices(engine, may_leave, elsewhere=loads):
                    yield from self._moves.plan(engine, *found)
                elif loads:
                    too_large.add(engine)

    def _pays_again(self, engine: EngineState) -> bool:
        """Tell whether an engine is to be loaded though it sleeps on devices that others use.

        Not where their known work ends so soon that this saves less than a replica has to.
        """
        if not engine.can_wake:
            return False

        return PAYS * engine.load_s <= min(
            max(
                0.0 if (other := self._moves.engine_of(each)) is engine else _ends_s(other)
                for device in replica.devices
                for each in device.replicas
            )
            for replica in engine.replicas.values()
            if replica.devices and not replica.must_unload
        )

    def _main_replicas(self) -> dict[EngineState, Replica]:
        """Return the replica of each engine that it gives up last."""
        mains = {}
        for engine in self._engines.values():
            if replicas := engine.opened or engine.coming:
                mains[engine] = replicas[0]
        return mains

    def _gives_way(
        self, mains: dict[EngineState, Replica], pressed: EngineState | None = None
    ) -> MayLeave:
        """Return who leaves for an engine that has no replica, or for one that is pressed."""

        def may_leave(replica: Replica) -> tuple[int, float] | None:
            engine = self._moves.engine_of(replica)
            if replica.state is ReplicaState.ASLEEP:
                return _rank_sleeper(engine, replica)
            is_extra = mains.get(engine, replica) is not replica
            if replica.state is ReplicaState.PLANNED and is_extra:
                return None if replica.level or replica.restarts else (IDLE, 0.0)
            if replica.state is not ReplicaState.OPEN:
                return None
            if not engine.is_busy:
                idle_since = max(engine.idle_since, replica.since)
                lingered = self._now - idle_since >= self._rules.linger_s - TOLERANCE
                return (IDLE, idle_since) if lingered else None
            if is_extra:
                return EXTRA, engine.seconds_left(len(engine.opened))
            # Whoever came in has its turn, however many others wait.
            if pressed and self._now - replica.since >= self._turn_s(engine):
                return PRESSED, replica.since
            return None

        return may_leave

    def _find_devices(
        self, engine: EngineState, may_leave: MayLeave, *, elsewhere: bool = True
    ) -> tuple[Placement, Replica | None] | None:
        """Return where to wake a replica, or to load one; a wake if both send away as many.

        elsewhere: it may be loaded where none of its replicas sleeps.
        """
        best: tuple[Placement, Replica | None] | None = None
        for sleeper in engine.asleep:
            devices = sleeper.devices
            place = place_on(engine.memory, devices, len(devices), may_leave, sleeper)
            if place and (best is None or place.cost < best[0].cost):
                best = place, sleeper
        if elsewhere and (best is None or best[0].cost[0]):
            chosen = choose_devices(engine.memory, self._moves.devices, may_leave)
            if isinstance(chosen, Placement) and (not best or chosen.cost[0] < best[0].cost[0]):
                best = chosen, None
        return best

    def _find_pressed(self, waiting: Sequence[EngineState]) -> EngineState | None:
        """Return the engine that has to come in now so that patience holds for all, if any."""
        self._reckoned = list(waiting)
        oldest = sorted(waiting, key=_by_age)
        coming = [(each, engine) for engine in self._engines.values() for each in engine.coming]
        wanting = len(waiting) + sum(engine.is_busy for _, engine in coming)
        patience = self._rules.patience_s * (1 - _IN_HAND)
        self._share_s = patience * max(1, len(coming)) / wanting
        self._slack_s = self._slack(oldest, coming, patience)
        return oldest[0] if self._slack_s <= TOLERANCE else None

    def _slack(
        self,
        waiting: Sequence[EngineState],
        coming: Sequence[tuple[Replica, EngineState]],
        patience: float,
    ) -> float:
        """Return how long residents may go on until these can only just be served in time.

        Each takes the devices that are free first, in this order, for its turn.
        """
        free: dict[DeviceMemory, list[float]] = {}
        for replica, engine in coming:
            until = engine.drain_s + engine.leave_s
            if replica.state is not ReplicaState.OPEN:
                until = engine.arrival_s + self._stays_s(engine)
            for device in replica.devices:
                free.setdefault(device, []).append(until)
        for device in self._moves.devices.by_name.values():
            heapify(free.setdefault(device, [0.0]))
        slack = float("inf")
        for engine in waiting:
            nodes = self._moves.devices.fitting(engine.memory)
            if not nodes:
                continue
            stages, count = stages_of(engine.need, nodes)
            starts = []
            for number, node in enumerate(nodes):
                times = [free[device][0] for device in node]
                starts.append((min(times) if count == 1 else sorted(times)[count - 1], number))
            starts = [min(starts)] if stages == 1 else sorted(starts)[:stages]
            begins = starts[-1][0] + engine.arrival_s
            since = self._now if engine.waiting_since is None else engine.waiting_since
            slack = min(slack, since + patience - self._now - begins)
            for _, number in starts:
                for device in sorted(nodes[number], key=lambda each: free[each][0])[:count]:
                    heapreplace(free[device], begins + self._stays_s(engine))
        return slack

    def _turn_s(self, engine: EngineState) -> float:
        """Return how long an engine is left at work while others have to come in."""
        share = self._share_s - engine.arrival_s - engine.leave_s
        return max(min(share, _TURN * engine.load_s), engine.load_s)

    def _stays_s(self, engine: EngineState) -> float:
        """Return how long an engine is reckoned to stay: its turn, where more requests may come."""
        turn_s = self._turn_s(engine)
        left_s = engine.seconds_left() if engine.knows_remaining else turn_s
        return min(left_s, turn_s) + engine.leave_s

    def _grow(self) -> Iterator[Action]:
        """Make free devices replicas of engines that have one (rules 2 and 3)."""
        known = all(engine.is_known for engine in self._engines.values())
        if self._now < self._grow_from and not known:
            return
        taken_s, too_large = self._find_takers(), _TooLarge(self._moves.devices)
        growing = True
        while growing:
            growing = False
            engines = [engine for engine in self._engines.values() if self._pays(engine)]
            for engine in sorted(engines, key=self._growth_order):
                if too_large.holds(engine) and not engine.asleep:
                    continue
                found = self._find_devices(engine, self._gives_way_to_growth(engine))
                if found and taken_s(found[0].devices) >= PAYS * engine.arrival_s:
                    yield from self._moves.plan(engine, *found)
                    growing = True
                    break
                too_large.add(engine)

    def _pays(self, engine: EngineState) -> bool:
        """Tell whether an engine is to have one replica more."""
        replicas = len(engine.coming)
        if not replicas or not engine.may_grow or engine.reason or not engine.is_busy:
            return False
        if engine.need.replicas is not None:
            return replicas < engine.need.replicas
        saved = engine.seconds_left(replicas) / (replicas + 1)
        return engine.ready + engine.remaining > 0 and saved >= PAYS * engine.arrival_s

    def _find_takers(self) -> Callable[[Sequence[DeviceMemory]], float]:
        """Return what tells how soon an engine that waits takes these devices (rule 1)."""
        waiting = [engine for engine in self._engines.values() if self._waits(engine)]
        frees_s = cache(self._frees_s)

        @cache
        def comes_in_s(engine: EngineState) -> float:
            if engine.can_wake and not self._pays_again(engine):
                return float("inf")  # it waits for the devices that it sleeps on
            nodes = self._moves.devices.fitting(engine.memory)
            stages, count = stages_of(engine.need, nodes)
            starts = sorted(sorted(map(frees_s, node))[count - 1] for node in nodes)
            return min(starts[stages - 1], self._slack_s)

        def taken_s(devices: Sequence[DeviceMemory]) -> float:
            return min(
                (
                    comes_in_s(engine)
                    for engine in waiting
                    for node in self._moves.devices.fitting(engine.memory)
                    if any(device in node for device in devices)
                ),
                default=float("inf"),
            )

        return taken_s

    def _frees_s(self, device: DeviceMemory) -> float:
        """Return when the last replica of an engine on a device ends its known work."""
        engines = [(each, self._moves.engine_of(each)) for each in device.replicas]
        return max(
            (
                _ends_s(engine)
                for replica, engine in engines
                if replica.state in COMES and replica in (engine.opened or engine.coming)[:1]
            ),
            default=0.0,
        )

    def _growth_order(self, engine: EngineState) -> tuple[bool, float]:
        return engine.need.replicas is None, -engine.seconds_left(len(engine.coming))

    def _gives_way_to_growth(self, comer: EngineState) -> MayLeave:
        """Return who leaves for one replica more: whoever has finished, or was idle for long."""

        def may_leave(replica: Replica) -> tuple[int, float] | None:
            engine = self._moves.engine_of(replica)
            if replica.state is ReplicaState.ASLEEP:
                return _rank_sleeper(engine, replica)
            if replica.state is not ReplicaState.OPEN or engine is comer:
                return None
            if not engine.is_busy:
                idle_since = max(engine.idle_since, replica.since)
                finished = engine.knows_remaining and not engine.remaining
                least = max(self._rules.linger_s, 0.0 if finished else engine.load_s)
                return (IDLE, idle_since) if self._now - idle_since >= least else None
            is_extra = engine.need.replicas is None and len(engine.opened) > 1
            if comer.need.replicas is not None and is_extra and replica is not engine.opened[0]:
                return EXTRA, engine.seconds_left(len(engine.opened))
            return None

        return may_leave

    def _find_next_tick(self) -> float | None:
        times = []
        if waiting := [engine for engine in self._engines.values() if self._waits(engine)]:
            if waiting != self._reckoned:
                self._find_pressed(waiting)
            times.append(self._now + max(self._slack_s, _TICK_S))
            for engine in self._engines.values():
                if not engine.is_busy:
                    for replica in engine.opened:
                        idle_since = max(engine.idle_since, replica.since)
                        times.append(idle_since + self._rules.linger_s)
        if any(map(self._pays, self._engines.values())):
            times += [self._now + _LOOK_S, self._grow_from]
        return min((time for time in times if time > self._now), default=None)


def _rank_sleeper(engine: EngineState, replica: Replica) -> tuple[int, float]:
    """Return how soon a sleeping replica is unloaded; of those that wait, who came last."""
    if engine.waiting_since is None:
        return SLEEPER, replica.since
    return WANTED_SLEEPER, -engine.waiting_since


def _ends_s(engine: EngineState) -> float:
    """Return how long an engine still takes for all its work; infinity where nobody knows."""
    if not engine.is_busy:
        return 0.0
    return engine.seconds_left(len(engine.coming)) if engine.knows_remaining else float("inf")


def _by_size(engine: EngineState) -> tuple[bool, float]:
    return not engine.need.is_referee, -engine.need.memory.weights * engine.need.devices


def _by_age(engine: EngineState) -> float:
    return engine.waiting_since or 0.0


class _TooLarge:
    """Engines that found no devices in a decision, and all that need as many and as much."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._least: dict[tuple[object, ...], float] = {}

    def add(self, engine: EngineState) -> None:
        """Note that an engine found no devices."""
        key, gib = self._kind(engine)
        self._least[key] = min(gib, self._least.get(key, gib))

    def holds(self, engine: EngineState) -> bool:
        """Tell whether an engine needs no less than one that found no devices."""
        key, gib = self._kind(engine)
        return gib >= self._least.get(key, float("inf"))

    def _kind(self, engine: EngineState) -> tuple[tuple[object, ...], float]:
        need, memory = engine.need, engine.memory
        beyond_gib = memory.measured_gib if need.share else None
        key = (need.devices, need.nodes, need.share, beyond_gib, memory.alone, *need.on.items())
        lacking = (name for name, it in self._devices.nodes.items() if engine.name in it.lacks)
        return (*key, *lacking), memory.least_gib
