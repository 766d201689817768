"""The roster behind an OpenAI-compatible endpoint: what it serves, and what a request is given.

The models keep their names, system prompts and samplings, so that whoever calls the endpoint gets
what an experiment gets. The Ray side of it is `ingress.py`, imported only where it is wanted.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from raybench import ray_patches
from raybench.config import FleetConf, ServeConf
from raybench.errors import ConfigurationError, Problem, RunFailed
from raybench.fleet.devices import elsewhere
from raybench.fleet.engines import EngineSpec, group_engines
from raybench.fleet.serve_calls import applications, deploy
from raybench.fleet.system_role import folded_chat
from raybench.statements import Statement
from raybench.types import ModelSpec

if TYPE_CHECKING:
    from raybench.engines.controller import Status
    from raybench.fleet.client import Say

APP, CONTROLLER = "raybench", "Controller"
_POLL_S = 0.5
_WATCH_S = 5.0
_TURN_AWAY_S = 5.0
_SILENT_S = 30.0
"""After so long without an answer people are told."""


# What is served


def served(models: Sequence[ModelSpec]) -> list[ModelSpec]:
    """Return the models that the endpoint serves: those hosted here."""
    hosted = [model for model in models if model.engine == "vllm"]
    if not hosted:
        raise ConfigurationError(
            Problem(
                "setting.conflict",
                "the roster has no model to serve: the endpoint serves hosted models (engine "
                "vllm). Those of other endpoints are had there, and simulated ones have no words",
                setting="roster.models",
            )
        )
    return hosted


def left_out(models: Sequence[ModelSpec]) -> list[str]:
    """Return a line for each model that the endpoint does not serve."""
    return [
        f"{model.name} is not served: "
        + (
            f"call {model.options.get('base_url')} for it"
            if model.engine == "openai"
            else "a simulated model has no words"
        )
        for model in models
        if model.engine != "vllm"
    ]


def engines(models: Sequence[ModelSpec], conf: FleetConf, app: str) -> tuple[EngineSpec, ...]:
    """Return the endpoint's engines, under names that no run and no other endpoint uses.

    Nor does the same one under another configuration, whose engines may still be on their way out
    while the new ones come in.
    """
    told = json.dumps([asdict(conf), [asdict(model) for model in models]], default=str)
    mark = f"{prefix(app)}{hashlib.sha256(told.encode()).hexdigest()[:8]}-"
    return tuple(
        # Experiments use the roster's sampling and nothing else; so does the endpoint then, instead
        # of what the checkpoint's generation_config.json adds.
        replace(spec, name=mark + spec.name, options={"generation_config": "vllm", **spec.options})
        for spec in group_engines(models)
    )


def prefix(app: str) -> str:
    """Return what the names of an endpoint's engines begin with."""
    # Ray writes deployments' names without dots and slashes.
    return f"{re.sub('[^A-Za-z0-9]+', '-', app)}-engine-"


# What a request is given, and its reply


def filled(model: ModelSpec, engine: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a request to the model's engine has instead of those asked.

    asked holds what the client gave and nothing else.
    """
    given: dict[str, Any] = {"model": engine}
    if asked.get("temperature") is None:
        given["temperature"] = model.sampling.temperature
    if asked.get("top_p") is None:
        given["top_p"] = model.sampling.top_p
    if (most := model.sampling.max_tokens) is not None:
        bounds = ("max_completion_tokens", "max_tokens")
        name = next((name for name in bounds if asked.get(name) is not None), "max_tokens")
        given[name] = most if asked.get(name) is None else min(asked[name], most)
    messages = asked.get("messages")
    if model.system_prompt and messages:
        roles = {message.get("role") for message in messages}
        if not roles & {"system", "developer"}:
            messages = [{"role": "system", "content": model.system_prompt}, *messages]
            given["messages"] = messages
    if model.system_role is False and messages:
        given["messages"] = folded_chat(messages)
    return given


def renamed(reply: Any, engine: str, model: str) -> Any:
    """Return an engine's reply, or what it sends of a stream, under the model's name."""
    if isinstance(reply, str):
        # Quotes are escaped within JSON's strings: this is the field and never a model's words.
        return reply.replace(f'"model":{json.dumps(engine)}', f'"model":{json.dumps(model)}')
    if isinstance(reply, list):
        return [renamed(part, engine, model) for part in reply]
    if getattr(reply, "model", None) == engine:
        reply.model = model
    if told := getattr(getattr(reply, "error", None), "message", None):
        reply.error.message = str(told).replace(engine, model)
    return reply


# Serving it from here


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that is up."""

    base_url: str
    controller: Any
    patience_s: float
    """How long it may be silent: on a cluster, what a node that died had comes up on another."""

    async def watch(self, say: "Say", clock: Callable[[], float] = time.monotonic) -> None:
        """Tell of engines that fail, and of silence; raise when the endpoint itself is gone."""
        told: dict[str, str] = {}
        heard, silent = clock(), False
        while True:
            try:
                async with asyncio.timeout(_WATCH_S):
                    status: Status = await self.controller.status.remote()
            except Exception as error:
                silence = clock() - heard
                if await _gone():
                    raise RunFailed(
                        Problem("engine.lost", "the endpoint is gone: somebody has stopped it")
                    ) from error
                if silence > self.patience_s:
                    why = f": {error}" if str(error) else ""
                    raise RunFailed(
                        Problem(
                            "engine.lost",
                            f"the endpoint has not answered for {silence:.0f} s{why}",
                            fix="Look at Ray's logs in /tmp/ray/session_latest/logs/serve, or "
                            "wait longer with fleet.start_deadline_s=",
                        )
                    ) from error
                if not silent and silence > _SILENT_S:
                    say(
                        Statement(
                            "endpoint.silent",
                            "the endpoint does not answer; what Ray brings back is waited for",
                        )
                    )
                    silent = True
                failures = told
            else:
                failures = {name: it.failure for name, it in status.engines.items() if it.failure}
                if silent:
                    say(Statement("endpoint.answers", "the endpoint answers again"))
                heard, silent = clock(), False
            for name, reason in failures.items():
                if told.get(name) != reason:
                    say(Statement("endpoint.lacks", "not available: {reason}", reason=reason))
            told = dict(failures)
            await asyncio.sleep(_WATCH_S)


async def _gone() -> bool:
    """Tell whether Serve knows the endpoint no longer; where it cannot say, it may come back."""
    try:
        async with asyncio.timeout(_WATCH_S):
            state = (await asyncio.to_thread(applications)).get(APP)
    except Exception:
        return False
    return state is None or state.status == "DELETING"


@contextlib.asynccontextmanager
async def open_endpoint(
    models: Sequence[ModelSpec], conf: FleetConf, serve_conf: ServeConf, say: "Say"
) -> AsyncIterator[Endpoint]:
    """Bring the roster up behind HTTP; take it down on the way out."""
    hosted = served(models)
    specs = engines(hosted, conf, APP)
    for line in left_out(models):
        say(line)
    if not elsewhere(conf):
        _check_here(serve_conf)
    from raybench.fleet.cluster import serving
    from raybench.fleet.host import take_down, up

    async with serving(conf, say, http=True) as gpu:
        from raybench.fleet.ingress import application
        from raybench.fleet.serve_backend import stop

        address = await asyncio.to_thread(_listen, serve_conf)
        say("starting the endpoint")
        made = partial(application, hosted, conf, serve_conf.api_key_env)
        await asyncio.to_thread(deploy, made, APP, route_prefix="/")
        controller = ray_patches.deployment_handle(CONTROLLER, APP)
        try:
            await _running(conf)
            await up(controller, specs, say, device="GPU" if gpu else "CPU")
            yield Endpoint(f"http://{address}/v1", controller, conf.start_deadline_s)
        finally:
            say("stopping the endpoint")
            # Serve waits for requests under way: those that wait for their turn need not.
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_TURN_AWAY_S):
                    await controller.turn_away.remote()
            if elsewhere(conf):
                # Somebody else's cluster: take down what is ours and nothing more.
                await take_down(controller, specs, say)
                with contextlib.suppress(Exception):
                    await asyncio.to_thread(stop, [APP])


def _check_here(conf: ServeConf) -> None:
    """Find out what would go wrong on this machine, before Ray starts."""
    if conf.api_key_env and not os.environ.get(conf.api_key_env):
        raise ConfigurationError(
            Problem(
                "environment.variable",
                f"serve.api_key_env names {conf.api_key_env}, which is not set",
                setting="serve.api_key_env",
                given=conf.api_key_env,
                fix="put the key that clients must send into it",
            )
        )
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            conf.host, conf.port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind) as probe:
            # As Serve binds it: connections of the last endpoint that linger do not matter.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise ConfigurationError(
            Problem(
                "endpoint.address",
                f"serve.host={conf.host} serve.port={conf.port} cannot be listened on "
                f"({error.strerror})",
                setting="serve.port",
                given=conf.port,
                fix="choose another with serve.port=… or serve.host=…",
            )
        ) from error


def _listen(conf: ServeConf) -> str:
    """Start Serve's HTTP; return the address at which it is reached."""
    from ray import serve

    serve.start(
        http_options={"host": conf.host, "port": conf.port}, logging_config={"log_level": "WARNING"}
    )
    # A cluster that serves already listens where it was told to.
    host, port = ray_patches.http_address()
    name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


async def _running(conf: FleetConf) -> None:
    """Wait until the application answers; the engines are another matter."""
    from raybench.fleet.reasons import of_application

    deadline = time.monotonic() + conf.start_deadline_s
    while time.monotonic() < deadline:
        state = (await asyncio.to_thread(applications)).get(APP)
        if state is not None and state.status == "RUNNING":
            return
        if state is not None and state.status in ("DEPLOY_FAILED", "UNHEALTHY"):
            raise RunFailed(
                Problem("engine.start", f"the endpoint did not start: {of_application(state)}")
            )
        await asyncio.sleep(_POLL_S)
    raise RunFailed(
        Problem(
            "engine.start",
            f"the endpoint was not up within fleet.start_deadline_s={conf.start_deadline_s:g} s",
            setting="fleet.start_deadline_s",
            given=conf.start_deadline_s,
            fix="Look at Ray's logs in /tmp/ray/session_latest/logs/serve",
        )
    )
