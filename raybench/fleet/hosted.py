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
        found: dict[int, Completion] = {}
        async with contextlib.aclosing(self.stream(model, requests)) as replies:
            async for place, completion in replies:
                found[place] = completion
        return [found[place] for place in range(len(requests))]

    def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Answer the batch, each reply as soon as it is there."""
        return self._feeder.stream(requests, model.name)
