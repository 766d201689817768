"""How much weights of the Hugging Face hub take, before they are loaded."""

import asyncio
import os
import re
from collections.abc import Iterable, Sequence

from raybench.fleet import engines
from raybench.fleet.devices import GIB
from raybench.fleet.engines import EngineSpec
from raybench.types import ModelSpec

_TIMEOUT_S = 20.0
_GATED = re.compile(r"meta-llama/|google/gemma-[1237]")
"""Weights that the hub hands out to those who accepted their terms: a plan asks no hub."""
_KINDS = (".safetensors", ".bin")
"""In the order in which vLLM looks for them."""


def missing_token(models: Iterable[ModelSpec]) -> dict[str, list[str]]:
    """Return HF_TOKEN with the names of the models whose gated weights need it, where none is set.

    Weights that were downloaded before need none.
    """
    gated = [it for it in models if it.engine == "vllm" and _GATED.match(it.weights)]
    if not gated:
        return {}
    from huggingface_hub import get_token, try_to_load_from_cache

    def here(model: ModelSpec) -> bool:
        found = try_to_load_from_cache(model.weights, "config.json", revision=model.revision)
        return isinstance(found, str)

    names = dict.fromkeys(it.name for it in gated if not here(it))
    return {"HF_TOKEN": [*names]} if names and get_token() is None else {}


async def sizes(specs: Sequence[EngineSpec]) -> dict[str, float]:
    """Return the GiB of the weights that come from the hub, by engine, as far as that is known.

    Whoever has no network, or no access, finds out when the engine is loaded, with the reason.
    """
    there = [spec for spec in specs if engines.of_hub(spec.weights)]
    found = await asyncio.gather(
        *(asyncio.to_thread(weights_gib, spec.weights, spec.revision) for spec in there)
    )
    return {spec.name: gib for spec, gib in zip(there, found, strict=True) if gib}


def weights_gib(repository: str, revision: str | None = None) -> float:
    """Return the size of a repository's weights: as downloaded before, or else as the hub says."""
    return _downloaded(repository, revision) or _told(repository, revision)


def _downloaded(repository: str, revision: str | None) -> float:
    from huggingface_hub import snapshot_download

    try:
        folder = snapshot_download(repository, revision=revision, local_files_only=True)
    except Exception:  # most often it is just not there
        return 0.0
    return engines.weights_gib(folder)


def _told(repository: str, revision: str | None) -> float:
    from huggingface_hub import HfApi

    try:
        # The endpoint is asked for anew: the library reads it once, at its import.
        told = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).model_info(
            repository, revision=revision, files_metadata=True, timeout=_TIMEOUT_S
        )
    except Exception:
        return 0.0
    # Subfolders hold the same weights once more, in other forms.
    files = {file.rfilename: file.size or 0 for file in told.siblings or ()}
    for kind in _KINDS:
        if size := sum(files[name] for name in files if name.endswith(kind) and "/" not in name):
            return size / GIB
    return 0.0
