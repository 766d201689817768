"""An engine in Ray Serve as its clients see it: a feeder sends each request to a replica."""

import contextlib
from collections.abc import AsyncGenerator, Sequence

from raybench.engines.base import Placed
from raybench.engines.feeder import EngineFeeder
from raybench.types import Completion, ModelSpec, Request


class HostedEngine:
    """One engine of the cluster."""

    def __init__(self, feeder: EngineFeeder) -> None:
        self._feeder = feeder

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Answer the batch; the replies come in the order of its requests."""
        if len(requests) == 1:
            return [await self._feeder.complete(requests[0], model.name)]
        found: dict[int, Completion] = {}
        async with contextlib.aclosing(self.stream(model, requests)) as replies:
            async for place, completion in replies:
                found[place] = completion
        return [found[place] for place in range(len(requests))]

    def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Answer the batch, each reply as soon as it is there."""
        return self._feeder.stream(requests, model.name)

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Report to the controller that this many requests of the model will come."""
        self._feeder.expect(model.name, requests)

    async def wait_for_room(self) -> None:
        """Wait until few requests wait for a replica."""
        await self._feeder.wait_for_room()
