"""The endpoint's front: Ray's OpenAI ingress with the roster's models.

Imported only where ray and vllm are wanted (endpoint.py, serving.py, and the replicas themselves).
"""

import asyncio
import hmac
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any
from uuid import uuid4

from fastapi import Depends, Request
from ray import serve
from ray.exceptions import RayActorError
from ray.serve.exceptions import RayServeException
from ray.serve.llm.ingress import OpenAiIngress, make_fastapi_ingress
from starlette.responses import JSONResponse

from raybench import ray_patches, vllm_patches
from raybench.config import FleetConf
from raybench.engines.assignments import AssignmentLoop
from raybench.engines.base import ReplicaClosed
from raybench.errors import Problem, RunFailed, did_you_mean
from raybench.fleet.endpoint import CONTROLLER, engines, filled, renamed
from raybench.fleet.endpoint_controller import EndpointController
from raybench.fleet.host import Remote
from raybench.fleet.quiet import quieten
from raybench.fleet.reasons import last_line
from raybench.fleet.replica_picker import EngineUnavailableError, ReplicaPicker
from raybench.fleet.serve_backend import ServeReplica, handle
from raybench.types import ModelSpec

_ENDPOINTS = ("models", "model_data", "chat", "completions")
_STOP_S = 60.0


def application(
    models: Sequence[ModelSpec], conf: FleetConf, api_key_env: str | None = None
) -> Any:
    """Return the Serve application: HTTP in front, a controller behind, engines as needed."""
    app, routes = vllm_patches.openai_app(_ENDPOINTS, _explain)
    if api_key_env:
        app.router.dependencies.append(Depends(KeyCheck(api_key_env)))
    ingress = make_fastapi_ingress(vllm_patches.replying(Ingress), endpoint_map=routes, app=app)
    # They need no CPU worth counting, and a small machine may have none to spare.
    actor = {"num_cpus": 0}
    controller = serve.deployment(
        EndpointController,
        name=CONTROLLER,
        num_replicas=1,
        max_ongoing_requests=100_000,  # replicas wait here for their devices
        graceful_shutdown_timeout_s=_STOP_S,
        ray_actor_options=actor,
    )
    front = serve.deployment(
        ingress, name="Endpoint", max_ongoing_requests=10_000, ray_actor_options=actor
    )
    return front.bind(list(models), conf, controller.bind(list(models), conf), api_key_env)


class Ingress(OpenAiIngress):
    """Ray's ingress with the roster's models for its models; their engines may take turns."""

    def __init__(
        self,
        models: Sequence[ModelSpec],
        conf: FleetConf,
        controller: Any,
        api_key_env: str | None,
    ) -> None:
        quieten()
        ray_patches.listen_on_loopback()
        if api_key_env and not os.environ.get(api_key_env):
            raise RunFailed(
                Problem(
                    "environment.variable",
                    f"the key that clients must send is to come from {api_key_env}, which is not "
                    "set here",
                    setting="serve.api_key_env",
                    given=api_key_env,
                    fix="set it where the endpoint runs",
                )
            )
        specs = engines(models, conf, serve.get_replica_context().app_name)
        self._doors = {model.name: (model, spec.name) for spec in specs for model in spec.models}
        super().__init__({}, {})  # replicas are added when they are asked first
        client = uuid4().hex
        self._pickers = {spec.name: ReplicaPicker(client, spec.name) for spec in specs}
        remote = Remote(controller, is_restarted=True)
        assignments = AssignmentLoop(client, remote, self._pickers, ServeReplica)
        self._assignments = asyncio.get_running_loop().create_task(assignments.run())

    async def model(self, model_id: str) -> Any:
        """Return a model's card; None where there is no such model."""
        return _card(model_id) if model_id in self._doors else None

    async def models(self) -> Any:
        """Return the roster."""
        return vllm_patches.model_list([_card(name) for name in self._doors])

    async def reply(
        self, body: Any, call_method: str, raw_request: Request | None = None
    ) -> AsyncGenerator[Any]:
        """Yield the replies of a replica to one request."""
        model, engine = self._door(body.model)
        asked = {name: getattr(body, name) for name in body.model_fields_set}
        picker, has_begun = self._pickers[engine], False
        while True:
            try:
                async with picker.pick() as replica:
                    vllm_patches.add_model(self, replica, partial(handle, replica), _card(replica))
                    replies = vllm_patches.ask_model(
                        self,
                        body.model_copy(update=filled(model, replica, asked)),
                        call_method,
                        raw_request,
                    )
                    async with aclosing(replies):
                        async for reply in replies:
                            has_begun = True
                            yield renamed(reply, replica, model.name)
                    return
            except EngineUnavailableError as error:
                raise _unavailable(str(error)) from error
            except ReplicaClosed:
                if has_begun:
                    raise
            except (RayActorError, RayServeException) as error:
                reason = last_line(str(error)) or type(error).__name__
                raise _unavailable(f"engine {engine}: {reason}") from error

    def _door(self, name: str | None) -> tuple[ModelSpec, str]:
        if not name and len(self._doors) == 1:
            return next(iter(self._doors.values()))
        if name not in self._doors:
            raise vllm_patches.openai_error(
                404,
                f"unknown model '{name or ''}'. " + did_you_mean(name or "", self._doors),
                "model_not_found",
            )
        return self._doors[name]


class KeyCheck:
    """Lets those in who bring the key."""

    def __init__(self, variable: str) -> None:
        """Take the key from an environment variable of the replica; it is never sent anywhere."""
        self._variable = variable

    def __call__(self, request: Request) -> None:
        """Raise where the key is missing or another."""
        brought = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(brought, f"Bearer {os.environ[self._variable]}".encode()):
            raise vllm_patches.openai_error(
                401,
                "this endpoint asks for an API key, and none or another was sent",
                "authentication_error",
            )


def _card(name: str) -> Any:
    return vllm_patches.model_card(name, "raybench")


def _unavailable(reason: str) -> Exception:
    return vllm_patches.openai_error(503, reason, "model_unavailable")


async def _explain(request: Request, error: Any) -> JSONResponse:
    """Return an error reply as OpenAI words it."""
    problem = {"message": error.message, "type": error.type, "param": None}
    return JSONResponse(
        {"error": problem | {"code": error.status_code}}, status_code=error.status_code
    )
