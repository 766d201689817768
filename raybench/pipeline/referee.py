"""Models that are asked about replies, a checker or a judge, and what they told earlier runs."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TypeVar

from raybench.fleet import resolved
from raybench.fleet.link import Door
from raybench.pipeline.reply_log import Key, ReplyWriter, key_of
from raybench.pipeline.responses import Responses, lasting
from raybench.pipeline.stages import completion_of, reply_of
from raybench.types import Completion, ModelSpec, Request

K = TypeVar("K")
Call = list[str | int]
"""Who was asked, how many tokens that took (of the prompt, of the reply), and how it ended."""


class Referee:
    """A model that is asked about replies. What it says once, it says again."""

    def __init__(self, model: ModelSpec, responses: Responses | None) -> None:
        self.model = model
        self._responses = responses

    def told(self, requests: Mapping[K, Request]) -> dict[K, Completion]:
        """Return what it told earlier runs."""
        places = {key: place for key, it in requests.items() if (place := self._address(it))}
        if self._responses is None or not places:
            return {}
        found = self._responses.get(list(places.values()))
        return {
            key: Completion(
                found[place]["response"], found[place]["finish"], error=found[place].get("error")
            )
            for key, place in places.items()
            if place in found
        }

    async def tell(
        self,
        door: Door,
        requests: Mapping[K, Request],
        units: Mapping[K, int],
        log: ReplyWriter,
        came: Callable[[K, Completion], None] = lambda key, reply: None,
    ) -> tuple[dict[K, Completion], list[Call]]:
        """Return what it says to every request, and the calls that this took.

        A reply is written to the `log` as soon as it arrives, for the one of `units` (by id) that
        it is about, and `came` is told of it.
        """
        told = await asyncio.to_thread(self.told, requests)
        new = [key for key in requests if key not in told]
        if not new:
            return told, []
        keys = {key: self._key(units[key], requests[key]) for key in new}
        logged = await log.find([*keys.values()])
        said = {key: completion_of(logged[keys[key]]) for key in new if keys[key] in logged}
        if asked := [key for key in new if key not in said]:
            fleet = await door.fleet()
            written: asyncio.Task[None] | None = None
            batch = [requests[key] for key in asked]
            async with aclosing(fleet.stream(self.model.name, batch)) as replies:
                async for place, reply in replies:
                    key = asked[place]
                    said[key] = reply
                    came(key, reply)
                    if reply.finish != "error":
                        written = log.add(units[key], keys[key], reply_of(reply))
            if written is not None:
                await written
        await asyncio.to_thread(self.remember, requests, said)
        return told | said, [self._call(said[key]) for key in new]

    def remember(self, requests: Mapping[K, Request], said: Mapping[K, Completion]) -> None:
        """Keep what it said for later runs."""
        if self._responses is None:
            return
        new = {
            place: {"response": reply.text, "finish": reply.finish, "error": reply.error}
            for key, reply in said.items()
            if lasting(reply.finish) and (place := self._address(requests[key]))
        }
        self._responses.put(new)

    def _call(self, reply: Completion) -> Call:
        return [self.model.name, reply.prompt_tokens, reply.output_tokens, reply.finish]

    def _key(self, unit: int, request: Request) -> Key:
        return key_of(unit, self.model.name, resolved(request, self.model))

    def _address(self, request: Request) -> str | None:
        if self._responses is None:
            return None
        return self._responses.address(self.model.name, resolved(request, self.model))
