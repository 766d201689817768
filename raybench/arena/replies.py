"""Requests of which none is made twice: what was replied is known again, also by a later session.

An optimiser asks for the same again and again, and a position that takes long a second time while
the first is under way.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping

from raybench.arena.chair import Put
from raybench.types import Completion, Request

_AGAIN_S = (0.5, 4.0)
"""A request that got no reply is made again after so long: a study is long, and all of it hangs on
every one."""


class Replies:
    """Asks models, once each time."""

    def __init__(
        self,
        put: Put,
        known: Mapping[str, Completion] = {},
        tell: Callable[[str, Completion], None] = lambda key, completion: None,
    ) -> None:
        """`tell` is told of every reply that came now, with the digest of what was asked."""
        self._put = put
        self._known = dict(known)
        self._tell = tell
        self._under_way: dict[str, asyncio.Task[Completion]] = {}

    async def put(self, model: str, request: Request) -> Completion:
        """Return the model's completion."""
        key = digest(model, request)
        if (known := self._known.get(key)) is not None:
            return known
        if (task := self._under_way.get(key)) is None:
            task = self._under_way[key] = asyncio.create_task(self._asked(key, model, request))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Ask nothing more."""
        for task in [*self._under_way.values()]:
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _asked(self, key: str, model: str, request: Request) -> Completion:
        completion = await self._put(model, request)
        for seconds in _AGAIN_S:
            if completion.finish != "error":
                break
            await asyncio.sleep(seconds)
            completion = await self._put(model, request)
        if completion.finish != "error":
            self._known[key] = completion
            self._tell(key, completion)
        return completion


def digest(model: str, request: Request) -> str:
    """Return what tells a request from others: all of it, with its seed."""
    return hashlib.sha256(repr((model, request)).encode("utf-8", "replace")).hexdigest()[:32]
