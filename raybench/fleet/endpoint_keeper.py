"""The endpoint's keeper: a Serve deployment, as the endpoint itself is.

In a file of its own: the front (ingress.py) needs vLLM, and this does not.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from ray import serve

from raybench.config import FleetConf
from raybench.fleet.attendance import reserve
from raybench.fleet.cluster import gpus, leave_out, nodes, on_gpus
from raybench.fleet.endpoint import engines, prefix
from raybench.fleet.hub import sizes
from raybench.fleet.keeper import Keeper, stop
from raybench.fleet.loopback import replica_inside
from raybench.fleet.quiet import quieten
from raybench.fleet.replicas import replicated
from raybench.fleet.serve_calls import applications
from raybench.types import ModelSpec


class EndpointKeeper(Keeper):
    """The keeper as a deployment: Serve starts it anew where it dies, and ends it with the app."""

    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self, models: Sequence[ModelSpec], conf: FleetConf
    ) -> None:
        quieten()
        replica_inside()
        app = serve.get_replica_context().app_name
        await gpus(conf, lambda text: None)
        gpu = on_gpus(conf)
        specs = engines(models, conf, app)
        there = await asyncio.to_thread(nodes, conf, gpu=gpu)
        said: list[str] = []
        conf = leave_out(conf, there, said.append)
        specs, plan = replicated(specs, there, conf, gpu=gpu, sizes=await sizes(specs))
        await reserve(
            plan.places or {}, specs[0].name,
            conf.start_deadline_s, "fleet.start_deadline_s=", gpu=gpu,
        )  # fmt: skip
        super().__init__(specs, conf, plan, gpu=gpu)
        self._said += said
        # A keeper that died could not say in what state its engines are.
        running = await asyncio.to_thread(applications)
        await asyncio.to_thread(stop, [name for name in running if name.startswith(prefix(app))])
        await self.start()

    async def __del__(self) -> None:
        self._stopping = True
        with suppress(Exception):  # Serve itself may be on its way out
            await asyncio.to_thread(stop, list(self._specs), wait=False)
