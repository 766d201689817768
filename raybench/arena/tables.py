"""The tables of a run: here, or in actors of the cluster, of which one that dies is replaced."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol

from raybench.arena.decoding import Decoding
from raybench.arena.table import Batch, Order, Table
from raybench.autobench.settings import Settings
from raybench.autobench.steps import Address
from raybench.errors import RunFailed
from raybench.fleet import Fleet
from raybench.fleet.client import Say
from raybench.fleet.link import Door, Link, listening
from raybench.fleet.reasons import last_line

_PATIENCE = 3
"""How many actors may die one after the other before a reply comes."""


class Seat(Protocol):
    """What takes steps and gives replies."""

    async def put(self, orders: Sequence[Order]) -> None:
        """Begin with these steps."""
        ...

    async def pick_up(self) -> list[Batch]:
        """Wait for replies, and return all that came since the last time."""
        ...

    def leave(self) -> None:
        """Go: another one takes this place."""
        ...


class Tables:
    """Spreads iterations over tables; what one that died was asked, another is asked again."""

    def __init__(self, seats: Sequence[Seat], another: Callable[[], Seat] | None = None) -> None:
        self._seats = list(seats)
        self._another = another
        self._asked: list[dict[Address, Order]] = [{} for _ in seats]
        """By table, what it has still to bring."""
        self._picking: dict[Seat, asyncio.Future[list[Batch]]] = {}
        self._deaths = 0
        self._error: Exception | None = None
        """What ends this, told when the replies before it are safe."""

    async def put(self, orders: Sequence[Order]) -> None:
        """Have steps asked; all of an iteration go to the same table."""
        by_place: dict[int, list[Order]] = {}
        for order in orders:
            by_place.setdefault(order.step.iteration % len(self._seats), []).append(order)
        for place, some in by_place.items():
            self._asked[place] |= {order.step.address: order for order in some}
            await self._put(place, some)

    async def pick_up(self) -> list[Batch]:
        """Wait for replies; there have to be some to wait for."""
        if self._error is not None:
            raise self._error
        batches: list[Batch] = []
        while not batches:
            for place, seat in enumerate(self._seats):
                if self._asked[place] and seat not in self._picking:
                    self._picking[seat] = asyncio.ensure_future(seat.pick_up())
            if not self._picking:
                raise RuntimeError("replies are waited for, and nobody was asked")
            await asyncio.wait(self._picking.values(), return_when=asyncio.FIRST_COMPLETED)
            done = [seat for seat, picking in self._picking.items() if picking.done()]
            for seat in done:
                try:
                    batches += await self._picked_up(seat, self._picking.pop(seat))
                except Exception as error:
                    self._error = error
            if self._error is not None and not batches:
                raise self._error
        return batches

    async def close(self) -> None:
        """Wait for nobody any more."""
        for picking in self._picking.values():
            picking.cancel()
        await asyncio.gather(*self._picking.values(), return_exceptions=True)

    async def _picked_up(self, seat: Seat, picking: asyncio.Future[list[Batch]]) -> list[Batch]:
        place = self._seats.index(seat)
        if (error := picking.exception()) is not None:
            await self._mend(place, error)
            return []
        self._deaths = 0
        for batch in picking.result():
            order = self._asked[place].pop(batch.step)
            if left := tuple(it for it in order.places if it not in batch.replies):
                self._asked[place][batch.step] = replace(order, places=left)
        return picking.result()

    async def _put(self, place: int, orders: Sequence[Order]) -> None:
        try:
            await self._seats[place].put(orders)
        except Exception as error:
            await self._mend(place, error)

    async def _mend(self, place: int, error: BaseException) -> None:
        """Put another actor in the place of one that died, with what it was asked."""
        if self._another is None or not _died(error):
            raise getattr(error, "cause", None) or error
        self._deaths += 1
        if self._deaths > _PATIENCE:
            raise RunFailed(
                f"{self._deaths} actors that ask the models died one after the other, the last "
                f"one so: {last_line(str(error))}. Ray's logs have more; what was finished is kept"
            ) from error
        # Whatever the old one still says is said again by its successor.
        if (picking := self._picking.pop(self._seats[place], None)) is not None:
            picking.cancel()
        self._seats[place].leave()
        self._seats[place] = self._another()
        if asked := list(self._asked[place].values()):
            await self._put(place, asked)


@asynccontextmanager
async def tables(
    fleet: Fleet, link: Link, settings: Settings, decoding: Decoding, *, actors: int, say: Say
) -> AsyncIterator[Tables]:
    """Set up so many actors, or one table in this process where it is 0.

    `say` is told what actors wait for; the fleet of this process tells that by itself.
    """
    if not actors:
        table = Table(lambda: _given(fleet), settings, decoding)
        opened = Tables([table])
        try:
            yield opened
        finally:
            await opened.close()
            await table.clear()
        return
    import ray

    handles: list[Any] = []

    def another() -> Seat:
        # They wait for engines and take no processor for themselves; who dies is replaced here.
        actor = ray.remote(num_cpus=0, max_restarts=0)(_Seated)
        handles.append(actor.remote(heard, settings, decoding))
        return _Remote(handles[-1])

    async with listening(link, say) as heard:
        opened = Tables([another() for _ in range(actors)], another)
        try:
            yield opened
        finally:
            await opened.close()
            for handle in handles:
                ray.kill(handle)


class _Seated(Table):
    """A table in a process of its own."""

    def __init__(self, link: Link, settings: Settings, decoding: Decoding) -> None:
        super().__init__(Door(link).fleet, settings, decoding)


class _Remote:
    """The handle of a table's actor, as a table."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def put(self, orders: Sequence[Order]) -> None:
        await self._handle.put.remote(list(orders))

    async def pick_up(self) -> list[Batch]:
        found: list[Batch] = await self._handle.pick_up.remote()
        return found

    def leave(self) -> None:
        import ray

        ray.kill(self._handle)


async def _given(fleet: Fleet) -> Fleet:
    return fleet


def _died(error: BaseException) -> bool:
    from ray.exceptions import RayActorError

    return isinstance(error, RayActorError)
