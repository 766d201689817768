"""The controller of engines on a Ray cluster: an actor of a run, or a deployment of an endpoint."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from raybench.config import FleetConf
from raybench.demands import may_come
from raybench.engines.base import DemandReport
from raybench.engines.controller import Assignments, EngineController, Status
from raybench.engines.scheduler import EngineScheduler
from raybench.engines.scheduler.messages import (
    DevicesFound,
    DevicesLost,
    EngineNeed,
    MemoryBudget,
    Node,
    Rules,
)
from raybench.engines.scheduler.move_costs import Swaps
from raybench.engines.weight_fetcher import WeightFetcher
from raybench.errors import Problem, RunFailed
from raybench.fleet import reservations
from raybench.fleet.cluster import leave_out, nodes
from raybench.fleet.downloads import address_of, downloads_of, fetch_on, missing_on
from raybench.fleet.engines import EngineSpec
from raybench.fleet.hub import sizes
from raybench.fleet.needs import gpus_wanted, needs_of, nodes_of, placement
from raybench.fleet.node_watch import NodeWatch
from raybench.fleet.reservations import Reservations
from raybench.fleet.serve_backend import Hosting, ServeBackend
from raybench.statements import Statement

_FREE_S = 30.0
"""How long a run that takes all GPUs waits for those that others use."""
_STOPPED = Statement("engine.stopped", "the engines are being stopped")


@dataclass(frozen=True, slots=True)
class _Cluster:
    """What there is once the controller has looked at the cluster."""

    engines: EngineController
    backend: ServeBackend
    fetcher: WeightFetcher


class ClusterController:
    """Finds out what the cluster has, and keeps engines on it."""

    def __init__(self, specs: Sequence[EngineSpec], conf: FleetConf, *, gpu: bool) -> None:
        """Begin with nothing: `open` does the rest."""
        self._specs = {spec.name: spec for spec in specs}
        self._downloads = {spec.name: it for spec in specs if (it := downloads_of(spec))}
        """What engines need of the hub."""
        self._conf = conf
        self._gpu = gpu
        self._said: list[str] = []
        self._cluster: _Cluster | None = None
        self._opened = asyncio.Event()
        self._is_stopped = False
        self._watch: asyncio.Task[None] | None = None

    async def open(self, handle: Any = None) -> None:
        """Reserve devices and begin to load what fits on them.

        handle: that of this controller, for replicas; by default the actor's. Raises RunFailed if
        the engines cannot be hosted here.
        """
        from raybench.fleet.quiet import quieten

        quieten()
        if handle is None:
            import ray

            handle = ray.get_runtime_context().current_actor
        specs, conf, gpu = [*self._specs.values()], self._conf, self._gpu
        gib = await sizes(specs)
        machines = await asyncio.to_thread(nodes, conf, gpu=gpu)
        conf = self._conf = leave_out(conf, machines, self._said.append)
        there = nodes_of(machines, conf, gpu=gpu)
        needs = self._needs(gib, there, may_come=await asyncio.to_thread(may_come))
        kept = Reservations(f"raybench: {specs[0].name}", gpu=gpu)
        takes_all = not gpu or gpus_wanted(needs.values(), there, conf) is None
        if takes_all:
            there = await self._take_all(kept, there)
        else:
            each = [need for need in needs.values() for _ in range(need.replicas or 1)]
            there = await self._choose(kept, each, conf.start_deadline_s)
            # An engine that does not fit on these is refused by the scheduler, alone.
            needs = self._needs(gib, there, may_come=True)
        planned, there = there, await self._look_for_weights(there)
        if self._is_stopped:  # while it waited for GPUs
            kept.forget(kept.devices)
            return
        if gpu:
            self._said += placement(specs, needs, planned, gpu=gpu).lines()
        rules = Rules(patience_s=conf.patience_s, linger_s=conf.linger_s)
        loop = asyncio.get_running_loop()
        backend = ServeBackend(
            Hosting(self._specs, needs, conf, gpu), kept, handle, self._said.append
        )
        scheduler = EngineScheduler(there, [*needs.values()], rules, loop.time())
        engines = EngineController(scheduler, backend, self._said.append, loop.time)
        fetcher = WeightFetcher(
            {name: need for name, need in needs.items() if name in self._downloads},
            self._fetch,
            engines.note,
            self._said.append,
            conf.start_deadline_s,
            address_of,
        )
        self._cluster = _Cluster(engines, backend, fetcher)
        await engines.start()
        fetcher.add(there)
        watch = NodeWatch(kept, conf, self._said.append, gpu=gpu, takes_all=takes_all)
        self._watch = asyncio.create_task(self._watch_nodes(self._cluster, watch))
        self._opened.set()

    async def _look_for_weights(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        """Return these nodes with the engines whose weights they lack."""
        if not self._downloads:
            return tuple(nodes)
        asked = (missing_on(node.name, self._downloads) for node in nodes)
        lacks = await asyncio.gather(*asked)
        return tuple(replace(node, lacks=it) for node, it in zip(nodes, lacks, strict=True))

    async def _fetch(self, node: str, engine: str) -> Problem | None:
        """Fetch what an engine needs to a node; return why it is not there, if so."""
        for download in self._downloads[engine]:
            if problem := (await fetch_on(node, download)).problem:
                return problem
        return None

    async def _watch_nodes(self, cluster: _Cluster, watch: NodeWatch) -> None:
        async with contextlib.aclosing(watch.changes()) as changes:
            async for change in changes:
                match change:
                    case DevicesFound(nodes):
                        found = await self._look_for_weights(nodes)
                        cluster.engines.note(DevicesFound(found))
                        cluster.fetcher.add(found)
                    case DevicesLost():
                        cluster.engines.note(change)
                        cluster.fetcher.keep(watch.nodes)
                    case _:
                        cluster.engines.note(change)

    def _needs(
        self, gib: Mapping[str, float], there: Sequence[Node], *, may_come: bool
    ) -> dict[str, EngineNeed]:
        """Return what the engines need; raise RunFailed if some fit on no node.

        may_come: other nodes may come, so that nothing is refused.
        """
        conf, gpu = self._conf, self._gpu
        needs: dict[str, EngineNeed] = {}
        problems: list[Problem] = []
        for name, spec in self._specs.items():
            weights_gib = gib.get(name, 0.0)
            need = needs_of(spec, conf, there, gpu=gpu, weights_gib=weights_gib)
            if isinstance(need, Problem) and may_come:
                need = needs_of(spec, conf, (), gpu=gpu, weights_gib=weights_gib)
            if isinstance(need, Problem):
                problems.append(need)
            else:
                needs[name] = need
        if problems:
            raise RunFailed(problems)
        return needs

    async def _take_all(self, kept: Reservations, there: tuple[Node, ...]) -> tuple[Node, ...]:
        """Reserve all devices, or those that are free where others use some; return their nodes."""
        try:
            await kept.reserve(there, _FREE_S)
        except RunFailed:
            # Only Ray knows which GPUs of a node these are.
            one = EngineNeed("any", MemoryBudget(0.0))
            return await self._choose(kept, [one for node in there for _ in node.devices], _FREE_S)
        return there

    async def _choose(
        self, kept: Reservations, each: Sequence[EngineNeed], within_s: float
    ) -> tuple[Node, ...]:
        """Have Ray choose the GPUs of these replicas; return their nodes.

        Those that are not free in time are done without. Where none is, one is waited for.
        """
        conf = self._conf
        chosen = await kept.choose(each, conf, within_s)
        if not chosen and within_s < conf.start_deadline_s:
            chosen = await kept.choose(each[:1], conf, conf.start_deadline_s)
            within_s = conf.start_deadline_s
        count = sum(len(node.devices) for node in chosen)
        lacking = sum(need.devices for need in each) - count
        if lacking:
            setting = "fleet.start_deadline_s=" if within_s == conf.start_deadline_s else ""
            problem = reservations.taken(lacking, within_s, setting)
            if not chosen:
                raise RunFailed(problem)
            self._said.append(
                Statement(
                    "fleet.fewer_gpus",
                    "{reason}. The run does with the other {count}",
                    reason=problem.text,
                    count=count,
                )
            )
        return chosen

    # Clients and replicas: see EngineController

    async def report(self, reports: Sequence[DemandReport]) -> None:
        """Take in what a client wants of some engines."""
        await (await self._engines()).report(reports)

    async def assignments(self, client: str, known: int) -> Assignments:
        """Return where requests go, once that is other than version `known`; or after 10 s."""
        return await (await self._engines()).assignments(client, known)

    async def leave(self, client: str) -> None:
        """Take in that a client has ended."""
        await (await self._engines()).leave(client)

    async def begin_load(self, replica: str) -> bool:
        """Wait until a replica's process may load its engine; False: it has to end instead."""
        return await (await self._engines()).begin_load(replica)

    def status(self) -> Status:
        """Return how things stand."""
        if self._cluster is None:
            return Status({}, Swaps(), tuple(self._said))
        status = self._cluster.engines.status()
        return Status(status.engines, status.swaps, tuple(self._said))

    async def turn_away(self) -> None:
        """Refuse the requests that have no replica yet, and begin no more moves."""
        self._is_stopped = True
        if self._watch is not None:
            self._watch.cancel()
        if self._cluster is not None:
            await self._cluster.engines.turn_away(_STOPPED)
            await self._cluster.fetcher.close()

    async def stop(self) -> None:
        """End all replicas."""
        await self.turn_away()
        if self._cluster is not None:
            await asyncio.to_thread(self._cluster.backend.stop)

    async def _engines(self) -> EngineController:
        await self._opened.wait()
        assert self._cluster is not None
        return self._cluster.engines
