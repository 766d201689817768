"""McNemar's test, and what it can show."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from raybench.stats import mcnemar
from raybench.stats.mcnemar import Seen


def test_mcnemar_of_worked_numbers() -> None:
    # 2·(1 + 12 + 66)/2¹²
    assert mcnemar.chance(10, 2) == mcnemar.chance(2, 10) == pytest.approx(158 / 4096)
    assert mcnemar.chance(0, 0) == 1.0


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_binomial_test_of_one_half(first: int, second: int) -> None:
    if first + second:
        peer = stats.binomtest(first, first + second, 0.5).pvalue
        assert mcnemar.chance(first, second) == pytest.approx(peer)


def real_power(better: float, worse: float, n: int, level: float) -> float:
    """Return the power by summing up every outcome: so many differ, and so many of them for it."""
    found, rate = 0.0, better + worse
    for differ in range(n + 1):
        often = stats.binom.pmf(differ, n, rate)
        if often > 1e-12:
            against = np.arange(differ // 2 + 1)
            shown = 2 * stats.binom.cdf(against, differ, 0.5) < level
            of = stats.binom.pmf(against, differ, worse / rate)
            found += often * of[shown].sum()
    return float(found)


SEEN = [(1, 0, 100), (0, 1, 30), (1, 1, 100), (2, 1, 30), (3, 2, 198), (5, 5, 198), (9, 0, 9),
        (17, 3, 100), (10, 8, 500), (20, 15, 1000), (60, 60, 198)]  # fmt: skip


@pytest.mark.parametrize("tests", [1, 8])
@pytest.mark.parametrize(("gained", "lost", "n"), SEEN)
def test_what_would_show_does_in_four_of_five(gained: int, lost: int, n: int, tests: int) -> None:
    level = 0.05 / tests
    found = Seen(gained, lost, n).detectable(level, 0.8)

    def shown(difference: float) -> float:
        # As many differ as here, or as many speak against it, whichever makes it harder to show.
        fewer = min(gained, lost) / n
        rate = min(1.0, max((gained + lost) / n, difference + 2 * fewer))
        return real_power((rate + difference) / 2, (rate - difference) / 2, n, level)

    assert shown(found) == pytest.approx(0.8, abs=1e-3)
    assert shown(0.9 * found) < 0.78
    # Nothing shows from fewer questions than the test can ever go by.
    least = next(it for it in range(99) if 2 * 0.5**it < level)
    assert found * n > least - 1


@pytest.mark.parametrize("target", [0.02, 0.1])
@pytest.mark.parametrize(("gained", "lost", "n"), [(1, 0, 100), (2, 1, 30), (5, 5, 198)])
def test_so_many_questions_show_a_difference(gained: int, lost: int, n: int, target: float) -> None:
    many = Seen(gained, lost, n).needed(target, 0.05, 0.8)
    assert many is not None
    fewer = min(gained, lost) / n
    rate = max((gained + lost) / n, target + 2 * fewer)
    shares = (rate + target) / 2, (rate - target) / 2
    assert real_power(*shares, many, 0.05) == pytest.approx(0.8, abs=0.01)
    assert real_power(*shares, many * 9 // 10, 0.05) < 0.79


def test_too_few_questions_show_nothing() -> None:
    assert Seen(2, 1, 5).detectable(0.05, 0.8) == 6 / 5
    assert Seen(2, 1, 6).detectable(0.05, 0.8) <= 1
    assert Seen(1, 1, 10).needed(1e-6, 0.05, 0.8) is None


def test_of_many_that_differ_power_is_that_of_the_normal_distribution() -> None:
    for better, worse in ((0.5, 0.45), (0.06, 0.045), (0.3, 0.28)):
        n = int(1001 / (better + worse))
        exact = mcnemar.power(better, worse, n - 9, 0.05)
        assert mcnemar.power(better, worse, n + 9, 0.05) == pytest.approx(exact, abs=0.01)


def test_a_model_made_so_much_better_shows_in_four_of_five() -> None:
    """Of questions of every difficulty, on which chance has a part in either model's replies."""
    generator = np.random.default_rng(3)
    n, shown = 150, []
    for _ in range(400):
        own = generator.random(n)
        first, second = generator.random((2, n)) < own
        seen = Seen(int((second & ~first).sum()), int((first & ~second).sum()), n)
        # Improved in this share of questions to the better of two draws: 1/6 more on the average.
        share = min(1.0, 6 * seen.detectable(0.05, 0.8))
        better = np.where(generator.random(n) < share, np.maximum(own, generator.random(n)), own)
        after = generator.random(n) < better
        p = mcnemar.chance(int((after & ~first).sum()), int((first & ~after).sum()))
        shown.append(p < 0.05)
    assert np.mean(shown) > 0.78
