"""What is known of weights from the Hugging Face hub before anything starts: sizes, and tokens."""

import asyncio
import re
from collections.abc import Iterable, Sequence

from raybench.fleet import engines
from raybench.fleet.downloads import downloads_of, weights_gib
from raybench.fleet.engines import EngineSpec
from raybench.types import ModelSpec

_GATED = re.compile(r"meta-llama/|google/gemma-[1237]")
"""Weights that the hub hands out to those who accepted their terms: a plan asks no hub."""


def missing_token(models: Iterable[ModelSpec]) -> dict[str, list[str]]:
    """Return HF_TOKEN with the names of the models whose gated weights need it, where none is set.

    Weights that were downloaded before need none.
    """
    gated = [it for it in models if it.engine == "vllm" and _GATED.match(it.weights)]
    if not gated:
        return {}
    from huggingface_hub import get_token, try_to_load_from_cache

    def is_here(model: ModelSpec) -> bool:
        file = try_to_load_from_cache(model.weights, "config.json", revision=model.revision)
        return isinstance(file, str)

    names = dict.fromkeys(it.name for it in gated if not is_here(it))
    return {"HF_TOKEN": [*names]} if names and get_token() is None else {}


async def sizes(specs: Sequence[EngineSpec]) -> dict[str, float]:
    """Return the GiB of the weights that come from the hub, by engine, as far as that is known.

    A speculative model's are added. An engine without a network, or without access, finds out when
    it is loaded, with the reason.
    """
    from_hub = [spec for spec in specs if engines.of_hub(spec.weights)]
    found = await asyncio.gather(*(asyncio.to_thread(_engine_gib, spec) for spec in from_hub))
    return {spec.name: gib for spec, gib in zip(from_hub, found, strict=True) if gib}


def _engine_gib(spec: EngineSpec) -> float:
    return sum(
        weights_gib(it.repository, it.revision, it.load_format)
        for it in downloads_of(spec)
        if it.kind != "text"
    )
