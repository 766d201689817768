"""Where steps are put and replies picked up: one process's side of a peer assessment.

It lives in an actor of the cluster, or in the driver where no cluster is needed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from raybench.arena.decoding import Decoding, reply
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Address, Ask, Reply, Step
from raybench.fleet import Fleet


@dataclass(frozen=True, slots=True)
class Order:
    """A step, and which of its asks are to be asked: replies to the others are known."""

    step: Step
    places: tuple[int, ...]

    @property
    def key(self) -> Address:
        """What it is known by."""
        return self.step.address

    @property
    def turn(self) -> int:
        """All steps of an iteration go to the same table."""
        return self.step.iteration

    def left(self, brought: "Batch") -> "Order | None":
        """Return what is still to be brought after some replies."""
        places = tuple(it for it in self.places if it not in brought.replies)
        return replace(self, places=places) if places else None


@dataclass(frozen=True, slots=True)
class Batch:
    """What one model replied to a step, by the places of the asks."""

    step: Address
    model: str
    replies: dict[int, Reply]

    @property
    def key(self) -> Address:
        """That of the order."""
        return self.step


class Table:
    """Asks the models what is put onto it, all of it at once; their replies are picked up."""

    def __init__(
        self, fleet: Callable[[], Awaitable[Fleet]], settings: Settings, decoding: Decoding
    ) -> None:
        self._fleet = fleet
        self._settings = settings
        self._decoding = decoding
        self._done: asyncio.Queue[Batch | Exception] = asyncio.Queue()
        self._working: set[asyncio.Task[None]] = set()

    async def put(self, orders: Sequence[Order]) -> None:
        """Begin with these steps."""
        for order in orders:
            work = asyncio.create_task(self._play(order))
            self._working.add(work)
            work.add_done_callback(self._working.discard)

    async def pick_up(self) -> list[Batch]:
        """Wait for replies, and return all that came since the last time."""
        first = await self._done.get()
        if isinstance(first, Exception):
            raise first
        found = [first]
        while not self._done.empty():
            following = self._done.get_nowait()
            if isinstance(following, Exception):
                self._done.put_nowait(following)  # told when all before it is safe
                break
            found.append(following)
        return found

    def leave(self) -> None:
        """Go: nobody takes the place of the driver's own table."""

    async def clear(self) -> None:
        """Stop asking."""
        for work in self._working:
            work.cancel()
        await asyncio.gather(*self._working, return_exceptions=True)

    async def _play(self, order: Order) -> None:
        try:
            fleet = await self._fleet()
            asks = order.step.asks(self._settings)
            by_model: dict[str, list[int]] = {}
            for place in order.places:
                by_model.setdefault(asks[place].model, []).append(place)
            await asyncio.gather(
                *(self._ask(fleet, order, model, asks, of) for model, of in by_model.items())
            )
        except Exception as error:  # ours, not a model's: whoever waits has to know
            self._done.put_nowait(error)

    async def _ask(
        self, fleet: Fleet, order: Order, model: str, asks: Sequence[Ask], places: Sequence[int]
    ) -> None:
        """Ask one model, all of its questions in one call."""
        requests = [self._decoding.request(asks[place]) for place in places]
        completions = await fleet.complete(model, requests)
        replies = {
            place: reply(completion) for place, completion in zip(places, completions, strict=True)
        }
        self._done.put_nowait(Batch(order.step.address, model, replies))
