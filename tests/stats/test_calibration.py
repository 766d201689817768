"""Calibration against a plain transcription of what HLE's code does, by hand, and by coverage."""

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monte_carlo import least_share
from numpy.typing import NDArray
from statements import code, values

from raybench.stats import calibration
from raybench.stats.calibration import Bins

Numbers = NDArray[np.float64]

percents = st.integers(0, 100).map(lambda percent: percent / 100)
answers = st.lists(st.tuples(percents, st.booleans()), min_size=1, max_size=40)


def naive(confidence: Sequence[float], correct: Sequence[float], size: int, bins: str) -> float:
    """Sort, cut, and add up, one item at a time."""
    order = sorted(range(len(confidence)), key=lambda i: confidence[i])  # stable
    whole = len(order) // size
    groups: list[list[int]] = [[] for _ in range(whole)]
    for place, item in enumerate(order):
        groups[min(place // size, whole - 1)].append(item)
    if bins == "official":
        groups.pop()
    total = 0.0
    for group in groups:
        stated = sum(confidence[i] for i in group) / len(group)
        came = sum(correct[i] for i in group) / len(group)
        total += len(group) / len(order) * (stated - came) ** 2
    return math.sqrt(total)


def truth(stated: Numbers, true: Numbers, bins: str) -> float:
    """Return the error of a model of which it is known how likely each answer is right."""
    return naive(list(stated), list(true), 100, bins)


# --------------------------------------------------------------------------------- worked by hand


def test_the_last_bin_takes_the_remainder_and_is_left_out() -> None:
    # Bins .1 .3 and .5 .7 .9: means .2 and .7 against 1/2 and 2/3.
    stated, right = [0.9, 0.1, 0.5, 0.3, 0.7], [1, 0, 0, 1, 1]
    assert calibration.rms_error(stated, right, bin_size=2) == pytest.approx(
        math.sqrt(2 / 5 * 0.3**2)
    )
    assert calibration.rms_error(stated, right, bin_size=2, bins="all") == pytest.approx(
        math.sqrt(2 / 5 * 0.3**2 + 3 / 5 * (1 / 30) ** 2)
    )


def test_ties_keep_the_order_in_which_they_came() -> None:
    assert calibration.rms_error([0.5] * 4, [1, 1, 0, 0], bin_size=2) == math.sqrt(2 / 4 * 0.5**2)
    assert calibration.rms_error([0.5] * 4, [1, 0, 1, 0], bin_size=2) == 0


def test_confidence_that_was_not_stated_counts_as_1_and_sorts_to_the_end() -> None:
    # The caller puts 1.0 where none was stated: 150 of those fill half of the last bin and more.
    stated = [0.4] * 150 + [1.0] * 150
    wrong = [0] * 300
    # Bins of .4; half .4 half 1; 1.
    squares = [0.4**2, 0.7**2, 1.0]
    assert calibration.rms_error(stated, wrong) == pytest.approx(math.sqrt(sum(squares[:2]) / 3))
    assert calibration.rms_error(stated, wrong, bins="all") == pytest.approx(
        math.sqrt(sum(squares) / 3)
    )


@pytest.mark.parametrize(
    ("n", "official", "every"),
    [
        (100, 0.0, 0.9),
        (150, 0.0, 0.9),
        (199, 0.0, 0.9),
        (200, math.sqrt(100 / 200) * 0.9, 0.9),
        (299, math.sqrt(100 / 299) * 0.9, 0.9),
        (300, math.sqrt(200 / 300) * 0.9, 0.9),
    ],
)
def test_how_many_bins_count(n: int, official: float, every: float) -> None:
    assert calibration.rms_error([0.9] * n, [0] * n) == pytest.approx(official)
    assert calibration.rms_error([0.9] * n, [0] * n, bins="all") == pytest.approx(every)


@pytest.mark.parametrize(
    ("stated", "right", "others", "says"),
    [
        ([0.5] * 99, [1] * 99, {}, "99 items do not fill one bin of 100"),
        ([], [], {}, "0 items do not fill"),
        ([0.5] * 100, [1] * 99, {}, "100 confidences, 99 verdicts"),
        ([math.nan] * 100, [1] * 100, {}, "between 0 and 1"),
        ([90.0] * 100, [1] * 100, {}, "between 0 and 1"),
        ([-0.1] * 100, [1] * 100, {}, "between 0 and 1"),
        ([0.5] * 100, [0.5] * 100, {}, "right, 1, or not, 0"),
        ([0.5] * 100, [math.nan] * 100, {}, "right, 1, or not, 0"),
        ([0.5] * 100, [1] * 100, {"bin_size": 0}, "at least one item"),
        ([0.5] * 100, [1] * 100, {"bins": "none"}, "'official' or 'all', not 'none'"),
    ],
)
def test_what_is_no_calibration_is_told(
    stated: list[float], right: list[float], others: dict[str, Any], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        calibration.rms_error(stated, right, **others)


# ------------------------------------------------------------------------------------ properties


@given(answers, st.integers(1, 12), st.sampled_from(["official", "all"]))
def test_it_is_the_plain_transcription(
    items: list[tuple[float, bool]], size: int, bins: Bins
) -> None:
    stated, right = [item[0] for item in items], [item[1] for item in items]
    if len(items) < size:
        with pytest.raises(ValueError, match=f"{len(items)} items"):
            calibration.rms_error(stated, right, bin_size=size, bins=bins)
        return
    found = calibration.rms_error(stated, right, bin_size=size, bins=bins)
    assert found == pytest.approx(naive(stated, right, size, bins), abs=1e-12)
    assert 0 <= found <= 1
    assert found <= calibration.rms_error(stated, right, bin_size=size, bins="all")


@given(st.lists(st.integers(0, 10), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_it_is_0_where_every_bin_is_right_as_often_as_stated(
    rights: list[int], random: Random
) -> None:
    stated, right = [], []
    for hits in sorted(rights):
        stated += [hits / 10] * 10
        right += random.sample([1] * hits + [0] * (10 - hits), 10)
    found = calibration.rms_error(stated, right, bin_size=10, bins="all")
    assert found == pytest.approx(0, abs=1e-12)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), unique_by=lambda item: item[0], min_size=5),
    st.randoms(use_true_random=False),
)
def test_order_does_not_matter_where_confidences_differ(
    items: list[tuple[float, bool]], random: Random
) -> None:
    def error(some: list[tuple[float, bool]]) -> float:
        return calibration.rms_error([s for s, _ in some], [r for _, r in some], bin_size=3)

    assert error(random.sample(items, len(items))) == error(items)


# ------------------------------------------------------------------------------------- estimates


def overconfident(n: int, seed: int = 0) -> tuple[Numbers, Numbers]:
    generator = np.random.default_rng(seed)
    stated = generator.uniform(0.5, 1, n)
    return stated, (generator.random(n) < 0.1).astype(float)


@pytest.mark.parametrize("make", [calibration.estimate, calibration.without_chance])
def test_too_few_items_are_refused(make: Callable[..., Any]) -> None:
    few = make([0.5] * 99, [1] * 99)
    assert (few.value, few.stderr, few.ci95, few.n) == (None, None, None, 99)
    assert code(few.method) == "refused.less_than_a_bin"
    for n in (100, 199):
        one_bin = make([0.5] * n, [1] * n)
        assert one_bin.value is None
        assert code(one_bin.method) == "refused.one_bin"
        assert make([0.5] * n, [1] * n, bins="all").value is not None
    assert make([0.5] * 200, [1] * 200).value is not None
    same = make([0.5] * 200, [1] * 200, [7] * 200)
    assert code(same.method) == "refused.one_question"


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"questions": [1]}, "the questions of 1"),
        ({"draws": 1}, "too few"),
        ({"bins": "none"}, "'official' or 'all'"),
    ],
)
def test_what_is_no_estimate_is_told(others: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        calibration.estimate([0.5] * 200, [1] * 200, **others)


@pytest.mark.parametrize("bins", ["official", "all"])
def test_the_value_is_the_error_inside_its_interval(bins: Bins) -> None:
    stated, right = overconfident(450)
    found = calibration.estimate(stated.tolist(), right.tolist(), bins=bins, draws=200)
    assert found.value == calibration.rms_error(stated.tolist(), right.tolist(), bins=bins)
    assert found.ci95 is not None
    assert found.stderr is not None
    assert found.ci95[0] < found.value < found.ci95[1]
    # Of all 450: √(.1·.9 + .5²/12)/√450 = 0.0157; of two bins of four, somewhat more or less.
    assert 0.01 < found.stderr < 0.025
    assert found.ci95[1] - found.ci95[0] == pytest.approx(4 * found.stderr, rel=0.2)
    assert found.n == 450


def test_order_seed_and_names_of_questions() -> None:
    stated, right = overconfident(300)
    made = calibration.estimate(stated.tolist(), right.tolist(), draws=100)
    shuffled = np.random.default_rng(1).permutation(300)
    again = calibration.estimate(stated[shuffled].tolist(), right[shuffled].tolist(), draws=100)
    assert again == made
    named = calibration.estimate(stated.tolist(), right.tolist(), range(1000, 1300), draws=100)
    assert named == made
    other = calibration.estimate(stated.tolist(), right.tolist(), draws=100, seed=1)
    assert other.value == made.value
    assert other.ci95 != made.ci95


def test_repeats_of_a_question_are_no_new_questions() -> None:
    stated, right = overconfident(300)
    five, rights = np.repeat(stated, 5).tolist(), np.repeat(right, 5).tolist()
    once = calibration.estimate(stated.tolist(), right.tolist(), bins="all")
    repeated = calibration.estimate(five, rights, np.repeat(np.arange(300), 5).tolist(), bins="all")
    taken_for_new = calibration.estimate(five, rights, bins="all")
    assert once.stderr and repeated.stderr and taken_for_new.stderr
    assert repeated.stderr == pytest.approx(once.stderr, rel=0.1)
    assert taken_for_new.stderr == pytest.approx(once.stderr / math.sqrt(5), rel=0.15)


@pytest.mark.parametrize(("stated", "answer"), [(0.9, 0), (1.0, 1), (0.0, 0)])
def test_answers_that_are_all_alike_leave_an_interval(stated: float, answer: int) -> None:
    found = calibration.estimate([stated] * 300, [answer] * 300, bins="all")
    assert found.value == pytest.approx(abs(stated - answer))
    assert found.ci95 is not None
    # By the rule of three, 1 in 100 may be otherwise.
    assert 0.005 < found.ci95[1] - found.ci95[0] < 0.03


def test_of_a_calibrated_model_chance_makes_the_value() -> None:
    generator = np.random.default_rng(3)
    stated = generator.choice([0.3, 0.5, 0.7], size=2500)
    outside = 0
    for seed in range(12):
        right = generator.random(2500) < stated
        found = calibration.estimate(stated.tolist(), right.tolist(), draws=100, seed=seed)
        less = calibration.without_chance(stated.tolist(), right.tolist(), draws=100, seed=seed)
        assert found.value is not None and found.ci95 is not None
        assert less.value is not None and less.ci95 is not None
        assert less.ci95[0] <= less.value <= less.ci95[1]
        assert found.ci95[0] <= found.value <= found.ci95[1]
        assert less.value < found.value
        assert less.ci95[0] == found.ci95[0] == 0
        assert found.ci95[1] == max(found.value, less.ci95[1])
        if found.value > less.ci95[1]:
            outside += 1
            drawn_out = values(found.method)
            assert (drawn_out["low"], drawn_out["high"]) == less.ci95
    assert outside


def test_what_chance_makes() -> None:
    # p(1−p)/100 in every bin: .3·.7 and .8·.2; the second is the last.
    stated = [0.3] * 100 + [0.8] * 100
    assert calibration.chance(stated, bins="all") == pytest.approx(
        math.sqrt((0.21 + 0.16) / 2 / 100)
    )
    assert calibration.chance(stated) == pytest.approx(math.sqrt(0.21 / 2 / 100))
    assert calibration.chance([1.0] * 250, bins="all") == 0
    generator = np.random.default_rng(5)
    mixed = generator.uniform(0, 1, 350)
    squares = [
        calibration.rms_error(mixed.tolist(), (generator.random(350) < mixed).tolist()) ** 2
        for _ in range(800)
    ]
    assert calibration.chance(mixed.tolist()) == pytest.approx(np.sqrt(np.mean(squares)), rel=0.08)


# --------------------------------------------------------------------------------------- coverage

LEVELS = np.array([0.7, 0.8, 0.9, 0.95, 1.0])
RUNS, SHORT_RUNS = 200, 30


def tied(generator: np.random.Generator, n: int) -> Numbers:
    return generator.choice(LEVELS, size=n, p=[0.1, 0.2, 0.3, 0.25, 0.15])


def continuous(generator: np.random.Generator, n: int) -> Numbers:
    return generator.uniform(0.3, 1, n)


Draw = Callable[[np.random.Generator, int], Numbers]
TRUE: dict[str, Callable[[Numbers], Numbers]] = {
    "always 5 %": lambda stated: np.full_like(stated, 0.05),
    "15 points too sure": lambda stated: stated - 0.15,
    "calibrated": lambda stated: stated,
}


def coverage(draw: Draw, true: Callable[[Numbers], Numbers], runs: int) -> float:
    """Return how often intervals hold the truth, by the bins for which they do so least."""
    generator = np.random.default_rng(42)
    held = dict.fromkeys(("official", "all"), 0)
    for seed in range(runs):
        stated = draw(generator, 300)
        right = generator.random(300) < true(stated)
        for bins in ("official", "all"):
            ci95 = calibration.without_chance(
                stated.tolist(), right.tolist(), bins=bins, draws=200, seed=seed
            ).ci95
            assert ci95 is not None
            held[bins] += ci95[0] - 1e-9 <= truth(stated, true(stated), bins) <= ci95[1] + 1e-9
    return min(held.values()) / runs


@pytest.mark.parametrize("draw", [tied, continuous])
@pytest.mark.parametrize("name", TRUE)
def test_intervals_cover_the_truth(draw: Draw, name: str) -> None:
    assert coverage(draw, TRUE[name], SHORT_RUNS) >= least_share(SHORT_RUNS)


@pytest.mark.long(short="tests/stats/test_calibration.py::test_intervals_cover_the_truth")
@pytest.mark.parametrize("draw", [tied, continuous])
@pytest.mark.parametrize("name", TRUE)
def test_intervals_cover_the_truth_as_often_as_they_say(draw: Draw, name: str) -> None:
    # Two and a quarter standard errors of 200 runs below 95 %. A percentile bootstrap holds the
    # truth of a calibrated model never.
    least = 0.95 if name == "calibrated" else 0.915
    assert coverage(draw, TRUE[name], RUNS) >= least


def coverage_of_repeats(runs: int) -> float:
    """Return how often intervals hold the truth where questions are asked again."""
    generator = np.random.default_rng(43)
    numbers = np.repeat(np.arange(80), 5)
    held = 0
    for seed in range(runs):
        # A question is easy or hard in all its repeats: right 40 % over all, always stated 60 %.
        easy = np.repeat(generator.beta(0.4, 0.6, size=80), 5)
        right = generator.random(400) < easy
        ci95 = calibration.without_chance(
            [0.6] * 400, right.tolist(), numbers.tolist(), bins="all", draws=200, seed=seed
        ).ci95
        assert ci95 is not None
        # Bins follow one another in the order given, and all of them have the same truth.
        held += ci95[0] <= 0.2 <= ci95[1]
    return held / runs


def test_intervals_cover_where_questions_are_asked_again() -> None:
    assert coverage_of_repeats(SHORT_RUNS) >= least_share(SHORT_RUNS)


@pytest.mark.long(
    short="tests/stats/test_calibration.py::test_intervals_cover_where_questions_are_asked_again"
)
def test_intervals_cover_as_often_as_they_say_where_questions_are_asked_again() -> None:
    assert coverage_of_repeats(RUNS) >= 0.915


def coverage_of_alike(share: float, bins: Bins, runs: int) -> float:
    """Return how often intervals hold the truth where all answers are alike.

    Then what was found moves with the confidences alone, which the truth is not drawn with.
    """

    def drawn(generator: np.random.Generator) -> Numbers:
        return np.clip(generator.normal(0.7, 0.1, 300).round(2), 0, 1)

    generator = np.random.default_rng(44)
    means = np.mean([np.sort(drawn(generator)).reshape(3, 100).mean(1) for _ in range(500)], axis=0)
    counted = means[:-1] if bins == "official" else means
    truth = math.sqrt(np.sum((counted - share) ** 2) / 3)
    held = 0
    for seed in range(runs):
        stated = drawn(generator)
        right = generator.random(300) < share
        ci95 = calibration.estimate(
            stated.tolist(), right.tolist(), bins=bins, draws=200, seed=seed
        ).ci95
        assert ci95 is not None
        assert ci95[1] - ci95[0] < 0.08
        held += ci95[0] <= truth <= ci95[1]
    return held / runs


@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("bins", ["official", "all"])
def test_intervals_cover_where_all_answers_are_alike(share: float, bins: Bins) -> None:
    assert coverage_of_alike(share, bins, SHORT_RUNS) >= least_share(SHORT_RUNS)


@pytest.mark.long(
    short="tests/stats/test_calibration.py::test_intervals_cover_where_all_answers_are_alike"
)
@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("bins", ["official", "all"])
def test_intervals_cover_as_often_as_they_say_where_all_answers_are_alike(
    share: float, bins: Bins
) -> None:
    assert coverage_of_alike(share, bins, RUNS) >= 0.915
