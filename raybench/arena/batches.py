"""Single requests of many matches, sent to engines of ours together."""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing

from raybench.fleet import Fleet
from raybench.types import Completion, Request

_CALLS = 16
"""So many calls to a model may be under way before requests wait for one another."""
_LINGER_S = 0.01
"""How long they then wait: an engine that has so many calls to answer is busy meanwhile."""

_Asked = tuple[Request, "asyncio.Future[Completion]"]


class Batches:
    """Sends what is asked in the same moment in one call; every reply comes as soon as it is there.

    Nobody waits for others' replies, and nobody for others' requests where an engine is not busy.
    Endpoints and stand-ins are asked one by one: they gain nothing by a call for several.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._waiting: dict[str, list[_Asked]] = {}
        self._calls: set[asyncio.Task[None]] = set()
        self._under_way: Counter[str] = Counter()

    async def ask(self, model: str, request: Request) -> Completion:
        """Return the model's completion."""
        if not self._fleet.is_hosted(model):
            return (await self._fleet.complete(model, [request]))[0]
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Completion] = loop.create_future()
        asked = (request, future)
        if (waiting := self._waiting.get(model)) is not None:
            waiting.append(asked)
        else:
            self._waiting[model] = [asked]
            if self._under_way[model] < _CALLS:
                loop.call_soon(self._send, model)
            else:
                loop.call_later(_LINGER_S, self._send, model)
        return await future

    async def close(self) -> None:
        """Stop asking."""
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)

    def _send(self, model: str) -> None:
        batch = [it for it in self._waiting.pop(model) if not it[1].done()]
        if not batch:
            return  # whoever asked has gone
        self._under_way[model] += 1
        call = asyncio.create_task(self._call(model, batch))
        self._calls.add(call)
        call.add_done_callback(self._over(model))

    def _over(self, model: str) -> Callable[[asyncio.Task[None]], None]:
        def over(call: asyncio.Task[None]) -> None:
            self._calls.discard(call)
            self._under_way[model] -= 1

        return over

    async def _call(self, model: str, batch: list[_Asked]) -> None:
        error: BaseException = RuntimeError(f"{model}: a request got no completion")
        try:
            requests = [request for request, _ in batch]
            async with aclosing(self._fleet.stream(model, requests)) as replies:
                async for place, reply in replies:
                    if not batch[place][1].done():
                        batch[place][1].set_result(reply)
        except asyncio.CancelledError:
            for _, future in batch:
                future.cancel()
            raise
        except Exception as raised:
            error = raised
        for _, future in batch:
            if not future.done():
                future.set_exception(error)
