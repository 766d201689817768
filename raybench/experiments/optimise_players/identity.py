"""What a compiled player is made from and for: another one is made where any of it is another."""

import hashlib
import json
from collections.abc import Mapping
from importlib import metadata
from typing import Any

from raybench.arena.studies import Curriculum
from raybench.games.parts.wording import OWN
from raybench.imported import source_digest
from raybench.players.parts.asking import HOW
from raybench.players.parts.programs.optimisers import Optimiser
from raybench.positions import Positions
from raybench.types import ModelSpec

_PLACED = frozenset(
    {
        "api_key_env", "base_url", "concurrency", "cpu_offload_gb", "data_parallel_size",
        "disable_log_stats", "distributed_executor_backend", "download_dir",
        "enable_chunked_prefill", "enable_prefix_caching", "enforce_eager",
        "gpu_memory_utilization", "kv_cache_memory_bytes", "latency_s", "load_format",
        "max_num_batched_tokens", "max_num_seqs", "max_parallel_loading_workers",
        "pipeline_parallel_size", "requests_per_minute", "swap_space", "tensor_parallel_size",
    }
)  # fmt: skip
"""Options that say where a model runs and how fast, and nothing of what it says."""


def about(
    model: ModelSpec,
    of: Positions,
    named: str,
    digest: str,
    sizes: Mapping[str, int],
    curriculum: Curriculum,
    proposer: ModelSpec | None,
    phrasing: int | str = OWN,
) -> dict[str, Any]:
    """Return what a player of this model for these positions is made from and for.

    They are `named` as somebody named them; the sizes are those of the splits that it learns from.
    """
    studies, decoding = curriculum.studies, curriculum.decoding
    return {
        "model": making(model),
        "game": of.game,
        "roles": list(of.roles),
        "actions": list(of.actions),
        "positions": of.name,
        "digest": digest,
        "module": studies.module,
        "optimiser": _optimiser(studies.optimiser),
        "metric": curriculum.metric,
        "words": _words(),
        "dspy": metadata.version("dspy"),
        "own": {it: source_digest(it) for it in _own(named, curriculum)},
        "settings": {
            "seed": curriculum.seed,
            "sizes": dict(sizes),
            "tokens": dict(decoding.tokens),
            "temperature": decoding.temperature,
            "listed_moves": decoding.listed,
            "proposer": None if proposer is None else making(proposer),
            **({} if phrasing == OWN else {"phrasing": phrasing}),
        },
    }


def making(model: ModelSpec) -> dict[str, Any]:
    """Return what makes a model say what it says: its name is not among it."""
    return {
        "engine": model.engine,
        "weights": model.weights,
        "revision": model.revision,
        "drawn_with": dict(model.drawn_with),
        "system_prompt": model.system_prompt,
        "system_role": model.system_role,
        "reasoning": model.reasoning,
        "images": model.images,
        "options": {name: it for name, it in model.options.items() if name not in _PLACED},
    }


def _optimiser(of: Optimiser) -> Mapping[str, Any]:
    return {"use": of.name, **of.options}


def _own(named: str, curriculum: Curriculum) -> list[str]:
    """Return what is somebody's own, by its path: a player is made from its code, too."""
    studies = curriculum.studies
    every = (named, studies.module, studies.optimiser.name, curriculum.metric)
    return sorted({it for it in every if ":" in it})


def _words() -> str:
    """Return what tells the words of prompts that are around rules and positions from others."""
    from raybench.players.parts.programs.plain import ALOUD
    from raybench.players.parts.programs.signature import Move

    text = json.dumps([HOW, ALOUD, Move.instructions])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
