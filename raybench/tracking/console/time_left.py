"""Estimate how long a run still takes, from the rates of its stages: arithmetic on given times.

Work is counted in lanes: what one model (or the sandbox) has to do of one kind, such as a
benchmark. Lanes share an engine, which works on several units at once. Two things are measured:
the own seconds of a lane's units, on average, and how many units the engine has under way while it
is at work, that is, own seconds per second of its clock. The recent past counts most for the
latter. What a lane has left takes its units times their own seconds, divided by that number.

Engines work side by side, so the slowest one decides. Hosted engines that share devices take turns:
as many work at once as were seen up at once, and each further one has to be loaded first.
"""

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from raybench.tracking.console.models import Seen

Lane = tuple[str, str]
"""Who does the work, and of which kind it is."""
Done = Mapping[Lane, tuple[float, float]]
"""Units that are done, and the seconds that they took by themselves, all together."""
_HALF_LIFE_S, _HALF_LIFE_SHARE = 60.0, 0.5
"""After so many seconds, or such a share of the time so far, a measurement counts half."""
_ENOUGH, _ENOUGH_SHARE = 5, 0.05
"""So many units say something about the pace; or such a share of all, where these are fewer."""
_PAUSE_SHARE, _PAUSE_GAPS = 0.05, 5
"""A silence counts for no more than this share of the time so far, so many usual ones, or twice
what the units take that end it."""
_TOLD_SHARE, _TOLD_S = 0.1, 600.0
"""Nothing is estimated before this share of the whole time, or so many seconds, have passed."""
_LONGER = 0.2
"""The longest of several units takes longer than they do on average: by this share times the
logarithm of their number. It is what the end of an engine's work waits for."""
_FOLLOW_SHARE, _FOLLOW_S = 0.05, (1.0, 20.0)
"""The shown value covers half of its distance to the estimate in this share of the time left, but
in no fewer and no more seconds than these."""
_UP = ("awake", "coming up")
Measured = Mapping[str, Mapping[str, tuple[float, float]]]
"""By model and kind, the seconds that an engine's clock takes per unit, and how far they can be
relied on: the first of many units are the short ones, so that as many are needed as the engine has
under way."""


@dataclass(slots=True)
class _Units:
    """The units of a lane."""

    left: float = 0.0
    done: float = 0.0
    recent: float = 0.0
    """Those that are done, discounted by their age, ..."""
    seconds: float = 0.0
    """... and what they took by themselves, discounted likewise."""


@dataclass(slots=True)
class _Engine:
    """The lanes that one clock times, and how many units it has under way."""

    now: float
    is_active: bool = True
    lanes: dict[Lane, _Units] = field(default_factory=dict)
    clock: float = 0.0
    """Seconds at work."""
    last: float = 0.0
    """When, by its clock, something arrived for the last time."""
    gap: float = 0.0
    """Seconds from one arrival to the next."""
    work: float = 0.0
    """Own seconds of what arrived, discounted by their age, ..."""
    time: float = 0.0
    """... and the seconds at work that they took, discounted likewise."""
    squares: float = 0.0
    from_start: float = 1.0
    """What is left of the weight of the first measurement."""
    is_timed: bool = False
    """Somebody says how long units take by themselves; else all are taken to be alike."""
    draining: tuple[float, dict[Lane, float]] | None = None
    """When its last units got under way, and how long each lane's then took to the end."""

    def tick(self, now: float) -> None:
        """Let the clock run up to now, if the engine is at work."""
        if self.is_active:
            self.clock += max(0.0, now - self.now)
        self.now = now

    def take(self, done: Done) -> None:
        """Take units that arrived."""
        if not self.is_timed and any(own_s for _, own_s in done.values()):
            self.is_timed = True
            self.work = self.time = self.squares = 0.0
        seconds = self.clock - self.last
        if self.gap:
            longest = max((own_s / units for units, own_s in done.values() if units), default=0.0)
            pause = max(_PAUSE_SHARE * self.clock, _PAUSE_GAPS * self.gap, 2 * longest)
            seconds = min(seconds, pause)
        discount = math.exp2(-seconds / max(_HALF_LIFE_S, _HALF_LIFE_SHARE * self.clock))
        self.work, self.time = self.work * discount, self.time * discount + seconds
        self.squares, self.from_start = self.squares * discount, self.from_start * discount
        for of in self.lanes.values():
            of.recent, of.seconds = of.recent * discount, of.seconds * discount
        for lane, (units, own_s) in done.items():
            of = self.lanes.setdefault(lane, _Units())
            of.left = max(0.0, of.left - units)
            of.done += units
            of.recent += units
            of.seconds += own_s
            work = own_s if self.is_timed else units
            self.work += work
            self.squares += work * work / units if units else 0.0
        if seconds:
            self.gap = (self.gap + seconds) / 2 if self.gap else seconds
        self.last = self.clock

    def each_s(self, lane: Lane) -> float | None:
        """Return what a unit of a lane takes by itself; None while nobody knows."""
        if not (of := self.lanes[lane]).done:
            return None
        return of.seconds / of.recent if self.is_timed else 1.0

    @property
    def at_once(self) -> float:
        """How many units it has under way; 0 while that is unknown.

        What others have under way when one arrives, is not counted yet. That is half of a unit's
        time, on average, and more where units are unlike: long ones are under way more often.
        """
        if not self.work or not self.time:
            return 0.0
        others = max(0.0, 1 - self.time / self.work)
        uncounted = others * self.from_start * self.squares / self.work / 2
        return self.work / max(self.time - uncounted, self.time / 2)

    @property
    def is_open(self) -> bool:
        """Tell whether it has units left."""
        return any(of.left > 0 for of in self.lanes.values())


class TimeLeft:
    """Estimates the seconds left. Every time that it is given is in seconds of one clock.

    There is an estimate as soon as five units (or a twentieth of all) have arrived, a tenth of the
    whole time (or ten minutes) has passed, and every lane with units left has a pace. A lane of
    which nothing has arrived is assumed to take as long per unit as the same kind takes other
    models, on average, times how much slower its own model is at the kinds that both have begun.
    A kind that nobody has begun has no pace, and there is no estimate before it has.

    It cannot foresee a pause, how long a model that has not begun takes beside others, or that the
    very last reply is several times as long as others.
    """

    def __init__(self, now: float = 0.0) -> None:
        self._engines: dict[str, _Engine] = {}
        self._engine_of: dict[str, str] = {}
        self._hosted: tuple[str, ...] = ()
        self._states: dict[str, str] = {}
        self._most_up = 1
        self._loading: dict[str, float] = {}
        self._loads_s: list[float] = []
        self._arrived = self._planned = self._at_least = 0.0
        self._began = now
        self._shown: tuple[float, float] | None = None

    def assign(self, models: Iterable[str], engine: str, *, hosted: bool) -> None:
        """Have one clock time the lanes of these models; without this, each has its own."""
        self._engine_of.update(dict.fromkeys(models, engine))
        if hosted and engine not in self._hosted:
            self._hosted += (engine,)

    def expect(self, now: float, lane: Lane, left: float) -> None:
        """Set how many units of a lane are left."""
        units = self._of(now, lane[0]).lanes.setdefault(lane, _Units())
        self._planned += left - units.left
        units.left = left

    def expect_longer(self, now: float, seconds: float) -> None:
        """Say that something is under way that takes so long, whatever the lanes have left."""
        self._at_least = now + seconds

    def skip(self, now: float, lane: Lane, units: float) -> None:
        """Count units that took no work, because their replies were known."""
        of = self._of(now, lane[0]).lanes.setdefault(lane, _Units())
        self._planned -= min(units, of.left)
        of.left = max(0.0, of.left - units)

    def start(self, now: float) -> None:
        """Begin to measure: the time before this was preparation."""
        self._began = now
        for engine in self._engines.values():
            engine.now = now
            engine.clock = engine.last = 0.0

    def arrive(self, now: float, done: Done, at_work_s: Mapping[str, float] | None = None) -> None:
        """Count units that are done.

        `at_work_s` is how long who does the work was at it since it last said so. Of hosted engines
        looks tell that, and others are taken to be at work all the time.
        """
        for model, seconds in (at_work_s or {}).items():
            engine = self._of(now, model)
            if self._engine_of.get(model) not in self._hosted:
                if engine.is_active and not engine.time:  # it waited for its first work
                    engine.clock = engine.last = 0.0
                engine.is_active = False
                engine.clock += seconds
        by_engine: dict[str, dict[Lane, tuple[float, float]]] = {}
        for lane, units in done.items():
            by_engine.setdefault(self._engine_of.get(lane[0], lane[0]), {})[lane] = units
            self._arrived += units[0]
        for name, arrived in by_engine.items():
            engine = self._of(now, next(iter(arrived))[0])
            if name in self._hosted:
                engine.is_active = True  # if for less time than from one look to the next
            engine.tick(now)
            engine.take(arrived)

    def look(self, now: float, models: Sequence[Seen]) -> None:
        """Note which hosted engines are at work, and which are coming up."""
        seen: dict[str, Seen] = {}
        for model in models:
            name = self._engine_of.get(model.name, "")
            if name not in seen or seen[name].state not in _UP:  # one of its models may be done
                seen[name] = model
        states = {name: seen[name].state for name in self._hosted if name in seen}
        for name, state in states.items():
            engine = self._of(now, seen[name].name)
            engine.tick(now)
            engine.is_active = seen[name].under_way > 0
            if state == "coming up":
                self._loading.setdefault(name, now)
            elif name in self._loading:
                self._loads_s.append(now - self._loading.pop(name))
        self._states = states
        self._most_up = max(self._most_up, sum(state in _UP for state in states.values()))

    def seconds(self, now: float) -> float | None:
        """Return the seconds until every lane is done; None while that cannot be estimated."""
        measured = self._measured(now)
        left = {
            name: _left(engine, measured)
            for name, engine in self._engines.items()
            if engine.is_open
        }
        known = {name: seconds for name, seconds in left.items() if seconds is not None}
        enough = min(_ENOUGH, _ENOUGH_SHARE * self._planned)
        if len(known) < len(left) or not self._arrived or self._arrived < enough:
            return None
        load_s = sum(self._loads_s) / len(self._loads_s) if self._loads_s else 0.0
        slots = [0.0] * self._most_up
        in_turn = [name for name in self._hosted if name in known]
        for name in sorted(in_turn, key=lambda name: self._states.get(name) not in _UP):
            in_s = 0.0 if self._states.get(name) in _UP else load_s
            if name in self._loading:
                in_s = max(0.0, load_s - (now - self._loading[name]))
            heapq.heappush(slots, heapq.heappop(slots) + in_s + known.pop(name))
        seconds = max([*slots, *known.values(), self._at_least - now])
        passed = now - self._began
        return seconds if passed >= min(_TOLD_SHARE * (passed + seconds), _TOLD_S) else None

    def shown(self, now: float) -> float | None:
        """Return the estimate smoothed: it goes down with the clock and follows news gradually."""
        estimate = self.seconds(now)
        if estimate is None or self._shown is None:
            self._shown = None if estimate is None else (now, estimate)
            return estimate
        then, shown = self._shown
        least, most = _FOLLOW_S
        half_s = min(max(_FOLLOW_SHARE * estimate, least), most)
        shown = max(0.0, shown - (now - then))
        shown += (estimate - shown) * (1.0 - math.exp2(-(now - then) / half_s))
        self._shown = now, shown
        return shown

    def of_model(self, now: float, model: str) -> float | None:
        """Return the seconds that a model has left; None where it shares its engine or device."""
        name = self._engine_of.get(model, model)
        engine = self._engines.get(name)
        if engine is None or not engine.is_open or {lane[0] for lane in engine.lanes} != {model}:
            return None
        if name in self._hosted and len(self._hosted) > self._most_up:
            return None
        return _left(engine, self._measured(now))

    def _of(self, now: float, model: str) -> _Engine:
        name = self._engine_of.get(model, model)
        if name not in self._engines:
            self._engines[name] = _Engine(now, name not in self._hosted)
        return self._engines[name]

    def _measured(self, now: float) -> Measured:
        """Return what is known of the lanes that have begun."""
        measured: dict[str, dict[str, tuple[float, float]]] = {}
        ours = [engine for name, engine in self._engines.items() if name in self._hosted]
        others = [it.at_once for it in ours if it.time >= _HALF_LIFE_S]
        for name, engine in self._engines.items():
            engine.tick(now)
            at_once = engine.at_once
            if others and name in self._hosted and engine.time < _HALF_LIFE_S:
                # It has just begun, and its device is like those of the others.
                share = engine.time / _HALF_LIFE_S
                at_once = share * at_once + (1 - share) * sum(others) / len(others)
            if at_once:
                for lane, units in engine.lanes.items():
                    if (each_s := engine.each_s(lane)) is not None:
                        found = each_s / at_once, min(1.0, units.done / at_once)
                        measured.setdefault(lane[0], {})[lane[1]] = found
        return measured


def _left(engine: _Engine, measured: Measured) -> float | None:
    """Return the seconds of work that an engine has left; None where a pace is unknown."""
    at_once = max(1.0, engine.at_once)
    paces: dict[Lane, float] = {}
    for lane, of in engine.lanes.items():
        if of.left > 0:
            if (each := _seconds_per_unit(lane, measured)) is None:
                return None
            paces[lane] = each
    left = {lane: engine.lanes[lane].left for lane in paces}
    seconds = sum(left[lane] * each for lane, each in paces.items())
    if sum(left.values()) > at_once:
        engine.draining = None
        # In the end each kind has its share of what is under way.
        shares = {it: at_once * left[it] * each / seconds for it, each in paces.items() if seconds}
        longer = max((each * at_once * _longer(shares.get(it, 1)) for it, each in paces.items()))
        # What is under way goes on until the next arrival; a stall leaves the estimate as it is.
        return max(0.0, seconds + longer - min(engine.clock - engine.last, engine.gap))
    if engine.draining is None:
        # Units of a kind have begun at different times: the last of n has n / (n + 1) of its own
        # time left, on average.
        lasts = {
            it: each * at_once * (left[it] / (left[it] + 1) + _longer(left[it]))
            for it, each in paces.items()
        }
        engine.draining = engine.clock, lasts
    begun, lasts = engine.draining
    longest = max((lasts[lane] for lane in paces), default=0.0)
    return max(0.0, longest - (engine.clock - begun))


def _longer(units: float) -> float:
    """Return by which share the longest of several units takes longer than they do on average."""
    return _LONGER * math.log(max(1.0, units))


def _seconds_per_unit(lane: Lane, measured: Measured) -> float | None:
    """Return what was measured for a lane, as far as that can be relied on, or is assumed."""
    model, kind = lane
    ours = measured.get(model, {})
    own, reliance = ours.get(kind, (0.0, 0.0))
    if reliance == 1:
        return own
    assumed = []
    for other, theirs in measured.items():
        if other != model and kind in theirs:
            both = (ours.keys() & theirs.keys()) - {kind}
            mine, same = (sum(of[it][0] for it in both) for of in (ours, theirs))
            assumed.append(theirs[kind][0] * (mine / same if mine and same else 1.0))
    if not assumed:
        return own if reliance else None
    return reliance * own + (1 - reliance) * sum(assumed) / len(assumed)
