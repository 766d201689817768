"""Shares of what came in matches: whole seeds repeat, and only their sums are kept."""

import tracemalloc

import numpy as np
import pytest

from raybench.stats import grouped
from raybench.tournament.shares import Share


def test_what_is_counted_bit_by_bit_is_the_share_of_all() -> None:
    rng = np.random.default_rng(3)
    seeds, hits = rng.integers(0, 9, 200), rng.choice([0.0, 0.5, 1.0], 200)
    counted = Share()
    for seed, hit in zip(seeds, hits, strict=True):
        counted.add(str(seed), float(hit))
    found = counted.estimate("meetings")
    expected = grouped.share(hits, seeds, over="meetings", by="seed or start")
    assert (found.value, found.n, found.method) == (expected.value, 200, expected.method)
    assert found.ci95 == pytest.approx(expected.ci95)


def test_of_nothing_there_is_no_share() -> None:
    nothing = Share()
    assert nothing.estimate("replies").method.startswith("not computed: ")
    assert nothing.estimate("replies").n == 0
    nothing.add("1", 0, 0)
    assert nothing.estimate("replies").value is None


def test_millions_of_replies_take_the_memory_of_their_seeds() -> None:
    replies = Share()
    for match in range(2_000):
        replies.add(str(match // 2), 90, 100)
    tracemalloc.start()
    found = replies.estimate("replies")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.value, found.n) == (0.9, 200_000)
    assert most < 200_000  # a byte a reply; they took 16 and more, one by one
