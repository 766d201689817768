"""Scores and weights are a function of the journalled ratings."""

import json
from dataclasses import replace

import pytest
from assessing import assess, various
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from raybench.autobench.protocol import replay
from raybench.autobench.settings import Settings
from raybench.autobench.standing import Standing

SETTINGS = Settings(models=("a", "b", "c"), seed=7)


@examples(deadline=None)
@given(seed=st.integers(0, 1000), order=st.randoms(use_true_random=False))
def test_replay_of_the_journal_gives_exactly_the_journalled_weights(
    seed: int, order: object
) -> None:
    settings = replace(SETTINGS, seed=seed)
    records = assess(various, settings, 6)
    as_read = [json.loads(json.dumps(record)) for record in records]
    order.shuffle(as_read)  # type: ignore[attr-defined]
    standing = replay(as_read, settings)
    assert standing.weights == records[-1]["weights"]
    assert standing.scores == records[-1]["cumulative"]


def test_replay_reads_ratings_and_nothing_that_was_computed_from_them() -> None:
    records = assess(various, SETTINGS, 4)
    bare = [
        {key: record[key] for key in ("iteration", "answers", "judgments")} for record in records
    ]
    assert replay(bare, SETTINGS) == replay(records, SETTINGS)


@pytest.mark.parametrize("keep", [[0, 2], [0, 1, 1, 2]])
def test_replay_refuses_a_journal_with_a_gap_or_a_double(keep: list[int]) -> None:
    records = assess(various, SETTINGS, 3)
    with pytest.raises(ValueError, match=r"iteration \d"):
        replay([records[position] for position in keep], SETTINGS)


def test_replay_of_nothing_is_the_start() -> None:
    assert replay([], SETTINGS) == Standing.start(SETTINGS)
