"""The endpoint's front: Ray's OpenAI ingress with the roster's models, ahead of their keeper.

Imported only where ray and vllm are wanted (endpoint.py, serving.py, and the replicas themselves).
"""

import asyncio
import hmac
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from fastapi import Depends, Request
from ray import serve
from ray.exceptions import RayActorError
from ray.llm._internal.serve.core.configs.openai_api_models import (
    ModelCard,
    ModelList,
    OpenAIHTTPException,
)
from ray.llm._internal.serve.core.ingress.ingress import DEFAULT_ENDPOINTS, init
from ray.serve.exceptions import RayServeException
from ray.serve.llm.ingress import OpenAiIngress, make_fastapi_ingress
from starlette.responses import JSONResponse

from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed, did_you_mean
from raybench.fleet.endpoint import KEEPER, engines, filled, renamed
from raybench.fleet.endpoint_keeper import EndpointKeeper
from raybench.fleet.keeper import Status, handle
from raybench.fleet.leases import Leases
from raybench.fleet.loopback import replica_inside
from raybench.fleet.quiet import quieten
from raybench.fleet.reasons import last_line
from raybench.types import ModelSpec

_ENDPOINTS = ("models", "model_data", "chat", "completions")
_STOP_S = 60.0


def application(
    models: Sequence[ModelSpec], conf: FleetConf, api_key_env: str | None = None
) -> Any:
    """Return the Serve application: HTTP in front, a keeper behind, engines as they are wanted."""
    app = init()
    app.add_exception_handler(OpenAIHTTPException, _told)
    if api_key_env:
        app.router.dependencies.append(Depends(KeyCheck(api_key_env)))
    ingress = make_fastapi_ingress(
        Ingress, endpoint_map={name: DEFAULT_ENDPOINTS[name] for name in _ENDPOINTS}, app=app
    )
    # They need no CPU worth counting, and a small machine may have none to spare.
    actor = {"num_cpus": 0}
    keeper = serve.deployment(
        EndpointKeeper,
        name=KEEPER,
        num_replicas=1,
        max_ongoing_requests=100_000,  # every request waits for its lease here
        graceful_shutdown_timeout_s=_STOP_S,
        ray_actor_options=actor,
    )
    front = serve.deployment(
        ingress, name="Endpoint", max_ongoing_requests=10_000, ray_actor_options=actor
    )
    return front.bind(list(models), conf, keeper.bind(list(models), conf), api_key_env)


class Ingress(OpenAiIngress):
    """Ray's ingress with the roster's models for its models, and a lease around every request."""

    def __init__(
        self,
        models: Sequence[ModelSpec],
        conf: FleetConf,
        keeper: Any,
        api_key_env: str | None,
    ) -> None:
        quieten()
        replica_inside()
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
        super().__init__(
            {spec.name: handle(spec.name) for spec in specs},
            {spec.name: _card(spec.name) for spec in specs},
        )
        self._keeper = keeper
        self._replicas: dict[str, Sequence[str]] = {}
        self._outstanding: Counter[str] = Counter()
        """Requests that this front has with each replica."""
        self._leases = Leases(keeper)
        self._watch = asyncio.get_running_loop().create_task(self._leases.watch(_heard))

    async def model(self, model_id: str) -> ModelCard | None:
        """Return a model's card; None where there is no such model."""
        return _card(model_id) if model_id in self._doors else None

    async def models(self) -> ModelList:
        """Return the roster."""
        return ModelList(data=[_card(name) for name in self._doors])

    async def _get_response(
        self, *, body: Any, call_method: str, raw_request: Request | None = None
    ) -> AsyncGenerator[Any]:
        model, engine = self._door(body.model)
        asked = {name: getattr(body, name) for name in body.model_fields_set}
        async with self._replica(engine) as replica, self._leases.hold(replica, 1) as refusal:
            if refusal:
                raise _unavailable(refusal)
            body = body.model_copy(update=filled(model, replica, asked))
            replies = super()._get_response(
                body=body, call_method=call_method, raw_request=raw_request
            )
            try:
                async with aclosing(replies):
                    async for reply in replies:
                        yield renamed(reply, replica, model.name)
            except (RayActorError, RayServeException) as error:
                reason = last_line(str(error)) or type(error).__name__
                raise _unavailable(f"engine {engine}: {reason}") from error

    @asynccontextmanager
    async def _replica(self, engine: str) -> AsyncIterator[str]:
        """Choose the replica of an engine that has the fewest requests of this front."""
        if engine not in self._replicas:
            for name, replicas in (await self._keeper.replicas.remote()).items():
                self._replicas[name] = replicas
                for replica in replicas:  # Ray's ingress takes no more handles once it is made
                    self._default_serve_handles.setdefault(replica, handle(replica))
        replica = min(self._replicas[engine], key=self._outstanding.__getitem__)
        self._outstanding[replica] += 1
        try:
            yield replica
        finally:
            self._outstanding[replica] -= 1

    def _door(self, name: str | None) -> tuple[ModelSpec, str]:
        if not name and len(self._doors) == 1:
            return next(iter(self._doors.values()))
        if name not in self._doors:
            raise OpenAIHTTPException(
                404,
                f"unknown model '{name or ''}'. " + did_you_mean(name or "", self._doors),
                type="model_not_found",
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
            raise OpenAIHTTPException(
                401,
                "this endpoint asks for an API key, and none or another was sent",
                type="authentication_error",
            )


def _card(name: str) -> ModelCard:
    return ModelCard(id=name, object="model", owned_by="raybench", permission=[], metadata={})


def _unavailable(reason: str) -> OpenAIHTTPException:
    return OpenAIHTTPException(503, reason, type="model_unavailable")


async def _told(request: Request, error: OpenAIHTTPException) -> JSONResponse:
    """Say it as OpenAI does; Ray would repeat it three times."""
    problem = {"message": error.message, "type": error.type, "param": None}
    return JSONResponse(
        {"error": problem | {"code": error.status_code}}, status_code=error.status_code
    )


def _heard(status: Status) -> None:
    """Nobody here needs it: the sign of life is the point."""
