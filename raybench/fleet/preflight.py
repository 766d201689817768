"""One cheap request to each model at an endpoint before anything else is started.

A chat completion of a few tokens is the one thing that all OpenAI-compatible servers have, and it
shows a wrong key, a wrong path and an unknown model alike.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet.engines import group_engines
from raybench.statements import Statement
from raybench.types import ModelSpec

if TYPE_CHECKING:
    from raybench.fleet.remote import RemoteEngine

_WITHIN_S = 30.0
"""An endpoint that needs longer to answer may be loading its model: the run continues."""


class Preflight:
    """What endpoints replied when they were asked for a word; each is asked once."""

    def __init__(
        self,
        conf: FleetConf,
        whole: Sequence[ModelSpec] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Ask also the models in `whole` when any model is asked. The clock returns seconds."""
        self._conf = conf
        self._whole = tuple(whole)
        self._clock = clock
        self._problems: dict[tuple[str, str], Problem | None] = {}
        """By the endpoint and what it calls the model; None where nothing definite is wrong."""

    async def check(
        self, models: Sequence[ModelSpec], say: Callable[[str], None]
    ) -> dict[str, Problem]:
        """Return the models that their endpoints refuse for good, by name, with the fix."""
        new: dict[tuple[str, str], ModelSpec] = {}
        every = (*models, *self._whole) if any(_places(models)) else ()
        for place, model in _places(every):
            if place not in self._problems:
                new.setdefault(place, model)
        if new:
            from raybench.fleet.remote import RemoteEngine  # its import takes a while

            say(_asking(len(new)))
            async with AsyncExitStack() as stack:
                engines = {}
                for (endpoint, _), model in new.items():
                    if endpoint not in engines:
                        engine = RemoteEngine(model.options, self._conf, _nothing, self._clock)
                        stack.push_async_callback(engine.close)
                        engines[endpoint] = engine
                problems = await asyncio.gather(
                    *(_ask(engines[endpoint], model) for (endpoint, _), model in new.items())
                )
            self._problems.update(zip(new, problems, strict=True))
        found = ((model.name, self._problems[place]) for place, model in _places(models))
        return {name: problem for name, problem in found if problem is not None}


async def _ask(engine: "RemoteEngine", model: ModelSpec) -> Problem | None:
    try:
        async with asyncio.timeout(_WITHIN_S):
            return await engine.refusal(model)
    except TimeoutError:
        return None


def _places(models: Sequence[ModelSpec]) -> Iterator[tuple[tuple[str, str], ModelSpec]]:
    """Yield each model at an endpoint after the endpoint and what that calls the model."""
    for spec in group_engines(models):
        if spec.kind == "openai":
            yield from (((spec.name, model.weights), model) for model in spec.models)


def _nothing(text: str) -> None:
    """Say nothing: problems are reported at the end."""


def _asking(count: int) -> Statement:
    return Statement(
        "endpoint.preflight", "trying models at endpoints: one short request to each", count=count
    )
