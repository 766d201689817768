"""The door: `fleet.complete(model, requests)`, whatever engine stands behind the model."""

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, Protocol

from raybench.config import FleetConf
from raybench.engines.base import Placed, prefix_order
from raybench.fleet.account import Account
from raybench.fleet.chat import NO_IMAGES, shows
from raybench.fleet.engines import EngineSpec, group_engines
from raybench.fleet.refusals import Refusals
from raybench.fleet.simulated import SimulatedEngine
from raybench.fleet.system_role import folded, with_own
from raybench.types import Completion, ModelSpec, Request

Say = Callable[[str], None]
Up = Callable[[], Awaitable[None]]
"""Waits for the engines that are loaded first."""


class Engine(Protocol):
    """What every kind of engine offers. A failed request is a completion, never an exception."""

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Return one completion per request, in order."""
        ...

    def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Yield one completion per request with its place, as they finish."""
        ...

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Take in that this many requests will come."""
        ...

    async def wait_for_room(self) -> None:
        """Wait until few requests wait."""
        ...


class Fleet:
    """The running engines and the models they serve."""

    def __init__(
        self,
        specs: Sequence[EngineSpec],
        engines: Mapping[str, Engine],
        account: Account | None = None,
        controller: Any = None,
        up: Up | None = None,
    ) -> None:
        self._doors = {
            model.name: (model, engines[spec.name]) for spec in specs for model in spec.models
        }
        self._engines = dict(engines)
        self.account = account or Account(self._doors)
        self.controller = controller
        """The actor that has the hosted engines; None where there are none."""
        self._up = up

    async def up(self) -> None:
        """Wait for the engines that are loaded first; raise RunFailed where none comes up.

        Who does not wait may ask already, and be told of each request that its engine failed.
        """
        if self._up is not None:
            await self._up()

    @contextmanager
    def lent(self, models: Sequence[ModelSpec]) -> Iterator["Fleet"]:
        """Yield the same engines under these models' names, with an account of their own.

        Each has to be a model of this fleet, though it may be asked otherwise: with another
        sampling or system prompt.
        """
        specs = group_engines(models)
        engines = {spec.name: self._engines[spec.name] for spec in specs}
        with self.account.lent(model.name for model in models) as account:
            yield Fleet(specs, engines, account, self.controller, self._up)

    async def complete(self, model: str, requests: Sequence[Request]) -> list[Completion]:
        """Return the model's completion of every request, in order."""
        spec, engine = self._doors[model]
        places, batch, refused = _batch(requests, spec)
        with self.account.call(model, len(requests)) as count:
            # Nobody brings an engine up for what it is not sent.
            replies = await engine.complete(spec, batch) if batch or not refused else []
            placed = refused | dict(zip(places, replies, strict=True))
            for reply in placed.values():
                count(reply)
        return [placed[place] for place in range(len(requests))]

    async def stream(self, model: str, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Yield the place of a request and the model's completion of it, as each finishes."""
        spec, engine = self._doors[model]
        places, batch, refused = _batch(requests, spec)
        with self.account.call(model, len(requests)) as count:
            for refusal in refused.items():
                count(refusal[1])
                yield refusal
            if refused and not batch:
                return
            async with aclosing(engine.stream(spec, batch)) as replies:
                async for place, reply in replies:
                    count(reply)
                    yield places[place], reply

    def expect(self, model: str, requests: int) -> None:
        """Announce how many requests of the model will come that are not sent yet.

        The engine's replicas are planned for them. Each call replaces the number of the last one.
        """
        spec, engine = self._doors[model]
        engine.expect(spec, requests)

    async def wait_for_room(self, model: str) -> None:
        """Wait until the model's engine can soon begin more requests than it has been sent."""
        await self._doors[model][1].wait_for_room()


@asynccontextmanager
async def open_fleet(
    models: Sequence[ModelSpec],
    conf: FleetConf,
    say: Say,
    *,
    ray: bool = False,
    wait: bool = True,
    refused: Mapping[str, str] | None = None,
    note: Say | None = None,
) -> AsyncIterator[Fleet]:
    """Bring up every engine that the models need; take them down on the way out.

    `ray` asks for a cluster also where no engine needs one. Who does not `wait` for those that are
    loaded first has something to do meanwhile, and waits for `Fleet.up` afterwards. Models that
    are `refused` by their endpoints, for these reasons, are not asked. `note` reports where
    engines are, and what happens to them; by default `say` does.
    """
    specs = group_engines(models)
    account = Account(model.name for model in models)
    for model, reason in (refused or {}).items():
        account.stop(model, reason)
    controller, up, hosted = None, None, hosted_by_us(specs)
    async with AsyncExitStack() as stack:
        remote = unhosted(specs, conf, say, account.failed, account.stop)
        engines = await stack.enter_async_context(remote)
        # Only a roster with hosted models pays for the import of Ray and vLLM.
        if hosted:
            from raybench.fleet.host import host

            hosting = host(hosted, conf, account, say, note or say)
            controller, ours, up = await stack.enter_async_context(hosting)
            engines.update(ours)
        elif ray:
            from raybench.fleet.cluster import cluster

            await stack.enter_async_context(cluster(conf, say))
        fleet = Fleet(specs, engines, account, controller, up)
        if wait:
            await fleet.up()
        yield fleet


def hosted_by_us(specs: Sequence[EngineSpec]) -> list[EngineSpec]:
    """Return the engines that run on the cluster."""
    return [spec for spec in specs if spec.kind == "vllm"]


@asynccontextmanager
async def unhosted(
    specs: Sequence[EngineSpec],
    conf: FleetConf,
    say: Say,
    refused: Mapping[str, str],
    stop: Callable[[str, str], None],
) -> AsyncIterator[dict[str, Engine]]:
    """Hand out the engines that are objects of this process.

    Models that are `refused` by their endpoints, for these reasons, are not asked; `stop` is told
    of others that turn out to be.
    """
    engines: dict[str, Engine] = {}
    async with AsyncExitStack() as stack:
        for spec in specs:
            if spec.kind == "simulated":
                engines[spec.name] = SimulatedEngine()
            elif spec.kind == "openai":
                from raybench.fleet.remote import RemoteEngine  # its import takes a while

                refusals = Refusals(spec.models, refused, stop)
                remote = RemoteEngine(spec.options, conf, say, refusals=refusals)
                engines[spec.name] = remote
                stack.push_async_callback(remote.close)
        yield engines


def _batch(
    requests: Sequence[Request], model: ModelSpec
) -> tuple[list[int], list[Request], dict[int, Completion]]:
    """Return what goes to the engine, in the order that its prefix cache likes, and its places.

    Beside it stands, by its place, what does not: images for a model that takes none.
    """
    asked = [resolved(request, model) for request in requests]
    refused = {
        place: Completion.failed(NO_IMAGES, finish="unsupported")
        for place, request in enumerate(asked)
        if model.images is False and shows(request)
    }
    places = [place for place in prefix_order(asked) if place not in refused]
    return places, [asked[place] for place in places], refused


def resolved(request: Request, model: ModelSpec) -> Request:
    """Return the request with what it leaves to the model: its sampling and its system prompt.

    For a model that is known to take no system message there is none.
    """
    bounds = [
        bound for bound in (request.max_tokens, model.sampling.max_tokens) if bound is not None
    ]
    messages = with_own(model.system_prompt, request.messages)
    return replace(
        request,
        messages=folded(messages, apart=request.system_apart)
        if model.system_role is False
        else messages,
        max_tokens=min(bounds, default=None),
        temperature=(
            model.sampling.temperature if request.temperature is None else request.temperature
        ),
        top_p=model.sampling.top_p if request.top_p is None else request.top_p,
    )
