"""What Serve is told of an engine: by us what `ray.serve.llm` says, without its imports."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from engine_configs import checkpoint, config
from fleet.fake_deployment import Remote
from helpers import ROOT

from raybench.config import FleetConf
from raybench.fleet import on_cpu
from raybench.fleet.deployment import (
    CpuEngine,
    Engine,
    application,
    deployed_as,
    options,
    wait_for_devices,
)
from raybench.fleet.endpoint import CONTROLLER
from raybench.fleet.llm_config import Place

SAMPLER = "VLLM_USE_FLASHINFER_SAMPLER"
"""With it on, vLLM compiles a sampler at its start, for which it needs nvcc."""


@pytest.fixture
def weights(tmp_path: Path) -> str:
    return checkpoint(tmp_path / "checkpoint", max_position_embeddings=8192)


@pytest.mark.slow  # the import of vLLM
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"place": Place("a1b2")},
        {"conf": FleetConf(nodes={"pool": "big"})},
        {"gpu": True},
        {"gpu": True, "options": {"tensor_parallel_size": 4}},
        {"gpu": True, "options": {"tensor_parallel_size": 2, "pipeline_parallel_size": 2}},
        {"gpu": True, "place": Place("a1b2", ("0", "1"), 0.4)},
    ],
)
def test_serve_is_told_what_ray_would_tell_it(
    weights: str, asked: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("vllm")
    import ray
    from ray.serve.llm import LLMConfig, build_llm_deployment

    given = config(weights, **asked)
    ours = options(given, {})
    here = SimpleNamespace(runtime_env={})
    monkeypatch.setattr(ray, "get_runtime_context", lambda: here)
    theirs = build_llm_deployment(LLMConfig(**given))._bound_deployment
    assert theirs.name == f"LLMServer:{given['model_loading_config']['model_id']}"
    actor = theirs.ray_actor_options
    actor["runtime_env"].pop("worker_process_setup_hook")  # it does nothing but be imported
    assert {name: actor[name] for name in ours["ray_actor_options"]} == ours["ray_actor_options"]
    # Ray adds the replica's own demands to the first bundle, of which there are none.
    bundles = [
        {name: number for name, number in bundle.items() if number}
        for bundle in theirs._replica_config.placement_group_bundles
    ]
    assert bundles == ours["placement_group_bundles"]
    assert theirs._replica_config.placement_group_strategy == ours["placement_group_strategy"]
    named = [name for name in ours if hasattr(theirs._deployment_config, name)]
    assert {"num_replicas", "max_ongoing_requests", "health_check_timeout_s"} < set(named)
    assert {name: getattr(theirs._deployment_config, name) for name in named} == {
        name: ours[name] for name in named
    }
    assert theirs._deployment_config.autoscaling_config is None


@pytest.mark.slow  # the import of vLLM
def test_a_configuration_of_serve_builds_the_endpoint_and_its_controller() -> None:
    """That `serve deploy` brings it up: test_endpoint_real.py."""
    pytest.importorskip("vllm")
    from raybench.serving import build

    (given,) = yaml.safe_load((ROOT / "serving" / "cpu.yaml").read_text())["applications"]
    front = build(given["args"])._bound_deployment
    (models, _, controller, key) = front.init_args
    assert (front.name, controller._bound_deployment.name, key) == ("Endpoint", CONTROLLER, None)
    assert "smollm2-greedy" in [model.name for model in models]


def test_an_engine_has_the_environment_of_the_process_that_deploys_it_and_its_own(
    weights: str,
) -> None:
    job = {"working_dir": "gcs://package.zip", "env_vars": {"HF_HOME": "/models", "MORE": "1"}}
    told = options(config(weights), job)["ray_actor_options"]["runtime_env"]
    assert told["working_dir"] == "gcs://package.zip"
    assert told["env_vars"] == {
        "HF_HOME": "/models",
        "MORE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "RAYLLM_ENGINE_START_TIMEOUT_S": "900",
    }
    assert options(config(weights), {"env_vars": {"HF_HUB_OFFLINE": "0"}})["ray_actor_options"][
        "runtime_env"
    ]["env_vars"]["HF_HUB_OFFLINE"] == "1"  # fmt: skip
    assert job["env_vars"] == {"HF_HOME": "/models", "MORE": "1"}


class Tuned:
    """The engine class of CPUs."""


@pytest.fixture
def without_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica is made, and vLLM is not imported for it."""
    monkeypatch.setattr(on_cpu, "begin_engine", lambda: Tuned)
    replica = SimpleNamespace(BatchServer=type("BatchServer", (), {}))
    monkeypatch.setitem(sys.modules, "raybench.fleet.replica", cast(ModuleType, replica))


@pytest.mark.usefixtures("without_vllm")
@pytest.mark.parametrize(("set_there", "expected"), [({}, "0"), ({SAMPLER: "1"}, "1")])
def test_an_engine_starts_without_a_cuda_toolkit_unless_its_node_says_otherwise(
    monkeypatch: pytest.MonkeyPatch, set_there: dict[str, str], expected: str
) -> None:
    environment = dict(set_there)
    monkeypatch.setattr(os, "environ", environment)
    cast(Any, Engine)()
    assert environment[SAMPLER] == expected


@pytest.mark.usefixtures("without_vllm")
@pytest.mark.parametrize(("deployed", "engine_class"), [(Engine, None), (CpuEngine, Tuned)])
def test_only_engines_on_cpus_are_tuned_for_them(
    monkeypatch: pytest.MonkeyPatch, deployed: Any, engine_class: type | None
) -> None:
    monkeypatch.setattr(os, "environ", {})
    assert deployed().engine_class is engine_class


@pytest.mark.usefixtures("without_vllm")
def test_the_processes_of_an_engine_can_be_ended_by_sigterm() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # as Ray's worker has it
    try:
        cast(Any, Engine)()
        assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_an_engine_is_deployed_under_its_name(weights: str) -> None:
    given = config(weights)
    assert options(given, {})["name"] == deployed_as(given["model_loading_config"]["model_id"])


@pytest.mark.parametrize(
    ("asked", "bundles"),
    [
        ({}, [{"CPU": 0.01}]),
        ({"place": Place("a1b2")}, [{"CPU": 0.01}]),
        ({"gpu": True, "place": Place("a1b2", ("0", "1"), 0.4)}, [{"CPU": 0.01}]),
        (
            {
                "gpu": True,
                "place": Place(share=0.9, bundles=("a", "b")),
                "options": {"tensor_parallel_size": 2},
            },
            [{"GPU": 1}, {"GPU": 1}],
        ),
    ],
)
def test_serve_counts_gpus_only_where_ray_chooses_them(
    weights: str, asked: dict[str, Any], bundles: list[dict[str, float]]
) -> None:
    told = options(config(weights, **asked), {})
    assert told["placement_group_bundles"] == bundles


@pytest.mark.parametrize(("gpu", "engine"), [(True, Engine), (False, CpuEngine)])
def test_an_application_has_all_that_its_replica_is_made_of(
    weights: str, monkeypatch: pytest.MonkeyPatch, gpu: bool, engine: type
) -> None:
    import ray

    job = SimpleNamespace(runtime_env={"env_vars": {"HF_HOME": "/models"}})
    monkeypatch.setattr(ray, "get_runtime_context", lambda: job)
    given, controller = config(weights), "the handle of a controller"
    deployment = application(given, 600.0, controller, gpu=gpu)._bound_deployment
    assert deployment.name == deployed_as(given["model_loading_config"]["model_id"])
    assert deployment.init_args == (given, 600.0, controller)
    assert deployment.func_or_class is engine
    environment = deployment.ray_actor_options["runtime_env"]["env_vars"]
    assert environment["HF_HOME"] == "/models"


@pytest.mark.parametrize("may_load", [True, False])
async def test_a_replica_loads_only_if_the_controller_lets_it(weights: str, may_load: bool) -> None:
    asked: list[str] = []

    async def begin_load(replica: str) -> bool:
        asked.append(replica)
        return may_load

    given, controller = config(weights), SimpleNamespace(begin_load=Remote(begin_load))
    refused = contextlib.nullcontext() if may_load else pytest.raises(RuntimeError)
    with refused:
        await wait_for_devices(given, controller)
    assert asked == [given["model_loading_config"]["model_id"]]


async def test_a_replica_waits_as_long_as_the_controller_says_nothing(weights: str) -> None:
    answer = asyncio.get_running_loop().create_future()
    controller = SimpleNamespace(begin_load=Remote(lambda _: answer))
    waiting = asyncio.create_task(wait_for_devices(config(weights), controller))
    await asyncio.sleep(0)
    assert not waiting.done()
    answer.set_result(True)
    await waiting


@pytest.mark.process
@pytest.mark.parametrize(
    "module",
    ["cluster_controller", "deployment", "endpoint_controller", "host", "serve_backend"],
)
def test_who_deploys_an_engine_imports_no_vllm(module: str) -> None:
    asked = (
        f"import sys; import raybench.fleet.{module}; from ray import serve; "
        "from raybench.fleet.deployment import Engine; serve.deployment(Engine).bind({}); "
        "print(*({'vllm', 'torch', 'transformers', 'ray.serve.llm'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
