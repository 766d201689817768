"""Differences of means."""

import random

import pytest

from raybench.compare import means
from raybench.compare.flips import Done, between
from raybench.compare.found import Flip, Flips
from raybench.types import Estimate

ONE, SAME = 0.3 - 0.1, 0.5 - 0.3  # 0.2 both, and not to the last bit


def test_what_rounding_leaves_is_no_difference() -> None:
    assert ONE != SAME
    score = means.paired("m", "M", ([ONE] * 10, [SAME] * 10), of="seeds")
    assert (score.difference.value, score.gained, score.lost, score.p) == (0, 0, 0, 1)
    assert score.identical

    def flip(*_: object) -> Flip:
        raise AssertionError("nothing flipped")

    sides = {"a": Done(ONE, 1, 0)}, {"a": Done(SAME, 1, 0)}
    assert between(Flips("m", "M"), sides, flip, 9) == Flips("m", "M", items=[])


def test_the_same_loss_of_rank_correlation_in_every_seed_is_no_effect() -> None:
    """Kendall's τ of 13 models comes in steps of 2/78, which no float has exactly."""
    taus = [1 - 2 * discordant / 78 for discordant in range(79)]
    rng = random.Random(0)
    for _ in range(200):
        sides: tuple[list[float], list[float]] = [], []
        for _ in range(8):
            lost = rng.randint(0, 6)
            for side in sides:
                at = rng.randint(0, 10)
                side.append(taus[at] - taus[at + lost])
        assert means.paired("m", "M", sides, of="seeds").identical


@pytest.mark.parametrize("value", [0.3, 1000.0])
def test_small_differences_are_differences(value: float) -> None:
    score = means.paired("m", "M", ([value] * 9, [value * (1 + 1e-9)] * 9), of="seeds")
    assert (score.gained, score.lost) == (9, 0)
    assert score.p == 2**-8


def test_what_independent_runs_round_otherwise_is_no_difference() -> None:
    one, other = (Estimate(it, None, (it, it + 0.1), 9, "kappa") for it in (ONE, SAME))
    score = means.apart("m", "M", one, other, of="tasks")
    assert score.difference.value == 0
    assert score.p in (None, 1.0)
