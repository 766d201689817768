"""The door: `fleet.complete(model, requests)`, whatever engine stands behind the model."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Protocol

from raybench.config import FleetConf
from raybench.fleet.engines import EngineSpec, group_engines
from raybench.fleet.remote import RemoteEngine
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Completion, Message, ModelSpec, Request

Say = Callable[[str], None]


class Engine(Protocol):
    """What every kind of engine offers. A failed request is a completion, never an exception."""

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order."""
        ...


class Fleet:
    """The running engines and the models they serve."""

    def __init__(self, specs: Sequence[EngineSpec], engines: Mapping[str, Engine]) -> None:
        self._doors = {
            model.name: (model, engines[spec.name]) for spec in specs for model in spec.models
        }

    async def complete(self, model: str, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completion of every request, in order."""
        spec, engine = self._doors[model]
        return await engine.complete(spec, [_resolve(request, spec) for request in requests])


@asynccontextmanager
async def open_fleet(
    models: Sequence[ModelSpec], conf: FleetConf, say: Say
) -> AsyncIterator[Fleet]:
    """Bring up every engine that the models need; take them down on the way out."""
    engines: dict[str, Engine] = {}
    specs = group_engines(models)
    async with AsyncExitStack() as stack:
        for spec in specs:
            if spec.kind == "simulated":
                engines[spec.name] = SimulatedEngine()
            elif spec.kind == "openai":
                engines[spec.name] = remote = RemoteEngine(spec.options, conf, say)
                stack.push_async_callback(remote.close)
        hosted = [spec for spec in specs if spec.kind == "vllm"]
        if hosted:
            # Only a roster with hosted models pays for the import of Ray and vLLM.
            from raybench.fleet.host import host

            engines.update(await stack.enter_async_context(host(hosted, conf, say)))
        yield Fleet(specs, engines)


def _resolve(request: Request, model: ModelSpec) -> Request:
    """Fill in what the request leaves to the model: its sampling and its system prompt."""
    bounds = [
        bound for bound in (request.max_tokens, model.sampling.max_tokens) if bound is not None
    ]
    system = (Message("system", model.system_prompt),) if model.system_prompt else ()
    return replace(
        request,
        messages=system + request.messages,
        max_tokens=min(bounds, default=None),
        temperature=(
            model.sampling.temperature if request.temperature is None else request.temperature
        ),
        top_p=model.sampling.top_p if request.top_p is None else request.top_p,
    )
