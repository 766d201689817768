"""The protocol finds the order of models whose abilities are known."""

import statistics

import numpy as np
import pytest
from scipy import stats

from raybench.arena.assessment import assess
from raybench.arena.decoding import Decoding
from raybench.autobench.settings import Settings
from raybench.config import FleetConf
from raybench.fleet import open_fleet
from raybench.types import ModelSpec

ABILITIES = np.linspace(0.1, 0.9, 12)
ITERATIONS = 60
DECODING = Decoding(tokens={"task": 64, "task_rating": 16, "answer": 64, "answer_rating": 16})


def roster(seed: int, random_judges: int) -> tuple[ModelSpec, ...]:
    """Return twelve models, some of which judge at random; which ones differs from seed to seed."""
    at_random = set(np.random.default_rng(seed).choice(12, random_judges, replace=False))
    return tuple(
        ModelSpec(
            name=f"m{position:02}",
            engine="simulated",
            weights="",
            options={
                "ability": float(ability),
                "judge": "random" if position in at_random else "skilled",
            },
        )
        for position, ability in enumerate(ABILITIES)
    )


async def spearman(seed: int, random_judges: int) -> float:
    models = roster(seed, random_judges)
    settings = Settings(models=tuple(model.name for model in models), seed=seed)
    async with open_fleet(models, FleetConf(), say=lambda text: None) as fleet:
        records = await assess(settings, fleet, DECODING, ITERATIONS)
    scores = [records[-1]["cumulative"][model] for model in settings.models]
    return float(stats.spearmanr(ABILITIES, scores).statistic)


@pytest.mark.parametrize("random_judges", [0, 4])
async def test_the_latent_order_is_recovered(random_judges: int) -> None:
    assert await spearman(0, random_judges) >= 0.9


@pytest.mark.long(short="tests/arena/test_recovery.py::test_the_latent_order_is_recovered")
@pytest.mark.parametrize("random_judges", [0, 4])
async def test_the_latent_order_is_recovered_whoever_judges_at_random(random_judges: int) -> None:
    found = [await spearman(seed, random_judges) for seed in range(11)]
    assert statistics.median(found) >= 0.95
