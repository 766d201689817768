"""The fleet as other processes reach it: what an actor is sent, to open the same door there."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

from raybench.config import FleetConf
from raybench.fleet.account import Account
from raybench.fleet.client import Fleet, Say, hosted_by_us, unhosted
from raybench.fleet.engines import group_engines
from raybench.fleet.remote_options import key_variable
from raybench.types import ModelSpec

_LAST_S = 5.0
"""So long, at the end, are remarks waited for that other processes have sent."""


@dataclass(frozen=True)
class Link:
    """Everything that it takes to ask the engines of a fleet from another process; it travels."""

    models: tuple[ModelSpec, ...]
    conf: FleetConf
    controller: Any
    """That of the hosted engines; None where no engine is hosted."""
    secrets: Mapping[str, str] = field(repr=False)
    """Endpoints' keys by the variable that holds them: a cluster's nodes have none of their own."""
    remarks: Any = None
    """The queue into which goes what endpoints and nodes are waited for; None where nobody listens.
    """
    refused: Mapping[str, str] = field(default_factory=dict)
    """Models that their endpoints refuse for good, and why."""
    account: Account | None = None
    """That of the fleet, in the process which has it; it does not travel."""

    @classmethod
    def to(cls, fleet: Fleet, models: Sequence[ModelSpec], conf: FleetConf) -> Self:
        """Make a link to the fleet that has these models."""
        variables = {key_variable(model.options) for model in models if model.engine == "openai"}
        secrets = {name: os.environ[name] for name in variables if name and name in os.environ}
        remote = {model.name for model in models if model.engine == "openai"}
        refused = {it: why for it, why in fleet.account.failed.items() if it in remote}
        return cls(
            tuple(models), conf, fleet.controller, secrets, refused=refused, account=fleet.account
        )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"account": None}

    @property
    def endpoints(self) -> bool:
        """Tell whether there are any among the engines."""
        return any(model.engine == "openai" for model in self.models)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Fleet]:
        """Open the door in this process."""
        specs = group_engines(self.models)
        os.environ.update(self.secrets)
        async with AsyncExitStack() as stack:
            remote = unhosted(specs, self.conf, self.remark, self.refused, self._stop)
            engines = await stack.enter_async_context(remote)
            if hosted := hosted_by_us(specs):
                from raybench.fleet.host import connect

                connected = connect(self.controller, hosted, self.conf)
                engines.update(await stack.enter_async_context(connected))
            yield Fleet(specs, engines)

    def remark(self, text: str, *, lasting: bool = False) -> None:
        """Say something where somebody listens: what goes on, or what is to be kept in mind."""
        if self.remarks is not None:
            # Nobody waits for it to be read.
            self.remarks.actor.put_nowait.remote((text, lasting))

    def report(self, report: Any) -> None:
        """Send what a stage has done to the process that has the fleet."""
        if self.remarks is not None:
            self.remarks.actor.put_nowait.remote(_Reported(report))

    def _stop(self, model: str, reason: str) -> None:
        """Have the fleet's account note that an endpoint refuses a model for good."""
        if self.remarks is not None:
            self.remarks.actor.put_nowait.remote(_Refused(model, reason))


@dataclass(frozen=True)
class _Refused:
    """A model that its endpoint refuses for good."""

    model: str
    reason: str


@dataclass(frozen=True)
class _Reported:
    """What a stage has done."""

    report: Any


@asynccontextmanager
async def listening(
    link: Link,
    say: Say,
    *,
    nodes: bool = False,
    warn: Say | None = None,
    report: Callable[[Any], None] | None = None,
) -> AsyncIterator[Link]:
    """Yield the link with which other processes are heard: what they wait for, and have finished.

    They wait for endpoints or, where they say so, for nodes; where neither can be, nobody listens,
    unless there is a `report` to take. Simulated models without a delay reply at once and need
    none. `warn` is told what is to be kept in mind.
    """
    replies_take_time = any(
        it.engine != "simulated" or it.options.get("latency_s") for it in link.models
    )
    reports = report is not None and replies_take_time
    if not (link.endpoints or nodes or reports):
        yield link
        return
    from ray.util.queue import Queue

    from raybench.fleet.cluster import here

    remarks = Queue(actor_options={"num_cpus": 0, "label_selector": here()})

    async def listen() -> None:
        while (remark := await remarks.get_async()) is not None:
            if isinstance(remark, _Refused):
                if link.account is not None:
                    link.account.stop(remark.model, remark.reason)
                continue
            if isinstance(remark, _Reported):
                if report is not None:
                    report(remark.report)
                continue
            text, lasting = remark
            (warn if warn and lasting else say)(text)

    listener = asyncio.create_task(listen())
    try:
        yield replace(link, remarks=remarks)
    finally:
        with suppress(Exception):  # what was said last is heard, too
            async with asyncio.timeout(_LAST_S):
                await remarks.put_async(None)
                await listener
        listener.cancel()
        remarks.shutdown(force=True)


class Door:
    """The fleet of this process, opened when it is first asked for."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._opened: asyncio.Task[Fleet] | None = None
        self._stack = AsyncExitStack()

    async def fleet(self) -> Fleet:
        """Return it; who comes while it is being opened waits for that."""
        if self._opened is None:
            self._opened = asyncio.ensure_future(self._stack.enter_async_context(self._link.open()))
        return await asyncio.shield(self._opened)
