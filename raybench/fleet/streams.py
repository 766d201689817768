"""Completions that come as they finish, in a stream that outlives the replica that began it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any, TypeVar

from raybench.types import Completion, Request

T = TypeVar("T")
Placed = tuple[int, Completion]
"""A completion and the place of its request in the batch."""
STREAM_ENDED = "the stream ended before its time"


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


async def merged(streams: Sequence[AsyncGenerator[T]]) -> AsyncGenerator[T]:
    """Yield what any of these streams yields, as it comes; closing it closes them all."""
    if len(streams) == 1:
        async with aclosing(streams[0]) as only:
            async for item in only:
                yield item
        return
    items: asyncio.Queue[tuple[T] | asyncio.Task[None]] = asyncio.Queue()

    async def read(stream: AsyncGenerator[T]) -> None:
        async with aclosing(stream):
            async for item in stream:
                items.put_nowait((item,))

    tasks = [asyncio.create_task(read(stream)) for stream in streams]
    for task in tasks:
        task.add_done_callback(items.put_nowait)
    left = len(tasks)
    try:
        while left:
            found = await items.get()
            if isinstance(found, asyncio.Task):
                left -= 1
                found.result()
            else:
                yield found[0]
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


async def unbroken(
    ask: Callable[[list[Request]], AsyncGenerator[Placed]],
    requests: Sequence[Request],
    *,
    turn: Callable[[int], AbstractAsyncContextManager[str]],
    attempts: int,
    wait_s: float,
    told: Callable[[Exception], str],
) -> AsyncGenerator[Placed]:
    """Stream the batch; where the stream breaks, keep what came and ask again for the rest only.

    Before so many requests are asked for, their `turn` is waited for, however long that takes; it
    yields '', or why it never comes, which ends this.

    It ends when everything has come, or after `attempts` in a row that brought nothing: then
    what is left fails, for the reason that `told` makes of the last error.
    """
    left = dict(enumerate(requests))
    fruitless, reason = 0, ""
    while left and fruitless < attempts:
        if reason:
            await asyncio.sleep(wait_s)
        fruitless += 1
        places = list(left)
        async with turn(len(left)) as refusal:
            if refusal:
                reason = refusal
                break
            try:
                async with aclosing(ask(list(left.values()))) as replies:
                    async for position, completion in replies:
                        place, fruitless = places[position], 0
                        del left[place]
                        yield place, completion
                reason = told(EOFError(STREAM_ENDED))
            except Exception as error:  # whatever the engine died of is data here
                reason = told(error)
    for place in left:
        yield place, Completion.failed(reason)


async def _first(stream: AsyncGenerator[T]) -> list[T]:
    """Return the stream's first item; none where it is empty."""
    async for one in stream:
        return [one]
    return []
