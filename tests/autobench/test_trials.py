"""What a trial makes of a journal."""

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.autobench.biases import MODELS, Bias, population
from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings
from raybench.autobench.trials import Trial

SETTINGS = Settings(models=MODELS)


def record(index: int, ratings: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    return {
        "iteration": index,
        "task": "What?",
        "answers": dict.fromkeys(MODELS, "So."),
        "judgments": ratings,
    }


def test_equal_scores_share_their_places() -> None:
    scores = {name: 1.0 + place for place, name in enumerate(MODELS)} | {"m01": 2.0}
    tied = Trial({"consensus": scores, "uniform": scores}, None, (), tasks=1)
    assert (tied.place("consensus", "m01"), tied.place("consensus", "m02")) == (11.5, 11.5)
    assert tied.place("consensus", "m12") == 1


def rated(rng: random.Random) -> dict[str, dict[str, int]]:
    return {judge: {name: rng.randint(1, 5) for name in MODELS} for judge in MODELS}


@given(st.randoms(use_true_random=False), st.integers(1, 3))
def test_both_rankings_come_from_the_same_ratings(rng: random.Random, iterations: int) -> None:
    records = [record(index, rated(rng)) for index in range(1, iterations + 1)]
    planted = population(Bias("adversary", 2), 7)
    found = Trial.of(records, planted, SETTINGS)
    weighted = replay(records, SETTINGS)
    assert found.scores["consensus"] == weighted.scores
    for name in MODELS:
        # Every iteration rates everybody: the uniform score is the plain mean of all ratings.
        given_ = [row[name] for it in records for row in it["judgments"].values()]
        assert found.scores["uniform"][name] == pytest.approx(sum(given_) / len(given_))
    held = sum(weighted.weights[name] for name in planted.biased)
    assert found.say == pytest.approx(held / (2 / 12))
    assert Trial.from_json(json.loads(json.dumps(found.to_json()))) == Trial(
        found.scores, found.say, list(found.favoured), found.tasks
    )
