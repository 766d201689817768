"""Folders of weights without weights: files of the wanted size that take no space on the disk."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from perf.rig.devices import GIB
from perf.rig.profile import EngineProfile
from raybench.fleet.engines import weights_gib

_PROFILE = "virtual_engine"
"""The key of config.json with what an engine of these weights takes."""
_OPTIONS = {
    "gpu_memory_utilization": "gpu_memory_utilization",
    "max_model_len": "max_model_len",
    "max_num_seqs": "max_num_seqs",
    "max_num_batched_tokens": "max_batched_tokens",
}
"""vLLM's options, and what `EngineProfile` calls them."""


def write_weights(folder: Path, gib: float, **profile: Any) -> str:
    """Make a folder of weights of a size; return its path.

    `profile` are fields of `EngineProfile`: what an engine of these weights takes.
    """
    folder.mkdir(parents=True)
    config = {"model_type": "llama", "max_position_embeddings": 32_768, _PROFILE: profile}
    (folder / "config.json").write_text(json.dumps(config))
    with (folder / "model.safetensors").open("wb") as file:
        file.truncate(round(gib * GIB))
    return str(folder)


def profile_of(config: Mapping[str, Any]) -> EngineProfile:
    """Return what an engine takes, by what `LLMConfig` is given and what lies with its weights."""
    folder = Path(config["model_loading_config"]["model_source"])
    own = json.loads((folder / "config.json").read_text())
    options = config["engine_kwargs"]
    profile = EngineProfile(
        model=folder.name,
        weights_gib=weights_gib(str(folder)),
        max_model_len=own["max_position_embeddings"],
    )
    profile = replace(profile, **own[_PROFILE])
    if kv := options.get("kv_cache_memory_bytes"):
        profile = replace(profile, kv_gib=kv / GIB)
    return replace(profile, **{_OPTIONS[it]: options[it] for it in options.keys() & _OPTIONS})


def devices_wanted(config: Mapping[str, Any]) -> int:
    """Return how many devices an engine takes."""
    options = config["engine_kwargs"]
    degrees = ("tensor_parallel_size", "pipeline_parallel_size")
    return int(options.get(degrees[0], 1) * options.get(degrees[1], 1))
