"""What a few models tell of all of their kind: intervals hold the population's correlation."""

import math

import numpy as np
import pytest

from raybench.stats.agreement import between
from raybench.stats.joint import Joint
from raybench.stats.populations import interval
from raybench.stats.ranks import Floats, kendall, order


@pytest.mark.parametrize("models", [4, 5, 6, 8, 12])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.99])
def test_intervals_hold_the_correlation_of_a_normal_population(models: int, rho: float) -> None:
    rng = np.random.default_rng((models, int(100 * rho)))
    one, fresh = rng.standard_normal((2, 500, models))
    taus = np.round(kendall(order(one), order(rho * one + math.sqrt(1 - rho**2) * fresh)), 9)
    by_tau = {tau: interval(np.array([tau]), models) for tau in np.unique(taus)}
    true = 2 / math.pi * math.asin(rho)
    held = sum(by_tau[tau][0] <= true <= by_tau[tau][1] for tau in taus)
    assert held >= 460  # 95 % of 500, less three times what chance takes


@pytest.mark.parametrize(("models", "size"), [(4, 0.01), (5, 0.01), (6, 0.3), (8, 0.01)])
def test_what_is_said_of_other_models_is_so(models: int, size: float) -> None:
    rng = np.random.default_rng(models)
    names = tuple("abcdefgh"[:models])
    held = 0
    for case in range(40):
        rho = (0.0, 0.6, 0.9, 1.0)[case % 4]
        one, fresh = rng.standard_normal((2, models))
        sides = one, rho * one + math.sqrt(1 - rho**2) * fresh
        scores: Floats = np.add(sides, size * rng.standard_normal((2, models)))
        seen = [Joint("m", names, scores[at], size**2 * np.eye(models)) for at in (0, 1)]
        found = between(*seen, seed=case, count=200).others.ci95
        assert found is not None
        held += found[0] <= 2 / math.pi * math.asin(rho) <= found[1]
    assert held >= 35


@pytest.mark.parametrize("models", range(4, 9))
def test_of_few_models_the_same_order_is_no_proof_that_others_have_it(models: int) -> None:
    values = np.arange(models, dtype=np.float64)
    exact = Joint("m", tuple("abcdefgh"[:models]), values, 1e-6 * np.eye(models))
    others = between(exact, exact).others
    low, high = others.ci95 or (1, 1)
    assert low < 0.6 and high == 1
    assert others.stderr is None  # that of models drawn anew is 0
