"""An engine as a Serve deployment, made by whoever need not have vLLM for that.

`ray.serve.llm` would make the same, from a class and a configuration of its own: importing them
takes 14 s of a processor and 0.7 GiB, once in the process that deploys and once in the replica, one
after the other (measured). Only the replica needs them.
"""

import os
import signal
from collections.abc import Mapping
from typing import Any

from raybench import imported
from raybench.fleet.gpus import engine_environment

_HEALTH_CHECK_S = 10
SERVER_CLASS = "RAYBENCH_SERVER_CLASS"
"""An environment variable of nodes, for tests: 'module:name' of a class to serve with instead of
`BatchServer`. Ray has RAYLLM_VLLM_ENGINE_CLS for the same."""


class Engine:
    """A `BatchServer` (replica.py), which this becomes where Serve makes a replica of it."""

    gpu = True
    """It runs on GPUs."""

    def __new__(cls) -> Any:
        """Return the server, not begun: Serve calls its constructor next."""
        # A Ray of our own has it blocked (cluster.py), and vLLM ends its processes with it.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if path := os.environ.get(SERVER_CLASS):
            return object.__new__(imported.named(path, "server"))
        os.environ.update(engine_environment())
        engine_class = None
        if not cls.gpu:
            from raybench.fleet import on_cpu

            engine_class = on_cpu.begin_engine()  # before the next import, which takes as long
        from raybench.fleet.replica import BatchServer

        server = object.__new__(BatchServer)
        server.engine_class = engine_class
        return server

    def __init__(self, config: Mapping[str, Any], reply_deadline_s: float, controller: Any) -> None:
        """Stand for the server's own constructor, which takes the same."""
        raise NotImplementedError


class CpuEngine(Engine):
    """The same on CPUs."""

    gpu = False


async def wait_for_devices(config: Mapping[str, Any], controller: Any) -> None:
    """Wait until the controller lets a replica load its engine; raise where it has to end.

    Ray Serve starts a replica again that died, and its devices may have a move then.
    """
    if not await controller.begin_load.remote(name_of(config)):
        raise RuntimeError("the replica has lost its devices to others")


def name_of(config: Mapping[str, Any]) -> str:
    """Return the name of a replica, by what LLMConfig is given."""
    return str(config["model_loading_config"]["model_id"])


def gpus_of(config: Mapping[str, Any]) -> list[str]:
    """Return the GPUs that a replica was given; none where Ray chooses them, or on CPUs."""
    visible = str(config["runtime_env"]["env_vars"].get("CUDA_VISIBLE_DEVICES", ""))
    return [ident for ident in visible.split(",") if ident]


def deployed_as(name: str) -> str:
    """Return the name of an engine's deployment."""
    return f"Engine:{name}"


def application(
    config: Mapping[str, Any], reply_deadline_s: float, controller: Any, *, gpu: bool
) -> Any:
    """Return the Serve application of a replica, by what `ray.serve.llm.LLMConfig` is given.

    An engine that has requests and makes no token for `reply_deadline_s` is started again. Before
    each load the `controller` is asked.
    """
    import ray
    from ray import serve

    environment = ray.get_runtime_context().runtime_env
    engine = Engine if gpu else CpuEngine
    deployment = serve.deployment(engine, **options(config, environment))
    return deployment.bind(config, reply_deadline_s, controller)


def options(config: Mapping[str, Any], environment: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Serve is told of it; environment is that of the process which deploys."""
    given = dict(config["deployment_config"])
    own = config["runtime_env"]
    variables = {**environment.get("env_vars", {}), **own["env_vars"]}
    return {
        "health_check_period_s": _HEALTH_CHECK_S,
        "health_check_timeout_s": _HEALTH_CHECK_S,
        **given,
        "name": deployed_as(name_of(config)),
        "placement_group_bundles": _bundles(config),
        "placement_group_strategy": "PACK",
        "ray_actor_options": {
            **given["ray_actor_options"],
            # Serve's controller, which starts the replica, knows nothing of a job's environment.
            "runtime_env": {**environment, **own, "env_vars": variables},
        },
    }


def _bundles(config: Mapping[str, Any]) -> list[dict[str, float]]:
    """Return what the parts of an engine ask of nodes."""
    return list(config["placement_group_config"]["bundles"])
