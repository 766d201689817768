"""What the index asks models with, whatever their roster has for them."""

import pytest

from raybench.config import Config, IndexConf, ModelConf, RosterConf, SamplingConf
from raybench.pipeline.terms import models_of
from raybench.types import Sampling


@pytest.mark.parametrize(
    ("roster", "index", "asked"),
    [
        ((0.7, None, False), (0.0, 4096), (0.0, 4096)),
        ((0.7, 512, False), (0.0, 4096), (0.0, 512)),
        ((0.7, 9000, False), (None, 4096), (0.7, 4096)),
        ((0.7, None, True), (0.0, 4096), (0.0, None)),
        ((0.7, 9000, True), (0.0, 4096), (0.0, 9000)),
    ],
)
def test_the_methodology_decides_but_for_a_reasoning_models_own_maximum(
    roster: tuple[float, int | None, bool],
    index: tuple[float | None, int],
    asked: tuple[float, int | None],
) -> None:
    temperature, most, reasoning = roster
    model = ModelConf(
        "m", "simulated", reasoning=reasoning, sampling=SamplingConf(temperature, 0.9, most)
    )
    config = Config(
        roster=RosterConf("r", [model]), index=IndexConf(temperature=index[0], max_tokens=index[1])
    )
    (found,) = models_of(config)
    assert found.sampling == Sampling(asked[0], 0.9, asked[1])
    assert found.reasoning == reasoning
