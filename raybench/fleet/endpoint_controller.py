"""The endpoint's controller: a Serve deployment, as the endpoint itself is.

It is apart from the front (ingress.py), which needs vLLM.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from ray import serve

from raybench import ray_patches
from raybench.config import FleetConf
from raybench.fleet.cluster import gpus, on_gpus
from raybench.fleet.cluster_controller import ClusterController
from raybench.fleet.endpoint import CONTROLLER, engines, prefix
from raybench.fleet.quiet import quieten
from raybench.fleet.serve_backend import stop
from raybench.fleet.serve_calls import applications
from raybench.types import ModelSpec


class EndpointController(ClusterController):
    """The controller as a deployment, which Serve starts again if it dies and ends with the app."""

    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self, models: Sequence[ModelSpec], conf: FleetConf
    ) -> None:
        quieten()
        ray_patches.listen_on_loopback()
        app = serve.get_replica_context().app_name
        await gpus(conf, lambda text: None)
        super().__init__(engines(models, conf, app), conf, gpu=on_gpus(conf))
        # A controller that died could not say in what state its engines are.
        self._prefix = prefix(app)
        await asyncio.to_thread(_stop_all, self._prefix)
        await self.open(ray_patches.deployment_handle(CONTROLLER, app))

    async def __del__(self) -> None:
        with suppress(Exception):  # Serve itself may be on its way out
            await self.turn_away()
            await asyncio.to_thread(_stop_all, self._prefix, wait=False)


def _stop_all(prefix: str, *, wait: bool = True) -> None:
    """End the replicas whose names begin like this."""
    stop([name for name in applications() if name.startswith(prefix)], wait=wait)
