"""Which engines are awake: a state machine that decides, and does nothing itself.

Engines share devices that do not hold all of them at once. Clients ask for a lease before they
send work; `Residency.handle` takes what happened (work queued, work done, an engine settled or
failed, time passed) and says what to do (grant a lease, load, wake, put to sleep, unload).

The rules:

- An engine with running work is never moved. Its leases must be done first.
- A resident engine serves its whole queue, and what arrives meanwhile, before it makes way: work
  waiting elsewhere gathers, and one swap serves all of it. Who waits longest is next.
- No work waits longer than `patience_s`, as far as the devices can do it: when the work that waits
  elsewhere could otherwise not be reached in time, a resident gets no new leases and makes way as
  soon as its running work is done.
- Who makes way sleeps with its weights in host memory (level 1) while the budget lasts, without
  them (level 2) beyond it, and is unloaded where it cannot sleep or the device is too full for the
  rest that a sleeping engine leaves there.
"""

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Literal

from raybench.fleet.memory import TOLERANCE, Memory
from raybench.fleet.resident import Held, Leaver, Resident
from raybench.fleet.swaps import SwapMeter, Swaps
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
from raybench.statements import Statement

_TICK_S = 1.0
_IN_HAND = 0.1
"""Share of the patience that is kept back, because how long work takes is only estimated."""


class Residency:
    """The policy and what it knows of the engines. One of it decides for all clients."""

    def __init__(
        self,
        devices: Sequence[Device],
        demands: Sequence[Demand],
        rules: Rules | None = None,
        now: float = 0.0,
    ) -> None:
        self._memory = Memory(devices)
        self._engines = {
            demand.engine: Resident(demand, demand.load_s, demand.wake_s, demand.leave_s)
            for demand in demands
        }
        self._rules = rules or Rules()
        self._leases: dict[str, Resident] = {}
        self._look = False
        """Something happened that may let an engine move; most of what happens does not."""
        self._awaited = False
        """Devices are to come in the place of lost ones."""
        self._now = now
        self._swaps = SwapMeter(len(devices), now)
        for engine in self._engines.values():
            if not any(self._memory.sets(engine.demand)):
                engine.state, engine.reason = State.FAILED, self._memory.too_big(engine.demand)

    def preload(self, now: float) -> list[Action]:
        """Load what fits side by side, before anybody asks, in the order of the engines."""
        self._now = now
        actions: list[Action] = []
        for engine in self._engines.values():
            if engine.state is State.COLD:
                for devices in self._memory.sets(engine.demand):
                    if self._fits(engine, devices, {}):
                        actions += self._bring(engine, devices)
                        break
        return actions

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take in what happened; return what is to be done, in order."""
        self._now = now
        actions = list(self._take_in(event))
        actions += self._grant()
        if self._look:
            self._look = False
            actions += self._decide()
        return actions

    def next_tick(self) -> float | None:
        """Return when to look again though nothing happens; None while nobody waits."""
        absent = self._absent()
        if not absent:
            return None
        slack = self._slack(sorted(absent, key=lambda engine: engine.oldest))
        times = [self._now + max(slack, _TICK_S)]
        for engine in self._engines.values():
            lingers = engine.idle_since + self._rules.linger_s
            if engine.idle and lingers > self._now:
                times.append(lingers)
        return min(times)

    def state(self, engine: str) -> State:
        """Tell where an engine stands."""
        return self._engines[engine].state

    def failures(self) -> dict[str, str]:
        """Return the engines that cannot be had, and why."""
        return {
            engine.name: engine.reason
            for engine in self._engines.values()
            if engine.state is State.FAILED
        }

    def waiting(self) -> dict[str, int]:
        """Return the requests that wait, by engine."""
        return {engine.name: engine.work for engine in self._engines.values() if engine.waiting}

    def usage(self) -> dict[str, float]:
        """Return the GiB in use on each device, now."""
        return self._memory.held(self._engines.values())

    def swaps(self, now: float) -> Swaps:
        """Return what swapping has cost so far."""
        return self._swaps.total(now)

    # What happened

    def _take_in(self, event: Event) -> Iterator[Action]:
        self._look = not isinstance(event, Queued | Done)
        match event:
            case Queued(lease, name, work):
                engine = self._engines[name]
                if engine.state is State.FAILED:
                    yield Refuse(lease, engine.reason)
                    return
                engine.waiting[lease] = Held(work, self._now)
                engine.work += work
                self._look = engine.away
                self._leases[lease] = engine
            case Done(lease):
                self._done(lease)
            case Settled(name):
                self._settle(self._engines[name])
                yield from self._without_place()
            case Failed(name, reason):
                engine = self._engines[name]
                if engine.state in (State.ARRIVING, State.LEAVING):
                    self._swap_ends(engine)
                yield from self._fail(engine, reason)
            case Lost(lost, awaited):
                self._awaited |= awaited
                self._memory.drop(lost)
                self._swaps.there_are(len(self._memory), self._now)
                for engine in self._engines.values():
                    if lost & {*engine.devices}:
                        yield from self._lose(engine)
                yield from self._without_place()
            case Found(devices):
                self._memory.add(devices)
                self._swaps.there_are(len(self._memory), self._now)
            case NoMore():
                self._awaited = False
                yield from self._without_place()
            case Tick():
                pass

    def _fail(self, engine: Resident, reason: str) -> Iterator[Action]:
        engine.state, engine.devices, engine.level = State.FAILED, (), 0
        engine.takes_gib, engine.reason = 0.0, reason
        for lease in engine.waiting:
            del self._leases[lease]
            yield Refuse(lease, reason)
        engine.waiting.clear()
        engine.work = 0

    def _lose(self, engine: Resident) -> Iterator[Action]:
        """Take an engine from devices that are gone. Who was at work with it gives that back."""
        if engine.state in (State.ARRIVING, State.LEAVING):
            self._swap_ends(engine)
        loaded = engine.state is not State.WANTED
        engine.devices, engine.level, engine.takes_gib = (), 0, 0.0
        engine.closing_for, engine.swaps_in = "", False
        engine.state, engine.changing_since = State.COLD, self._now
        if loaded:  # what is left of it has to go before it can come up elsewhere
            engine.state = State.LEAVING
            yield Unload(engine.name)

    def _without_place(self) -> Iterator[Action]:
        """Give up on engines that no device is left for, and none is to come."""
        if self._awaited:
            return
        for engine in self._engines.values():
            if engine.state is State.COLD and not any(self._memory.sets(engine.demand)):
                yield from self._fail(
                    engine,
                    Statement(
                        "engine.no_node",
                        "engine {engine} had its place on a node that died, and no other node "
                        "has room for it: bring one up, and give the same command again",
                        engine=engine.name,
                    ),
                )

    def _done(self, lease: str) -> None:
        engine = self._leases.pop(lease, None)
        if engine is None:
            return  # refused, or given back before
        if waited := engine.waiting.pop(lease, None):
            engine.work -= waited.work
        else:
            work = engine.running.pop(lease).work
            engine.running_work -= work
            engine.work_done += work
            if not engine.running:
                engine.busy_s += self._now - engine.busy_since
                self._look = True
        if not engine.running and not engine.waiting:
            engine.idle_since = self._now

    def _settle(self, engine: Resident) -> None:
        self._swap_ends(engine)
        if engine.state is State.ARRIVING:
            took = self._now - engine.changing_since
            if engine.level:
                engine.wake_s = took
            else:
                engine.load_s = took
            engine.state, engine.level = State.AWAKE, 0
            engine.idle_since = self._now
        elif engine.state is State.LEAVING:
            engine.leave_s = self._now - engine.changing_since
            if engine.level:
                engine.state, engine.takes_gib = State.ASLEEP, engine.demand.asleep_gib
            else:
                engine.state, engine.takes_gib, engine.devices = State.COLD, 0.0, ()

    def _swap_ends(self, engine: Resident) -> None:
        if engine.state is State.LEAVING or engine.swaps_in:  # else it went where there was room
            self._swaps.ends(engine.devices, self._now)

    # What to do

    def _decide(self) -> Iterator[Action]:
        yield from self._begin_wanted()
        absent = sorted(self._absent(), key=lambda engine: engine.oldest)
        pressing = bool(absent) and self._slack(absent) <= TOLERANCE
        movable = [engine for engine in absent if engine.state in (State.COLD, State.ASLEEP)]
        for engine in movable:
            yield from self._make_room(engine, pressing=pressing and engine is movable[0])
        for engine in self._engines.values():
            # Who was asked to make way for one that found another place, or no longer waits, stays.
            if engine.closing_for and self._engines[engine.closing_for] not in movable:
                engine.closing_for = ""
        yield from self._begin_wanted()
        yield from self._grant()

    def _grant(self) -> Iterator[Action]:
        for engine in self._engines.values():
            if engine.state is State.AWAKE and not engine.closing_for and engine.waiting:
                if not engine.running:
                    engine.busy_since = self._now
                yield from map(Grant, engine.waiting)
                engine.running |= engine.waiting
                engine.running_work += engine.work
                engine.waiting.clear()
                engine.work = 0

    def _absent(self) -> list[Resident]:
        """Return the engines with work waiting that are not even on their way."""
        return [engine for engine in self._engines.values() if engine.waiting and engine.away]

    def _wanted(self) -> list[Resident]:
        return [engine for engine in self._engines.values() if engine.state is State.WANTED]

    def _slack(self, absent: Sequence[Resident]) -> float:
        """Return how long the residents can go on, if these then come in, in this order.

        Each takes the place that is free first, for as long as the work that waits for it takes.
        """
        free = [
            engine.leave_s + self._seconds(engine, engine.running_work)
            for engine in self._engines.values()
            if engine.state is State.AWAKE
        ] or [0.0]
        heapify(free)
        patience = self._rules.patience_s * (1 - _IN_HAND)
        slack = float("inf")
        for engine in absent:
            begins = heappop(free) + (engine.wake_s if engine.level else engine.load_s)
            slack = min(slack, engine.oldest + patience - self._now - begins)
            heappush(free, begins + self._seconds(engine, engine.work) + engine.leave_s)
        return slack

    def _seconds(self, engine: Resident, work: int) -> float:
        """Estimate how long so much work takes, from what it has done, or else the others."""
        for engines in ([engine], self._engines.values()):
            # Half of what is under way counts as done: it was begun at once, and ends at once.
            if done := sum(each.work_done + each.running_work / 2 for each in engines):
                return work * sum(each.busy(self._now) for each in engines) / done
        return 0.0

    def _make_room(self, engine: Resident, *, pressing: bool) -> Iterator[Action]:
        """Set devices aside for an engine, and send away who has to leave them."""
        best: tuple[tuple[float, ...], tuple[str, ...], list[Leaver]] | None = None
        for devices in self._memory.sets(engine.demand):
            leaving = self._leavers(engine, devices, pressing=pressing)
            if leaving is None:
                continue
            moves = engine.state is State.ASLEEP and devices != engine.devices
            if moves and leaving:
                continue  # where it sleeps, one who leaves is enough
            cost = (
                float(sum(bool(who.engine.running or who.engine.waiting) for who in leaving)),
                float(len(leaving) + moves),
                max((who.engine.idle_since for who in leaving), default=0.0),
            )
            if best is None or cost < best[0]:
                best = (cost, devices, leaving)
        if best is None:
            return
        _, devices, leaving = best
        busy = [who.engine for who in leaving if who.engine.running]
        for other in busy:
            other.closing_for = engine.name
        if busy:
            return  # asked again as soon as they are done
        for who in leaving:
            yield self._send_away(who.engine, unload=who.unload)
        engine.swaps_in = bool(leaving)
        if engine.state is State.ASLEEP and devices != engine.devices:
            yield self._send_away(engine, unload=True)
        else:
            engine.state, engine.devices = State.WANTED, devices

    def _leavers(
        self, engine: Resident, devices: tuple[str, ...], *, pressing: bool
    ) -> list[Leaver] | None:
        """Return who would have to leave these devices for the engine; None where not all can."""
        candidates = [
            other
            for other in self._engines.values()
            if other is not engine
            and set(other.devices) & set(devices)
            and (other.state is State.ASLEEP or self._may_leave(other, engine, pressing=pressing))
        ]
        # Mostly there is no room whoever leaves; then the ways to leave need not be tried.
        nobody = {other.name: Leaver(other, unload=True) for other in candidates}
        if not self._fits(engine, devices, nobody):
            return None
        # Sleepers leave little behind, so they go last; of the others who was idle first.
        candidates.sort(
            key=lambda other: (
                other.state is State.ASLEEP,
                bool(other.running),
                bool(other.waiting),
                other.idle_since,
            )
        )
        leaving: dict[str, Leaver] = {}
        # First each in the way that is best for it; then, should what sleepers leave behind be too
        # much, they are unloaded as well.
        for unload in (False, True):
            for other in candidates:
                if self._fits(engine, devices, leaving):
                    return list(leaving.values())
                leaving[other.name] = Leaver(other, unload or other.state is State.ASLEEP)
        return list(leaving.values())

    def _may_leave(self, engine: Resident, comes: Resident, *, pressing: bool) -> bool:
        if engine.state is not State.AWAKE:
            return False
        lingered = self._now - engine.idle_since >= self._rules.linger_s - TOLERANCE
        return pressing or engine.closing_for == comes.name or (engine.idle and lingered)

    def _send_away(self, engine: Resident, *, unload: bool) -> Action:
        engine.state, engine.changing_since, engine.closing_for = State.LEAVING, self._now, ""
        self._swaps.begins(engine.devices, self._now)
        engine.level = 0 if unload else self._level(engine)
        return Sleep(engine.name, engine.level) if engine.level else Unload(engine.name)

    def _level(self, engine: Resident) -> Literal[0, 1, 2]:
        if not engine.demand.can_sleep:
            return 0
        node = self._memory.node(engine.devices)
        taken = sum(
            other.demand.host_gib
            for other in self._engines.values()
            if other is not engine and other.level == 1 and self._memory.node(other.devices) == node
        )
        return 1 if taken + engine.demand.host_gib <= self._rules.host_gib + TOLERANCE else 2

    def _begin_wanted(self) -> Iterator[Action]:
        """Bring in those whose devices are free by now."""
        for engine in self._wanted():
            taken = self._memory.held(self._others(engine))
            if self._memory.fits(engine.demand, engine.devices, taken):
                yield from self._bring(engine, engine.devices)

    def _bring(self, engine: Resident, devices: tuple[str, ...]) -> Iterator[Action]:
        engine.state, engine.devices = State.ARRIVING, devices
        engine.takes_gib, engine.changing_since = engine.demand.memory_gib, self._now
        self._swaps.brought_in(in_place_of_others=engine.swaps_in)
        if engine.swaps_in:
            self._swaps.begins(engine.devices, self._now)
        yield Wake(engine.name, engine.level) if engine.level else Load(engine.name, devices)

    def _fits(
        self, engine: Resident, devices: Sequence[str], leaving: Mapping[str, Leaver]
    ) -> bool:
        """Tell whether there is room for an engine when those who leave are gone."""
        taken = self._memory.claimed(self._others(engine), leaving)
        return self._memory.fits(engine.demand, devices, taken)

    def _others(self, engine: Resident) -> Iterator[Resident]:
        return (other for other in self._engines.values() if other is not engine)
