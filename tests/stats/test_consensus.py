"""One order out of several: by example, by brute force, and by simulation."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from raybench.stats import consensus as module
from raybench.stats.consensus import consensus
from raybench.stats.joint import Joint


def exact(**scores: float) -> Joint:
    """Return scores without an error."""
    values = np.array([*scores.values()], dtype=np.float64)
    return Joint("m", tuple(scores), values, np.zeros((len(values), len(values))))


USUAL = exact(a=3, b=2, c=1)


def noisy(values: NDArray[Any], size: float = 1.0) -> Joint:
    names = tuple(f"{at:02}" for at in range(len(values)))
    return Joint("m", names, np.round(values, 9), size**2 * np.eye(len(values)))


def test_three_orders_that_agree_on_most() -> None:
    found = consensus(
        {"x": exact(a=3, b=2, c=1), "y": exact(a=3, b=1, c=2), "z": exact(a=3, b=2, c=1)}
    )
    assert [(it.model, it.rank) for it in found.places] == [("a", 1), ("b", 2), ("c", 3)]
    scores = [it.score.value for it in found.places]
    assert scores == pytest.approx([1.0, (2 / 3) / 2, (1 / 3) / 2])
    assert found.kemeny == ("a", "b", "c") and found.unsettled == 0


def test_equals_share_a_rank() -> None:
    found = consensus({"x": exact(a=2, b=1, c=0), "y": exact(a=1, b=2, c=0)})
    assert [(it.model, it.rank) for it in found.places] == [("a", 1), ("b", 1), ("c", 3)]


def test_a_model_is_placed_by_what_it_has() -> None:
    found = consensus({"x": exact(a=3, b=2, c=1), "y": exact(a=2, b=1)})
    assert {it.model: it.rankings for it in found.places} == {
        "a": ("x", "y"), "b": ("x", "y"), "c": ("x",),
    }  # fmt: skip
    assert [it.model for it in found.places] == ["a", "b", "c"]


def test_scales_do_not_matter() -> None:
    one = consensus(
        {"x": exact(a=3, b=2, c=1), "y": exact(a=1, b=2, c=3), "z": exact(a=9, b=8, c=7)}
    )
    other = consensus({"x": exact(a=900, b=20, c=1), "y": exact(a=0.1, b=0.11, c=0.9), "z": USUAL})
    assert [it.score.value for it in one.places] == [it.score.value for it in other.places]


def test_nobody_has_no_order() -> None:
    assert consensus({}).places == ()
    (alone,) = consensus({"x": exact(a=1)}).places or (None,)
    assert alone is None or alone.score.value is None


@given(st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**32 - 1))
@examples(40)
def test_kemenys_order_is_the_best_of_all(models: int, ways: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = {
        str(way): noisy(rng.integers(0, 4, models).astype(float), 0.0) for way in range(ways)
    }
    found = consensus(rankings, count=2)
    signs = [np.sign(it.values[:, None] - it.values) for it in rankings.values()]

    def contradicted(order: tuple[int, ...]) -> float:
        return sum(
            float((1 - sign[i, j]) / 2)
            for sign in signs
            for place, i in enumerate(order)
            for j in order[place + 1 :]
        )

    best = min(contradicted(order) for order in permutations(range(models)))
    assert contradicted(tuple(map(int, found.kemeny))) == pytest.approx(best)


def test_of_many_models_kemenys_order_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_EXACT", 3)
    rankings = {str(way): noisy(np.arange(8.0), 0.0) for way in range(3)}
    found = consensus(rankings, count=2)
    assert not found.exact and found.kemeny == tuple(f"{at:02}" for at in reversed(range(8)))


@pytest.mark.parametrize(("models", "spread"), [(3, 0.3), (6, 0.0), (6, 1.0), (12, 2.0)])
def test_all_true_ranks_lie_in_their_intervals(models: int, spread: float) -> None:
    rng = np.random.default_rng(models)
    held = 0
    for case in range(60):
        true = [spread * rng.standard_normal(models) for _ in range(3)]
        rankings = {
            str(way): noisy(it + rng.standard_normal(models)) for way, it in enumerate(true)
        }
        signs = [np.sign(np.round(it[:, None] - it, 9)) for it in true]
        score = np.sum(signs, axis=0).sum(axis=1)
        places = consensus(rankings, seed=case, count=200).places
        held += all(
            it.between[0] <= models - int((score < score[int(it.model)] - 1e-9).sum())
            and it.between[1] >= 1 + int((score > score[int(it.model)] + 1e-9).sum())
            for it in places
        )
    assert held >= 54  # 95 % of 60 less what chance takes of it


@pytest.mark.parametrize(("models", "spread", "ways"), [(4, 1.0, 2), (8, 0.3, 4), (8, 4.0, 4)])
def test_scores_intervals_hold_the_share_that_a_model_truly_stands_above(
    models: int, spread: float, ways: int
) -> None:
    """Where all ways measure the same, noise draws every score to the middle in all of them."""
    rng = np.random.default_rng(models)
    held = cases = 0
    for case in range(30):
        true = spread * rng.standard_normal(models)
        rankings = {str(way): noisy(true + rng.standard_normal(models)) for way in range(ways)}
        for it in consensus(rankings, seed=case, count=20).places:
            assert it.score.value is not None and it.score.ci95 is not None
            low, high = it.score.ci95
            assert low <= it.score.value <= high
            held += low <= (true < true[int(it.model)]).sum() / (models - 1) <= high
            cases += 1
    assert held >= 0.93 * cases


def test_a_score_is_of_the_orders_as_they_are_and_reaches_where_open_pairs_allow() -> None:
    one, other = noisy(np.array([0.0, 0.1, 20.0])), noisy(np.array([0.0, 20.0, 40.0]))
    best, middle, _ = consensus({"x": one, "y": other}, count=20).places
    assert (best.score.value, best.score.ci95) == (1.0, (1.0, 1.0))
    assert (middle.score.value, middle.score.ci95) == (0.5, (0.25, 0.5))
