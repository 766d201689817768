"""What `ray.serve.llm` is told of an engine: vLLM's arguments, its environment, its place."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from raybench import vllm_patches
from raybench.config import FleetConf, labels
from raybench.errors import Problem, RunFailed
from raybench.fleet import embedded, vllm_options
from raybench.fleet.devices import GIB
from raybench.fleet.engines import CPU_KV_CACHE_GIB, EngineSpec, is_path
from raybench.fleet.reasons import mended, of_hub
from raybench.paths import expanded

_CPU_MAX_MODEL_LEN = 4096
_CPU_MAX_NUM_SEQS = 64
_STOP_S = 5.0
"""Engines leave when their work is done; at the end of it all, what is under way is cut off."""
_STOP_LOOK_S = 0.1
"""How often a replica that ends looks whether it has requests: by Serve's default, every 2 s."""
# JSON without white space that nobody asked for, of which small models never make an end, and with
# escapes in texts of bounded length: vLLM's first choice, xgrammar, lets a tab stand in them, which
# no JSON may, and no formula.
_CONSTRAINED = {"backend": "guidance", "disable_any_whitespace": True}
# vLLM's parser of gpt-oss turns a constraint into a structural tag, which guidance cannot read.
_HARMONY = "openai_gptoss"
_HARMONY_CONSTRAINED = {**_CONSTRAINED, "backend": "xgrammar"}
_NODE_ID = "ray.io/node-id"
"""Ray's label for the id of a node."""
# An engine that binds itself to its CPUs or GPUs: Ray's count of them would only keep it from being
# placed beside others. (Kind 'cpu' means just that: workers are processes of the replica's own, and
# no GPU is asked of Ray.)
_UNCOUNTED = {
    "accelerator_config": {"kind": "cpu"},
    "placement_group_config": {"bundles": [{"CPU": 0.01}]},
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a replica is put."""

    node: str = ""
    """The id of a node."""
    gpus: tuple[str, ...] = ()
    """Which GPUs of the node it takes."""
    share: float | None = None
    """Share of each GPU's memory that it may take."""
    kv_gib: float | None = None
    """Size of its KV cache; None where that fills its share."""
    bundles: tuple[str, ...] = ()
    """For a replica on several nodes, the node of each of its GPUs, which Ray chooses there."""


def llm_config(
    spec: EngineSpec, conf: FleetConf, *, gpu: bool, place: Place = Place()
) -> dict[str, Any]:
    """Return what `ray.serve.llm.LLMConfig` is given for this engine."""
    source = embedded.prepare() if spec.weights == embedded.NAME else spec.weights
    local = is_path(str(source))
    source = str(expanded(source).resolve()) if local else str(source)
    arguments: dict[str, Any] = {
        "revision": spec.revision,
        "max_num_seqs": conf.max_num_seqs,
        "structured_outputs_config": _HARMONY_CONSTRAINED
        if spec.options.get("reasoning_parser") == _HARMONY
        else _CONSTRAINED,
    }
    if gpu:
        arguments |= {
            "max_model_len": conf.max_model_len,
            "gpu_memory_utilization": place.share or conf.memory_share,
            "enable_sleep_mode": True if place.gpus else None,
            "kv_cache_memory_bytes": int(place.kv_gib * GIB) if place.kv_gib else None,
        }
    else:
        arguments |= _cpu_arguments(source, spec, conf)
    arguments = {name: value for name, value in arguments.items() if value is not None}
    arguments |= vllm_options.arguments(spec.options)
    silent = arguments.get("disable_log_stats", not conf.engine_metrics)
    environment = {
        "VLLM_NO_USAGE_STATS": "1",
        # Ray's own limit is an hour, whatever ours is.
        "RAYLLM_ENGINE_START_TIMEOUT_S": str(math.ceil(conf.start_deadline_s)),
    }
    if gpu:
        # GPUs are numbered as NVML numbers them, which CUDA does only when it is asked to.
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    if local:
        environment["HF_HUB_OFFLINE"] = "1"
    if place.gpus:
        # The controller has chosen them, and keeps them from others (reservations.py). Ray neither
        # counts nor hides them.
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(place.gpus)
        environment["RAY_EXPERIMENTAL_NOSET_CUDA_VISIBLE_DEVICES"] = "1"
    return {
        "model_loading_config": {"model_id": spec.name, "model_source": source},
        "engine_kwargs": arguments,
        # Without, the engine still times each request: what of that is a model's own is wanted. But
        # nothing is summed up at every step for whoever scrapes the cluster's Prometheus port.
        "log_engine_metrics": not silent,
        "runtime_env": {"env_vars": environment},
        "deployment_config": {
            "num_replicas": 1,
            # The controller decides whether a load that failed is tried again.
            "max_constructor_retry_count": 1,
            "max_ongoing_requests": 10_000,  # the engine queues and batches, not Serve
            "ray_actor_options": {"num_cpus": 0},
            **_on_nodes(conf, place),
            "graceful_shutdown_timeout_s": _STOP_S,
            "graceful_shutdown_wait_loop_s": _STOP_LOOK_S,
        },
        **_bundles(place),
        **vllm_patches.without_download(),
    }


def _on_nodes(conf: FleetConf, place: Place) -> dict[str, Any]:
    """Return on which nodes the bundles of a replica must lie."""
    nodes = place.bundles or ((place.node,) if place.node else ())
    selectors = [{_NODE_ID: node} for node in nodes] or [labels.for_ray(conf.nodes)]
    return {"placement_group_bundle_label_selector": selectors} if selectors[0] else {}


def _bundles(place: Place) -> dict[str, Any]:
    """Return what a replica asks of Ray."""
    if place.bundles:
        return {"placement_group_config": {"bundles": [{"GPU": 1} for _ in place.bundles]}}
    return _UNCOUNTED


def _cpu_arguments(source: str, spec: EngineSpec, conf: FleetConf) -> dict[str, Any]:
    context = _context(source, spec.revision)
    # A model's own option counts here too: whole prompts must fit into one step (below).
    asked = spec.options.get("max_model_len") or conf.max_model_len or _CPU_MAX_MODEL_LEN
    if isinstance(asked, int) and asked > 0:
        context = min(asked, context)
    return {
        "max_model_len": context,
        "max_num_seqs": conf.max_num_seqs or _CPU_MAX_NUM_SEQS,
        "kv_cache_memory_bytes": int((conf.kv_cache_gib or CPU_KV_CACHE_GIB) * GIB),
        # The prefix cache holds whole blocks. With vLLM's 128 on CPUs, 75 % of what the judges of
        # one answer read comes from the cache, with 32 it is 88 % (measured).
        "block_size": 32,
        "dtype": "bfloat16" if _has_bfloat16() else "float32",
        # Compiling costs a minute and a C++ compiler at every start, for 10 % (measured).
        "enforce_eager": True,
        # vLLM 0.29 dies on a CPU ('CPU Generator does not use offset') when the prompt of a
        # request with a seed is split over two steps. Whole prompts never are.
        "enable_chunked_prefill": False,
        "max_num_batched_tokens": max(context, _CPU_MAX_MODEL_LEN),
    }


def _context(source: str, revision: str | None) -> int:
    """Read the model's context length from its config.json, here or on the hub."""
    file = Path(source) / "config.json"
    if not file.is_file():
        from huggingface_hub import hf_hub_download

        try:
            file = Path(hf_hub_download(source, "config.json", revision=revision))
        except Exception as error:
            why = mended(
                of_hub(str(error)),
                otherwise="Check the name and the network (HF_TOKEN for gated models), or give a "
                "local folder",
            )
            raise RunFailed(
                Problem(
                    "model.weights",
                    f"the weights '{source}' could not be had from the Hugging Face hub: {why}",
                    given=source,
                )
            ) from error
    config = json.loads(file.read_text())
    config = config.get("text_config", config)
    return int(config.get("max_position_embeddings") or _CPU_MAX_MODEL_LEN)


def _has_bfloat16() -> bool:
    """Tell whether the CPU multiplies bfloat16; without, it is three times slower than float32."""
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return bool({"avx512_bf16", "amx_bf16", "bf16"} & set(flags))
