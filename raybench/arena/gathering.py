"""Has the steps of a course asked, and brings it the replies, until all its iterations are done."""

import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from raybench.arena.known import Addresses, Known
from raybench.arena.meter import Meter
from raybench.arena.table import Batch, Order
from raybench.arena.tables import Tables
from raybench.autobench.course import Course, Finished
from raybench.autobench.records import Record
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Address, Ask, Reply, Step, drawn
from raybench.errors import RunFailed

Came = tuple[Address, str, Mapping[str, Reply]]
"""What a model replied to a step, by the addresses of the replies."""
Keep = Callable[[Sequence[Came]], None]
"""Takes replies before they count."""


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
    ) -> None:
        """`known` are replies that came before; the meter counts calls that nobody else does."""
        self._course = course
        self._settings = settings
        self._tables = tables
        self._addresses = addresses
        self._known = known
        self._keep = keep
        self._meter = meter
        self._waiting: dict[Address, Waiting] = {}
        self._begun: dict[int, float] = {}
        self._heard: set[str] = set()
        """Models that have answered."""
        self._probes: set[Address] = set()
        """Steps that only find out whether somebody answers."""
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
        self._begin(self._course.begin())
        while True:
            if due := self._due:
                self._due = []
                await self._tables.put(due)
            if finished := self._finished:
                self._finished = []
                yield [await self._checked(each) for each in finished]
            if not self._waiting:
                return
            self._take(await self._tables.pick_up())

    def _begin(self, steps: Sequence[Step]) -> None:
        """Have steps asked, as far as the replies are not known; go on where they are."""
        following = deque(steps)
        while following:
            step = following.popleft()
            self._begun.setdefault(step.iteration, time.monotonic())
            asks = step.asks(self._settings)
            waiting = Waiting(step, [self._addresses.of(ask) for ask in asks])
            for place, where in enumerate(waiting.addresses):
                if (reply := self._known.get(where)) is not None:
                    waiting.replies[place] = reply
            self._take_over(waiting, asks)
            if waiting.is_done:
                following += self._hand_over(waiting)
                continue
            self._waiting[step.address] = waiting
            missing = tuple(it for it in range(len(asks)) if it not in waiting.replies)
            self._due.append(Order(step, missing))
            if self._meter is not None:
                self._meter.began(step.address, {asks[place].model for place in missing})

    def _take_over(self, waiting: Waiting, asks: Sequence[Ask]) -> None:
        """Count what need not be asked; what another run had, this one's journal keeps."""
        by_model: dict[str, dict[str, Reply]] = {}
        for place, reply in waiting.replies.items():
            where = waiting.addresses[place]
            if self._known.is_shared(where):
                self._shared[waiting.step.iteration] += 1
            elif self._known.is_new(where):
                by_model.setdefault(asks[place].model, {})[where] = reply
        self._keep([(waiting.step.address, model, replies) for model, replies in by_model.items()])
        for replies in by_model.values():
            self._reused[waiting.step.iteration] += len(replies)

    def _take(self, batches: Sequence[Batch]) -> None:
        """Keep what models replied, and go on with the steps that are complete."""
        self._keep([self._came(batch) for batch in batches if batch.step not in self._probes])
        for batch in batches:
            self._put_in_place(batch)

    def _came(self, batch: Batch) -> Came:
        addresses = self._waiting[batch.step].addresses
        by_address = {addresses[place]: reply for place, reply in batch.replies.items()}
        return batch.step, batch.model, by_address

    def _put_in_place(self, batch: Batch) -> None:
        if self._meter is not None:
            self._meter.ended(batch.step, batch.model, batch.replies.values())
        if any(reply.finish != "error" for reply in batch.replies.values()):
            self._heard.add(batch.model)
        if batch.step in self._probes:
            self._probes.remove(batch.step)
            return
        waiting = self._waiting[batch.step]
        waiting.replies |= batch.replies
        if waiting.is_done:
            del self._waiting[batch.step]
            self._begin(self._hand_over(waiting))

    def _hand_over(self, waiting: Waiting) -> list[Step]:
        """Give the course a step's replies, and return what is asked next."""
        step, replies = waiting.step, waiting.in_order()
        if len(replies) > 1 and all(reply.finish == "error" for reply in replies):
            raise RunFailed(
                f"iteration {step.iteration}: no model answers any more: {replies[0].why}"
            )
        turn = self._course.take(step, replies)
        self._finished += turn.finished
        return turn.steps

    async def _checked(self, finished: Finished) -> Gathered:
        """Return an iteration as the journal keeps it, unless it tells of an outage."""
        record, calls, discarded = finished
        if record["errors"] and not record["answers"] and not self._heard:
            # Tasks are asked for one by one: that their generators are silent does not yet mean
            # that all models are.
            await self._find_somebody(record)
        seconds = time.monotonic() - self._begun.pop(record["iteration"])
        ended = {"seconds": round(seconds, 3), "ended_ms": time.time_ns() // 1_000_000}
        reused = self._reused.pop(record["iteration"], 0)
        shared = self._shared.pop(record["iteration"], 0)
        return Gathered(record | ended, calls, discarded, reused, shared)

    async def _find_somebody(self, record: Record) -> None:
        """Ask the models that were not asked yet; raise RunFailed where none of them answers."""
        silent = {error["model"] for error in record["errors"]}
        draw = drawn(record["iteration"], self._settings)
        others = [model for model in self._settings.models if model not in silent]
        # Numbers of attempts that no other step has.
        probes = [Step(draw, -1 - n, "task", model) for n, model in enumerate(others)]
        for probe in probes:
            if self._meter is not None:
                self._meter.began(probe.address, [probe.author])
        await self._tables.put([Order(probe, (0,)) for probe in probes])
        self._probes |= {probe.address for probe in probes}
        while self._probes and not self._heard:
            self._take(await self._tables.pick_up())
        if not self._heard:
            why = record["errors"][-1]["error"]
            raise RunFailed(f"iteration {record['iteration']}: no model answers: {why}")
