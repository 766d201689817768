"""Has the steps of a course asked, and brings it the replies, until all its iterations are done."""

import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from raybench.arena.known import Addresses, Known
from raybench.arena.meter import Meter
from raybench.arena.roll_call import RollCall
from raybench.arena.table import Batch, Order
from raybench.arena.tables import Tables
from raybench.autobench.course import Course, Finished
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Address, Ask, Kind, Reply, Step
from raybench.errors import Problem, RunFailed

Came = tuple[Address, str, Mapping[str, Reply]]
"""What a model replied to a step, by the addresses of the replies."""
Keep = Callable[[Sequence[Came], bool], None]
"""Takes replies before they count, and whether they were asked for now."""
Skip = Callable[[Mapping[tuple[str, Kind], int]], None]
"""Takes how many replies need not be asked for, by model and kind; what another assessment of the
run had is none."""


@dataclass
class Waiting:
    """A step under way."""

    step: Step
    addresses: list[str]
    replies: dict[int, Reply] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Tell whether all replies came."""
        return len(self.replies) == len(self.addresses)

    def in_order(self) -> list[Reply]:
        """Return the replies in the order of the asks."""
        return [self.replies[place] for place in range(len(self.addresses))]


class Gathered(NamedTuple):
    """An iteration's record, and what it took."""

    record: Record
    calls: int
    discarded: int
    reused: int
    """Those of the calls that need not be made, because the run that this one extends had."""
    shared: int = 0
    """Those that need not be made, because another assessment of the same run had."""


class Gathering:
    """Drives a course."""

    def __init__(
        self,
        course: Course,
        settings: Settings,
        tables: Tables,
        addresses: Addresses,
        known: Known,
        keep: Keep,
        meter: Meter | None = None,
        skip: Skip = lambda counts: None,
    ) -> None:
        """`known` are replies that came before; the meter counts calls that nobody else does."""
        self._course = course
        self._settings = settings
        self._tables = tables
        self._addresses = addresses
        self._known = known
        self._keep = keep
        self._meter = meter
        self._skip = skip
        self._waiting: dict[Address, Waiting] = {}
        self._begun: dict[int, float] = {}
        self._roll_call = RollCall(settings)
        self._suspect: int | None = None
        """An iteration in which nobody who was asked could be reached."""
        self._next: deque[Step] = deque()
        """What is to be asked, or is known already."""
        self._due: list[Order] = []
        self._finished: list[Finished] = []
        self._reused: Counter[int] = Counter()
        self._shared: Counter[int] = Counter()

    async def iterations(self) -> AsyncIterator[list[Gathered]]:
        """Yield iterations as they are finished, in order.

        To the protocol's own fields the records add `seconds`, from an iteration's beginning to its
        end, and `ended_ms`. Raises RunFailed where nobody answers: that is an outage, and nothing
        of it belongs in the journal.
        """
        self._next += self._course.begin()
        while not self._course.is_over or self._finished:
            await self._send()
            if self._suspect is not None:
                await self._look_around(self._suspect)
            elif finished := self._finished:
                self._finished = []
                yield [self._gathered(each) for each in finished]
            elif not self._next:
                self._take(await self._tables.pick_up())

    async def _send(self) -> None:
        """Have asked what is to be asked now."""
        self._go_on()
        if due := self._due:
            self._due = []
            await self._tables.put(due)

    def _go_on(self) -> None:
        """Have the next steps asked, as far as the replies are not known, until something ends."""
        while self._next and not self._finished:
            step = self._next.popleft()
            self._begun.setdefault(step.iteration, time.monotonic())
            asks = step.asks(self._settings)
            waiting = Waiting(step, [self._addresses.of(ask) for ask in asks])
            for place, where in enumerate(waiting.addresses):
                if (reply := self._known.get(where)) is not None:
                    waiting.replies[place] = reply
            self._take_over(waiting, asks)
            if waiting.is_done:
                self._hand_over(waiting)
                continue
            self._waiting[step.address] = waiting
            missing = tuple(it for it in range(len(asks)) if it not in waiting.replies)
            self._due.append(Order(step, missing))
            if self._meter is not None:
                self._meter.began(step.address, {asks[place].model for place in missing})

    def _take_over(self, waiting: Waiting, asks: Sequence[Ask]) -> None:
        """Count what need not be asked; what another run had, this one's journal keeps."""
        by_model: dict[str, dict[str, Reply]] = {}
        skipped: Counter[tuple[str, Kind]] = Counter()
        for place, reply in waiting.replies.items():
            where = waiting.addresses[place]
            if self._known.is_shared(where):
                self._shared[waiting.step.iteration] += 1
                continue
            skipped[asks[place].model, asks[place].kind] += 1
            if where in self._known.earlier:  # be it taken over before this run was killed
                self._reused[waiting.step.iteration] += 1
            if self._known.is_new(where):
                by_model.setdefault(asks[place].model, {})[where] = reply
        if by_model:
            step = waiting.step.address
            self._keep([(step, model, replies) for model, replies in by_model.items()], False)
        if skipped:
            self._skip(skipped)

    def _take(self, batches: Sequence[Batch]) -> None:
        """Keep what models replied, and go on with the steps that are complete."""
        self._keep([self._came(batch) for batch in batches if batch.step in self._waiting], True)
        for batch in batches:
            if self._meter is not None:
                self._meter.ended(batch.step, batch.model, batch.replies.values())
            self._roll_call.hear(batch)
            if batch.step in self._waiting:
                self._put_in_place(batch)

    def _came(self, batch: Batch) -> Came:
        addresses = self._waiting[batch.step].addresses
        by_address = {addresses[place]: reply for place, reply in batch.replies.items()}
        return batch.step, batch.model, by_address

    def _put_in_place(self, batch: Batch) -> None:
        waiting = self._waiting[batch.step]
        waiting.replies |= batch.replies
        if waiting.is_done:
            del self._waiting[batch.step]
            if batch.step[0] > self._course.standing.iteration:  # else nobody needs it any more
                self._look_for_silence(waiting)
            self._hand_over(waiting)

    def _look_for_silence(self, waiting: Waiting) -> None:
        """Raise RunFailed where several were asked and none could be reached; wonder at one."""
        if any(reply.finish != "error" for reply in waiting.replies.values()):
            return
        iteration, asked = waiting.step.iteration, waiting.step.asked(self._settings)
        if len({model for model, _ in asked}) > 1:
            why = waiting.in_order()[0].why
            raise RunFailed(
                Problem(
                    "model.unreachable", f"iteration {iteration}: no model answers any more: {why}"
                )
            )
        self._suspect = iteration

    def _hand_over(self, waiting: Waiting) -> None:
        """Give the course a step's replies, and take what is asked next."""
        turn = self._course.take(waiting.step, waiting.in_order())
        self._finished += turn.finished
        self._next += turn.steps

    def _gathered(self, finished: Finished) -> Gathered:
        """Return an iteration as the journal keeps it."""
        record, calls, discarded = finished
        seconds = time.monotonic() - self._begun.pop(record["iteration"])
        ended = {"seconds": round(seconds, 3), "ended_ms": time.time_ns() // 1_000_000}
        reused = self._reused.pop(record["iteration"], 0)
        shared = self._shared.pop(record["iteration"], 0)
        return Gathered(record | ended, calls, discarded, reused, shared)

    async def _look_around(self, iteration: int) -> None:
        """Find out who can be reached; raise RunFailed where no contestant or no judge can.

        That those who were asked are silent does not yet mean that all are: everybody is asked.
        """
        self._suspect = None
        probes = self._roll_call.begin(iteration)
        if self._meter is not None:
            for probe in probes:
                self._meter.began(probe.address, [probe.author])
        self._due += [Order(probe, (0,)) for probe in probes]
        while not self._roll_call.is_over:
            await self._send()
            self._take(await self._tables.pick_up())
        if self._roll_call.silent:
            raise RunFailed(
                Problem("model.unreachable", f"iteration {iteration}: {self._roll_call.silent}")
            )
