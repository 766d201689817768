"""What replies of an unfinished or extended run are found by."""

import hashlib
from dataclasses import replace

from raybench.config import Config
from raybench.experiments.autobench.playing import _identity
from raybench.types import ModelSpec, Sampling

MODEL = ModelSpec(
    "m",
    "vllm",
    "org/name",
    revision="main",
    sampling=Sampling(0.5, 0.9, 64),
    system_prompt="Brief.",
    options={"max_model_len": 512},
)
KEPT = "4457f8c857a796b2"
"""The digest of its identity in the addresses of replies, as runs of November 2026 have it."""


def digest(model: ModelSpec) -> str:
    return hashlib.sha256(_identity(model, Config()).encode()).hexdigest()[:16]


def test_replies_are_found_again_wherever_their_model_ran() -> None:
    assert digest(MODEL) == KEPT
    assert digest(replace(MODEL, name="n", replicas=4, nodes={"gpu": "x"})) == KEPT
    assert digest(replace(MODEL, revision=None)) != KEPT
