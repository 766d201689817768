"""One bin is a share: its interval is known. Draws are those that one would make by hand."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from raybench.stats.gaps import Gaps
from raybench.stats.intervals import wilson


def one_bin(stated: float, hits: int, n: int, *, draws: int = 4000) -> Gaps:
    return Gaps.resampled(
        np.full(n, stated),
        np.array([1.0] * hits + [0.0] * (n - hits)),
        np.arange(n),
        np.array([0, n]),
        bins=1,
        draws=draws,
        generator=np.random.default_rng(8),
    )


@pytest.mark.parametrize(("hits", "n"), [(8, 150), (30, 120), (75, 150)])
def test_a_single_bins_interval_is_near_wilsons(hits: int, n: int) -> None:
    low, high = one_bin(0.95, hits, n).interval()
    fewest, most = wilson(hits / n, n)
    assert (low, high) == pytest.approx((0.95 - most, 0.95 - fewest), abs=0.008)


@pytest.mark.parametrize(("items", "questions"), [(300, 300), (350, 350), (400, 80), (333, 100)])
def test_every_draw_is_the_items_of_drawn_questions_cut_into_bins(
    items: int, questions: int
) -> None:
    draws, generator = 100, np.random.default_rng(1)
    confidence = np.sort(generator.random(items))
    correct = (generator.random(items) < confidence).astype(float)
    numbers = np.arange(items) % questions
    edges = np.append(np.arange(items // 100) * 100, items)
    found = Gaps.resampled(
        confidence, correct, numbers, edges,
        bins=len(edges) - 1, draws=draws, generator=np.random.default_rng(2),
    )  # fmt: skip
    again, stated = np.random.default_rng(2), []
    for _ in range(draws):
        drawn = again.integers(questions, size=questions)
        said = [
            confidence[item]
            for item in range(items)
            for _ in range(int(np.sum(drawn == numbers[item])))
        ]
        # A bin that ends within an item has its part of it: as if there were `items` of each.
        parts = np.split(np.repeat(said, items), edges[1:-1] * len(said))
        stated.append([part.mean() for part in parts])
    noise = np.array(stated) - np.mean(stated, axis=0)
    each = np.array([len(np.unique(it)) for it in np.split(numbers, edges[1:-1])])
    assert found.stated_noise == pytest.approx(noise * np.sqrt(each / (each - 1)), abs=1e-9)


def test_what_chance_adds_is_the_variance_of_the_share() -> None:
    # s²/n = .25·.75/119.
    assert one_bin(0.25, 30, 120).chance() == pytest.approx(0.25 * 0.75 / 119, rel=0.1)


@examples(30)
@given(st.floats(0, 1), st.integers(0, 100))
def test_the_interval_holds_what_is_possible(stated: float, hits: int) -> None:
    gaps = one_bin(stated, hits, 100, draws=100)
    low, high = gaps.interval()
    assert 0 <= low <= high <= max(stated, 1 - stated) + 1e-9
    assert high > 0


def test_fewer_draws_show_as_much_the_larger_the_error_is() -> None:
    gaps = one_bin(0.9, 30, 120)
    errors, shares = zip(
        *(
            (error, np.mean(shown <= gaps.squares))
            for error, shown in map(gaps.draws, (0.5, 0.6, 0.65, 0.7, 0.8))
        ),
        strict=True,
    )
    assert errors == pytest.approx((0.5, 0.6, 0.65, 0.7, 0.8))
    assert list(shares) == sorted(shares, reverse=True)
    assert shares[0] > 0.99
    assert shares[-1] < 0.01
