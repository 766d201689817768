import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statements import code

from raybench.stats import intervals, repeats
from raybench.stats.asked import Asked
from raybench.stats.repeats import Spread

WORKED = Asked.of([(2, 2), (1, 2), (0, 2), (1, 2)])

pairs = st.integers(1, 6).flatmap(lambda times: st.tuples(st.integers(0, times), st.just(times)))
questions = st.lists(pairs, min_size=1, max_size=25)


# --------------------------------------------------------------------------------- worked by hand


def test_accuracy_over_averaged_repeats() -> None:
    # Scores 1, 1/2, 0, 1/2: mean 1/2, s² = 1/6, SE² = 1/24. Design effect 4·(1/24)/(1/4) = 2/3,
    # effective number 4²/(3·2/3 + 1) = 16/3; Wilson there with t(0.975; 3) = 3.182446.
    found = repeats.accuracy(WORKED)
    assert found.value == 0.5
    assert found.stderr == pytest.approx(math.sqrt(1 / 24))
    assert found.ci95 == pytest.approx((0.095323, 0.904677), abs=1e-6)
    assert found.n == 4


def test_questions_asked_once_are_a_share_with_wilsons_interval() -> None:
    found = repeats.accuracy(Asked.of([(1, 1)] * 15 + [(0, 1)] * 133))
    low, high = stats.binomtest(15, 148).proportion_ci(method="wilson")
    assert found.ci95 == pytest.approx((low, high))
    assert found.n == 148


def test_rerun_noise() -> None:
    # p(1−p)/(K−1) is 0, 1/4, 0, 1/4: √(1/2)/4.
    found = repeats.rerun_noise(WORKED)
    assert found.value == pytest.approx(math.sqrt(0.5) / 4)
    assert (found.stderr, found.ci95, found.n) == (None, None, 4)
    assert "no interval" in found.method


def test_rerun_noise_of_one_repeat_is_refused() -> None:
    found = repeats.rerun_noise(Asked.of([(1, 1), (0, 1)]))
    assert found.value is None
    assert code(found.method) == "refused.asked_once"
    assert code(repeats.rerun_noise(Asked.of([])).method) == "refused.empty"


def test_the_variance_splits_into_questions_and_replies() -> None:
    # p(1−p)·K/(K−1) is 0, 1/2, 0, 1/2: replies 1/4², half of it with two repeats; 1/24 in all.
    spread = Spread.of(WORKED)
    assert (spread.replies, spread.now) == pytest.approx((1 / 16, 1 / 32))
    assert spread.questions == pytest.approx(1 / 24 - 1 / 32)
    assert spread.bounded == ()


def test_what_more_repeats_would_reach() -> None:
    spread = Spread.of(WORKED)
    # 1.959964·√(1/32); with 25 repeats √(1/16/25) = 1/20.
    assert spread.half_width() == pytest.approx(0.346476, abs=1e-6)
    assert spread.half_width(25) == pytest.approx(1.959964 / 20, abs=1e-6)
    # (1/16)·(1.959964/0.1)² = 24.009
    assert spread.repeats_for(0.1) == 25
    assert spread.repeats_for(0.9) == 1
    # The draw of four questions leaves 1.959964·√(1/96) = 0.20004 however often they are asked.
    assert spread.half_width(math.inf, over="questions") == pytest.approx(0.200038, abs=1e-6)
    assert spread.repeats_for(0.2, over="questions") is None
    # (1/16)/((0.3/1.959964)² − 1/96) = 4.80
    assert spread.repeats_for(0.3, over="questions") == 5


def test_the_noise_of_one_repeat_is_bounded_and_said_to_be() -> None:
    spread = Spread.of(Asked.of([(1, 1)] * 50 + [(0, 1)] * 50), name="mmlu_pro")
    assert spread.bounded == ("mmlu_pro",)
    assert spread.now == spread.replies == pytest.approx(0.25 / 100)
    # 0 of 100: p may be as high as Wilson's bound z²/(100 + z²) = 0.0369935.
    bound = Spread.of(Asked.of([(0, 1)] * 100)).replies
    assert bound == pytest.approx(0.0369935 * 0.9630065 / 100, abs=1e-8)


def test_the_bound_for_languages_asked_once_is_that_of_their_mean() -> None:
    half = [(1, 1)] * 5 + [(0, 1)] * 5
    # Each language's own at most (1/4)/10; of the mean of two, (1/4)·2/40. The languages agree on
    # every question, so that SE² = (1/4)/9 leaves (1/36 − 1/80) to the questions.
    spread = Spread.of(Asked.of(half, half))
    assert spread.now == pytest.approx(1 / 80)
    assert spread.questions == pytest.approx(1 / 36 - 1 / 80)
    assert Spread.of(Asked.of(half, half, [(0, 0)] * 10)) == spread


def test_of_a_single_question_the_draw_is_taken_for_the_most_it_can_be() -> None:
    # p(1−p) = 0.24, of which 0.24/9 came from ten replies.
    assert Spread.of(Asked.of([(4, 10)])).questions == pytest.approx(0.24 - 0.24 / 9)


@pytest.mark.parametrize("right", [0, 10])
def test_replies_that_all_agree_leave_their_noise_bounded(right: int) -> None:
    # 50 replies leave a share of 0.0714 at most, by Wilson; 5 questions one of 0.4345.
    spread = Spread.of(Asked.of([(right, 10)] * 5), name="aime_2024")
    assert spread.bounded == ("aime_2024",)
    assert spread.now == pytest.approx(0.0714 * 0.9286 / 50, rel=0.01)
    assert spread.replies == pytest.approx(10 * spread.now)
    assert spread.questions + spread.now == pytest.approx(0.4345 * 0.5655 / 5, rel=0.01)


def test_spreads_of_an_index_add_by_squared_weights() -> None:
    parts = {"a": Spread(0.01, 0.04, 0.02), "b": Spread(0.03, 0.08, 0.08, ("b",))}
    found = Spread.combined(parts, {"a": Fraction(1, 4), "b": Fraction(3, 4)})
    assert (found.questions, found.replies, found.now) == pytest.approx(
        (0.28 / 16, 0.76 / 16, 0.74 / 16)
    )
    assert found.bounded == ("b",)


def test_a_question_left_with_one_reply_is_taken_for_an_average_one() -> None:
    # The noise of one reply is 1/2 and 0 where it shows, so 1/4 where it does not.
    spread = Spread.of(Asked.of([(1, 2), (2, 2), (1, 1)]))
    assert spread.replies == pytest.approx((0.5 + 0 + 0.25) / 9)
    assert spread.now == pytest.approx((0.25 + 0 + 0.25) / 9)


# -------------------------------------------------------------------------------------- the edges


def test_nothing_asked_is_refused() -> None:
    for nothing in (Asked.of([]), Asked.of([(0, 0)]), Asked.of([(0, 0)], [(0, 0)])):
        assert code(repeats.accuracy(nothing).method) == "refused.empty"


@pytest.mark.parametrize("right", [0, 1])
def test_all_wrong_or_all_right_counts_questions_not_replies(right: int) -> None:
    often = repeats.accuracy(Asked.of([(10 * right, 10)] * 30))
    once = repeats.accuracy(Asked.of([(right, 1)] * 30))
    assert often.value == right
    assert often.ci95 == pytest.approx(once.ci95)


def test_one_question_asked_often_says_little_about_others() -> None:
    found = repeats.accuracy(Asked.of([(4, 10)]))
    assert (found.value, found.stderr, found.n) == (0.4, None, 1)
    # As wide as for a single answer: z²/(1 + z²) = 0.7935 of the way.
    assert found.ci95 is not None
    assert found.ci95[1] - found.ci95[0] > 0.79


def test_scores_that_agree_by_chance_count_as_no_more_than_their_replies() -> None:
    found = repeats.accuracy(Asked.of([(1, 2)] * 40))
    # Wilson for 40 of 80 with t(0.975; 39) = 2.022691: ½ ± t/(2√(80 + t²))
    assert found.ci95 == pytest.approx((0.389713, 0.610287), abs=1e-6)


def test_parts_without_questions_are_left_out() -> None:
    one = repeats.accuracy(Asked.of([(1, 1), (0, 1)], [(0, 0), (0, 0)]))
    assert one == repeats.accuracy(Asked.of([(1, 1), (0, 1)]))


@pytest.mark.parametrize(
    ("right", "times", "sources"),
    [
        ([[2]], [[1]], None),
        ([[-1]], [[1]], None),
        ([[1, 1]], [[1]], None),
        ([[1]], [[1]], [0, 1]),
    ],
)
def test_tables_that_cannot_be_are_refused(
    right: list[list[int]], times: list[list[int]], sources: list[int] | None
) -> None:
    with pytest.raises(ValueError, match=r"."):
        Asked(np.array(right), np.array(times), None if sources is None else np.array(sources))


# ------------------------------------------------------------------------------------- properties


@given(questions)
def test_the_value_is_the_mean_of_the_questions_means(asked: list[tuple[int, int]]) -> None:
    found = repeats.accuracy(Asked.of(asked))
    assert found.value == pytest.approx(sum(right / times for right, times in asked) / len(asked))
    assert found.value is not None
    assert found.ci95 is not None
    assert 0 <= found.ci95[0] <= found.value <= found.ci95[1] <= 1
    assert found.ci95[0] < found.ci95[1]


@given(questions, st.integers(2, 5))
def test_asking_again_with_the_same_replies_changes_neither_value_nor_error(
    asked: list[tuple[int, int]], factor: int
) -> None:
    once = repeats.accuracy(Asked.of([(right, times) for right, times in asked]))
    again = repeats.accuracy(Asked.of([(right * factor, times * factor) for right, times in asked]))
    assert again.value == pytest.approx(once.value)
    if any(times > 1 for _, times in asked):
        assert again.stderr == pytest.approx(once.stderr)


@given(questions, st.randoms(use_true_random=False))
def test_the_order_of_questions_does_not_matter(
    asked: list[tuple[int, int]], random: Random
) -> None:
    one, other = Asked.of(asked), Asked.of(random.sample(asked, len(asked)))
    assert repeats.accuracy(other).value == repeats.accuracy(one).value
    assert repeats.accuracy(other).ci95 == pytest.approx(repeats.accuracy(one).ci95)
    assert Spread.of(other).now == pytest.approx(Spread.of(one).now)


@given(questions)
def test_wrong_answers_mirror_right_ones(asked: list[tuple[int, int]]) -> None:
    low, high = repeats.accuracy(Asked.of(asked)).ci95 or (math.nan, math.nan)
    wrong = Asked.of([(times - right, times) for right, times in asked])
    assert repeats.accuracy(wrong).ci95 == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(questions, st.floats(0.001, 0.5))
def test_the_repeats_named_reach_the_width_and_one_fewer_does_not(
    asked: list[tuple[int, int]], target: float
) -> None:
    spread = Spread.of(Asked.of(asked))
    for over in ("re-runs", "questions"):
        needed = spread.repeats_for(target, over=over)
        if needed is None:
            assert spread.half_width(math.inf, over=over) >= target * (1 - 1e-9)
            continue
        assert spread.half_width(needed, over=over) <= target * (1 + 1e-9)
        if needed > 1:
            assert spread.half_width(needed - 1, over=over) >= target * (1 - 1e-9)


# ---------------------------------------------------------------------------------------- coverage


def drawn(seed: int, n: int, times: int, p: float, alike: float, runs: int = 1500) -> list[Asked]:
    """Runs over questions whose own p are drawn from a beta distribution with mean p."""
    generator = np.random.default_rng(seed)
    own = generator.beta(p * alike, (1 - p) * alike, size=(runs, n))
    right = generator.binomial(times, own)
    return [Asked(row[None], np.full((1, n), times)) for row in right]


@pytest.mark.parametrize(
    ("n", "times", "p", "alike"),
    [
        (30, 10, 0.5, 0.5),  # AIME: questions that are hard or easy
        (30, 10, 0.1, 0.1),
        (198, 5, 0.3, 2.0),  # GPQA
        (198, 5, 0.02, 2.0),
        (198, 5, 0.95, 0.1),
        (500, 3, 0.7, 0.5),  # MATH-500
        (500, 1, 0.9, 0.5),
    ],
)
def test_intervals_cover_the_truth_about_as_often_as_they_say(
    n: int, times: int, p: float, alike: float
) -> None:
    found = [repeats.accuracy(asked).ci95 or (1, 0) for asked in drawn(1, n, times, p, alike)]
    assert 0.92 < np.mean([low <= p <= high for low, high in found]) < 0.98


def test_where_few_questions_are_ever_solved_the_interval_still_covers() -> None:
    """Student's own interval around the mean, cut at 0, would cover 42 % here."""
    runs = drawn(2, 30, 3, 0.02, 0.1)
    found = [repeats.accuracy(asked).ci95 or (1, 0) for asked in runs]
    assert np.mean([low <= 0.02 <= high for low, high in found]) > 0.92


def test_intervals_over_parallel_languages_cover_and_plain_ones_do_not() -> None:
    generator = np.random.default_rng(3)
    own = generator.beta(0.6, 0.4, size=(1000, 100))  # a question is as hard in every language
    right = generator.binomial(1, np.repeat(own[:, None], 8, axis=1))
    once = np.ones((8, 100), dtype=np.int64)
    found = [repeats.accuracy(Asked(table, once)).ci95 or (1, 0) for table in right]
    plain = [intervals.share(int(t.sum()), 800, over="replies").ci95 or (1, 0) for t in right]
    assert 0.92 < np.mean([low <= 0.6 <= high for low, high in found]) < 0.98
    assert np.mean([low <= 0.6 <= high for low, high in plain]) < 0.75


def test_intervals_over_shared_sources_cover() -> None:
    generator = np.random.default_rng(4)
    own = generator.beta(0.3, 0.7, size=(1000, 60))
    right = generator.binomial(2, np.repeat(own, 4, axis=1))
    times, sources = np.full((1, 240), 2), np.repeat(np.arange(60), 4)
    found = [repeats.accuracy(Asked(row[None], times, sources)).ci95 or (1, 0) for row in right]
    assert 0.92 < np.mean([low <= 0.3 <= high for low, high in found]) < 0.98


def test_over_reruns_the_interval_covers_what_endless_repeats_would_give() -> None:
    generator = np.random.default_rng(5)
    own = generator.beta(0.5, 0.5, size=100)
    runs = generator.binomial(4, own, size=(2000, 100))
    tables = [Asked(row[None], np.full((1, 100), 4)) for row in runs]
    half_widths = [Spread.of(table).half_width() for table in tables]
    covered = np.abs(runs.mean(axis=1) / 4 - own.mean()) <= half_widths
    assert 0.92 < covered.mean() < 0.98
    # The noise itself is right on average, now and as predicted for other repeats.
    truth = (own * (1 - own)).sum() / 100**2
    assert np.mean([Spread.of(table).now for table in tables]) == pytest.approx(truth / 4, rel=0.02)
    predicted = np.mean([Spread.of(table).half_width(16) for table in tables])
    sixteen = generator.binomial(16, own, size=(20000, 100)).mean(axis=1) / 16
    assert predicted == pytest.approx(1.959964 * sixteen.std(), rel=0.03)


def test_the_bound_for_one_repeat_is_no_less_than_the_noise() -> None:
    generator = np.random.default_rng(6)
    for p, alike in ((0.5, 0.2), (0.1, 2.0), (0.9, 50.0)):
        own = generator.beta(p * alike, (1 - p) * alike, size=300)
        truth = (own * (1 - own)).sum() / 300**2
        runs = generator.binomial(1, own, size=(300, 300))
        bounds = [Spread.of(Asked(row[None], np.ones_like(row[None]))).now for row in runs]
        assert np.mean(np.array(bounds) >= truth) > 0.95


@given(st.permutations(range(40)))
def test_the_order_in_which_questions_came_changes_not_one_bit(order: list[int]) -> None:
    rng = Random(0)
    questions = [(rng.randint(0, 3), 3) for _ in order]
    shuffled = [questions[place] for place in order]
    assert repeats.accuracy(Asked.of(shuffled)) == repeats.accuracy(Asked.of(questions))
    assert repeats.rerun_noise(Asked.of(shuffled)) == repeats.rerun_noise(Asked.of(questions))
    assert Spread.of(Asked.of(shuffled)) == Spread.of(Asked.of(questions))
