"""What comes as it finishes: results of several coroutines, and a stream beside a wait."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class Room:
    """Bounds how many requests are under way, for callers that have more than can be held."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken = 0
        self._waiting: set[asyncio.Future[None]] = set()

    @contextmanager
    def taken(self, requests: int = 1) -> Iterator[None]:
        """Count requests while they are under way."""
        self._taken += requests
        try:
            yield
        finally:
            self._taken -= requests
            for waiting in self._waiting:
                if not waiting.done():
                    waiting.set_result(None)

    async def wait(self) -> None:
        """Wait until fewer than the most are under way."""
        while self._taken >= self._most:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.add(waiting)
            try:
                await waiting
            finally:
                self._waiting.discard(waiting)


async def as_finished(works: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[tuple[int, T]]:
    """Yield each result with its place, as they finish; closing the stream stops the rest."""
    async with aclosing(in_groups(works)) as groups:
        async for group in groups:
            for placed in group:
                yield placed


async def in_groups(works: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[list[tuple[int, T]]]:
    """Yield the results with their places, those together that finish together."""
    finished: asyncio.Queue[asyncio.Task[tuple[int, T]]] = asyncio.Queue()

    async def placed(place: int, work: Coroutine[Any, Any, T]) -> tuple[int, T]:
        return place, await work

    tasks = [asyncio.create_task(placed(place, work)) for place, work in enumerate(works)]
    for task in tasks:
        task.add_done_callback(finished.put_nowait)
    left = len(tasks)
    try:
        while left:
            group = [(await finished.get()).result()]
            while not finished.empty():
                group.append(finished.get_nowait().result())
            left -= len(group)
            yield group
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def begun_beside(
    stream: AsyncGenerator[T], wait: Callable[[], Awaitable[None]]
) -> AsyncGenerator[T]:
    """Begin a stream while something is waited for, without which nothing of it is yielded."""
    async with aclosing(stream):
        try:
            async with asyncio.TaskGroup() as both:
                first = both.create_task(_first(stream))
                await wait()
        except BaseExceptionGroup as broken:  # whichever broke has ended the other
            raise broken.exceptions[0] from None
        for one in first.result():
            yield one
        async for one in stream:
            yield one


async def _first(stream: AsyncGenerator[T]) -> list[T]:
    """Return the stream's first item; none where it is empty."""
    async for one in stream:
        return [one]
    return []
