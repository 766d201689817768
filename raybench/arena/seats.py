"""Work spread over processes: here, or in actors, of which one that dies is replaced.

What an actor that died was asked, its successor is asked again, as far as it has not been brought.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, Self, TypeVar

from raybench.config import labels
from raybench.demands import NoneComesError
from raybench.errors import Problem, RunFailed
from raybench.fleet.cluster import workplace
from raybench.fleet.reasons import last_line

_LOOK_S = 10.0
"""How often is looked whether there is a node for actors that are chosen theirs."""
_PATIENCE = 3
"""How many actors may die one after the other before anything comes."""


class Order(Protocol):
    """What is asked of a seat."""

    @property
    def key(self) -> Hashable:
        """What it is known by."""
        ...

    @property
    def turn(self) -> int:
        """By which of the seats it is taken, counted round and round."""
        ...

    def left(self, brought: Any) -> "Self | None":
        """Return what is still to be brought after that; None where nothing is."""
        ...


class Brought(Protocol):
    """What a seat brings of an order, all of it or a part."""

    @property
    def key(self) -> Hashable:
        """That of the order."""
        ...


O = TypeVar("O", bound=Order)  # noqa: E741  (as B stands for what is brought)
B = TypeVar("B", bound=Brought)
O_in = TypeVar("O_in", bound=Order, contravariant=True)
B_out = TypeVar("B_out", bound=Brought, covariant=True)


class Seat(Protocol[O_in, B_out]):
    """What takes orders and brings what they ask for."""

    async def put(self, orders: Sequence[O_in]) -> None:
        """Begin with these."""
        ...

    async def pick_up(self) -> Sequence[B_out]:
        """Wait for something, and return all that came since the last time."""
        ...

    def leave(self) -> None:
        """Go: another one takes this place."""
        ...


class Seats(Generic[O, B]):
    """Spreads orders over seats; what one that died was asked, another is asked again."""

    def __init__(
        self, seats: Sequence[Seat[O, B]], another: Callable[[], Seat[O, B]] | None = None
    ) -> None:
        self._seats = list(seats)
        self._another = another
        self._asked: list[dict[Hashable, O]] = [{} for _ in seats]
        """By seat, what it has still to bring."""
        self._picking: dict[Seat[O, B], asyncio.Future[Sequence[B]]] = {}
        self._deaths = 0
        self._error: Exception | None = None
        """What ends this, told when what came before it is safe."""

    async def put(self, orders: Sequence[O]) -> None:
        """Have these done; all with the same turn go to the same seat."""
        by_place: dict[int, list[O]] = {}
        for order in orders:
            by_place.setdefault(order.turn % len(self._seats), []).append(order)
        for place, some in by_place.items():
            self._asked[place] |= {order.key: order for order in some}
            await self._put(place, some)

    async def pick_up(self, seconds: float | None = None) -> list[B]:
        """Wait for something to be brought, or so long; there has to be something to wait for.

        Nobody may end the wait from outside: what is brought then, or being mended, is lost.
        """
        if self._error is not None:
            raise self._error
        brought: list[B] = []
        while not brought:
            for place, seat in enumerate(self._seats):
                if self._asked[place] and seat not in self._picking:
                    self._picking[seat] = asyncio.ensure_future(seat.pick_up())
            if not self._picking:
                raise RuntimeError("something is waited for, and nobody was asked")
            await asyncio.wait(
                self._picking.values(), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            done = [seat for seat, picking in self._picking.items() if picking.done()]
            if not done:
                break
            for seat in done:
                try:
                    brought += await self._picked_up(seat, self._picking.pop(seat))
                except Exception as error:
                    self._error = error
            if self._error is not None and not brought:
                raise self._error
        return brought

    async def close(self) -> None:
        """Wait for nobody any more."""
        for picking in self._picking.values():
            picking.cancel()
        await asyncio.gather(*self._picking.values(), return_exceptions=True)

    async def _picked_up(
        self, seat: Seat[O, B], picking: asyncio.Future[Sequence[B]]
    ) -> Sequence[B]:
        place = self._seats.index(seat)
        if (error := picking.exception()) is not None:
            await self._mend(place, error)
            return []
        self._deaths = 0
        for each in picking.result():
            order = self._asked[place].pop(each.key)
            if (left := order.left(each)) is not None:
                self._asked[place][each.key] = left
        return picking.result()

    async def _put(self, place: int, orders: Sequence[O]) -> None:
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
                Problem(
                    "ray.lost",
                    f"{self._deaths} actors that ask the models died one after the other, the "
                    f"last one so: {last_line(str(error))}. Ray's logs have more; what was "
                    "finished is kept",
                )
            ) from error
        # Whatever the old one still says is said again by its successor.
        if (picking := self._picking.pop(self._seats[place], None)) is not None:
            picking.cancel()
        self._seats[place].leave()
        self._seats[place] = self._another()
        if asked := list(self._asked[place].values()):
            await self._put(place, asked)


@asynccontextmanager
async def in_actors(
    count: int,
    make: type,
    *given: Any,
    on: Mapping[str, str],
    say: Callable[[str], None],
    within_s: float,
) -> AsyncIterator[Seats[Any, Any]]:
    """Open so many seats in actors of the cluster, each made of a class and what it is given.

    `on` chooses its nodes by their labels; where none of them is there, one is asked for and
    waited for so long, as `say` is told.
    """
    import ray

    handles: list[Any] = []
    nowhere: NoneComesError | None = None

    def another() -> Seat[Any, Any]:
        if nowhere is not None:
            raise nowhere
        actor = ray.remote(make).options(
            # They wait for engines and take no processor for themselves, so that Ray would put all
            # of them on one node.
            num_cpus=0, scheduling_strategy="SPREAD", label_selector=labels.for_ray(on),
            max_restarts=0,  # who dies is replaced here
        )  # fmt: skip
        handles.append(actor.remote(*given))
        return _Remote(handles[-1])

    async def watch() -> None:
        """See to it that there is a node for them, which Ray is not asked for by such actors."""
        nonlocal nowhere
        while True:
            try:
                await workplace(on, say, within_s)
            except NoneComesError as none:
                nowhere = none
                for handle in handles:
                    ray.kill(handle)  # who waits for one that has no place hears of it
                return
            await asyncio.sleep(_LOOK_S)

    if on:
        await workplace(on, say, within_s)
    opened = Seats([another() for _ in range(count)], another)
    watching = asyncio.create_task(watch()) if on else None
    try:
        yield opened
    finally:
        if watching is not None:
            watching.cancel()
        await opened.close()
        for handle in handles:
            ray.kill(handle)


class _Remote:
    """The handle of a seat's actor, as a seat."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    async def put(self, orders: Sequence[Any]) -> None:
        await self._handle.put.remote(list(orders))

    async def pick_up(self) -> Sequence[Any]:
        found: Sequence[Any] = await self._handle.pick_up.remote()
        return found

    def leave(self) -> None:
        import ray

        ray.kill(self._handle)


def _died(error: BaseException) -> bool:
    from ray.exceptions import RayActorError

    return isinstance(error, RayActorError)
