"""Who ranks differently by more than noise explains."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raybench.stats.disagreement import shifts
from raybench.stats.joint import Joint


def noisy(values: NDArray[Any], size: float = 1.0) -> Joint:
    names = tuple("abcdefghijkl"[: len(values)])
    return Joint("m", names, np.round(values, 9), size**2 * np.eye(len(values)))


def test_who_moved_far_is_named_with_both_ranks() -> None:
    one, other = np.arange(8.0) * 10, np.arange(8.0) * 10
    other[0] = 100.0
    first, *rest = shifts({"x": noisy(one), "y": noisy(other)})
    assert (first.model, first.higher, first.lower) == ("a", "y", "x")
    assert first.ranks == (1.0, 8.0) and first.among == 8 and first.places.value == 7
    assert first.holds and not any(it.model == "a" for it in rest)


def test_close_models_do_not_differ() -> None:
    one, other = np.array([0.0, 0.1, 0.2, 0.3]), np.array([0.3, 0.2, 0.1, 0.0])
    assert not any(it.holds for it in shifts({"x": noisy(one), "y": noisy(other)}))


def test_each_model_is_named_once_by_its_surest_shift() -> None:
    ways = {"x": np.arange(5.0) * 9, "y": np.arange(5.0) * 9, "z": -np.arange(5.0) * 9}
    found = shifts({name: noisy(values) for name, values in ways.items()})
    assert sorted(it.model for it in found) == [*"abcde"]
    assert {it.higher for it in found if it.model == "a"} == {"z"}


def test_models_that_only_one_way_has_are_left_out() -> None:
    short = Joint("m", ("b", "c"), np.array([5.0, 1.0]), np.eye(2))
    found = shifts({"x": noisy(np.array([9.0, 1.0, 5.0])), "y": short})
    assert {it.model for it in found} == {"b", "c"} and {it.among for it in found} == {2}


def test_ranks_without_an_error_differ_surely_or_not_at_all() -> None:
    one, other = noisy(np.array([1.0, 2.0, 3.0]), 0.0), noisy(np.array([2.0, 1.0, 3.0]), 0.0)
    found = {it.model: it.p for it in shifts({"x": one, "y": other})}
    assert found == {"a": 0.0, "b": 0.0, "c": 1.0}


@pytest.mark.parametrize(("models", "spread", "ways"), [(3, 1.0, 4), (12, 0.4, 4), (12, 2.0, 2)])
def test_where_all_measure_the_same_hardly_anybody_is_named(
    models: int, spread: float, ways: int
) -> None:
    rng = np.random.default_rng(models)
    named = 0
    for case in range(60):
        true = spread * rng.standard_normal(models)
        rankings = {str(way): noisy(true + rng.standard_normal(models)) for way in range(ways)}
        named += any(it.holds for it in shifts(rankings, seed=case, count=300))
    assert named <= 6
