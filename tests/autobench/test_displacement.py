"""What a bias does to a ranking, worked out by hand."""

from collections.abc import Mapping

import pytest
from statements import code

from raybench.autobench import displacement
from raybench.autobench.biases import MODELS
from raybench.autobench.displacement import PLACES, POINTS, SAVED, SAY, TAU
from raybench.autobench.trials import Trial
from raybench.types import Estimate

TRUE = {name: 1 + place / 4 for place, name in enumerate(MODELS)}


def trial(
    consensus: Mapping[str, float | None] = TRUE,
    uniform: Mapping[str, float | None] | None = None,
    favoured: tuple[str, ...] = ("m01",),
    say: float | None = 1.0,
) -> Trial:
    scores = {"consensus": consensus, "uniform": consensus if uniform is None else uniform}
    return Trial(scores, say, favoured, tasks=5)


def test_places_points_and_order_are_as_counted_by_hand() -> None:
    # The weakest rises by four places with weights, by two without.
    biased = trial(TRUE | {"m01": 2.1}, TRUE | {"m01": 1.6})
    found = displacement.effects([(biased, trial())] * 3)
    assert found[PLACES].value == 4
    assert found[PLACES + "_uniform"].value == 2
    assert found[SAVED[PLACES]].value == -2
    assert found[POINTS].value == pytest.approx(1.1)
    assert found[SAVED[POINTS]].value == pytest.approx(-0.5)
    # Each passed pair is one of 66 that turns from agreeing to disagreeing.
    assert found[TAU].value == pytest.approx(2 * 4 / 66)
    assert found[SAVED[TAU]].value == pytest.approx(-2 * 2 / 66)
    assert found[SAY].value == 1


def test_intervals_are_over_seeds_and_pairs() -> None:
    fair = [trial(), trial(TRUE | {"m01": 1.3})]  # by chance a place up
    biased = [trial(TRUE | {"m01": 1.6}), trial(TRUE | {"m01": 2.1})]
    found = displacement.effects(zip(biased, fair, strict=True))[PLACES]
    assert (found.value, found.n) == (2.5, 2)  # 2 places and 3
    assert found.stderr == pytest.approx(0.5)
    assert found.ci95 == pytest.approx((2.5 - 12.706 * 0.5, 2.5 + 12.706 * 0.5), abs=0.001)


def test_from_a_perfect_order_nothing_can_be_gained() -> None:
    fair, swapped = trial(), trial(TRUE | {"m01": 1.3})
    found = displacement.effects([(fair, fair), (swapped, fair)])
    assert found[TAU].value == pytest.approx(1 / 66)
    low, _ = found[TAU].ci95 or (-1, 1)
    assert low == 0
    assert code(found[TAU].method) == "method.cut"
    # Of an order that was not perfect, something can.
    found = displacement.effects([(swapped, swapped), (fair, swapped)])
    assert found[TAU].value == pytest.approx(-1 / 66)
    low, _ = found[TAU].ci95 or (0, 0)
    assert low < -1 / 66


def test_noise_favours_nobody_and_that_is_said() -> None:
    found = displacement.effects([(trial(favoured=()), trial())] * 2)
    for name in (PLACES, PLACES + "_uniform", SAVED[PLACES], POINTS):
        assert found[name].value is None
        assert code(found[name].method) == "refused.nobody_favoured"
    assert found[TAU].value == 0


def test_a_pair_without_an_order_does_not_count() -> None:
    lacking = trial({**TRUE, "m05": None})
    found = displacement.effects([(trial(), trial()), (trial(), lacking), (lacking, trial())])
    assert found[TAU].n == 1
    none = displacement.effects([(lacking, trial())])
    assert all(it.value is None and it.method.startswith("not computed") for it in none.values())
    with pytest.raises(ValueError, match="m05"):
        lacking.tau("consensus")


def estimate(value: float, stderr: float) -> Estimate:
    half = 2.09 * stderr
    return Estimate(value, stderr, (value - half, value + half), 20, "t")


def test_the_verdict_needs_more_than_luck() -> None:
    def of(tau: Estimate, places: Estimate) -> dict[str, Estimate]:
        return {SAVED[TAU]: tau, SAVED[PLACES]: places}

    nothing, clear = estimate(0.1, 0.1), estimate(1.0, 0.1)
    refused = Estimate(None, None, None, 0, "not computed: noise favours nobody")
    # Alone it would be told from 0 (p = 0.02), among the others it is not.
    almost = estimate(0.25, 0.1)
    found = {
        "a": of(nothing, clear),
        "b": of(estimate(-1.0, 0.1), refused),
        "c": of(almost, nothing),
        "d": of(clear, estimate(-1.0, 0.1)),
        "e": of(Estimate(0.5, None, None, 20, "all equal"), nothing),
    }
    assert displacement.verdict(found) == {"help": ["a"], "hurt": ["b"], "open": ["c", "d", "e"]}
    assert displacement.verdict({"c": of(almost, refused)})["help"] == ["c"]
    # A test in which nothing varied is a test all the same: among two, 0.02 is not enough.
    equal, barely = Estimate(0.0, None, None, 20, "all equal"), estimate(0.23, 0.1)
    assert displacement.verdict({"c": of(barely, refused)})["help"] == ["c"]  # p = 0.03
    assert displacement.verdict({"c": of(barely, equal)})["open"] == ["c"]
