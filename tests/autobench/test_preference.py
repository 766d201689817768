from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from statements import code, values

from raybench.autobench.preference import NO_CONTESTANT, Peers, Preference, preference
from raybench.autobench.ratings import Given
from raybench.autobench.sources import OWN
from raybench.types import Estimate

OVER = "own answers by iteration"
NAN = float("nan")


def block(ratings: Any, judges: str = "", contestants: str = "") -> Given:
    held = np.array(ratings, dtype=float)
    names = "abcdefghijkl"
    return Given(
        tuple(judges or names[: held.shape[1]]),
        tuple(contestants or names[: held.shape[2]]),
        held,
        np.full(held.shape[:2], 1 / held.shape[1]),
        OWN,
    )


def found(ratings: Given, groups: Any = None) -> list[Preference]:
    of = np.arange(len(ratings.ratings)) if groups is None else np.array(groups)
    peers = Peers.of(ratings)
    return [preference(i, ratings, peers, of, over=OVER) for i in range(len(ratings.judges))]


def world(
    judges: int,
    iterations: int,
    *,
    seed: Sequence[int],
    best: float = 4.4,
    worst: float = 2.0,
    taste: float = 0.0,
    own: float = 0.0,
) -> Given:
    """Make judges that all contest, the first the weakest and least careful.

    Each adds a taste of its own for every model, and `own` for itself.
    """
    rng = np.random.default_rng(seed)
    likes = taste * rng.normal(size=(judges, judges)) + own * np.eye(judges)
    severity = rng.permutation(np.linspace(-0.4, 0.4, judges))[:, None]
    quality = np.linspace(worst, best, judges) + 0.6 * rng.normal(size=(iterations, 1))
    quality = quality + 0.8 * rng.normal(size=(iterations, judges))
    heard = rng.normal(size=(iterations, judges, judges)) * np.linspace(1, 0.4, judges)[:, None]
    return block(np.clip(np.rint(quality[:, None] + heard + severity + likes), 1, 5))


# -------------------------------------------------------------------------------- known answers


def test_a_preference_is_what_lies_above_the_judges_own_line() -> None:
    # The peers agree with one another; a gives everybody half of what they give, and itself 2 more.
    true = np.array([[2.0, 2, 3, 4, 5], [4, 5, 4, 3, 2]])
    ratings = np.repeat(true[:, None], 5, axis=1)
    ratings[:, 0] = 0.5 * true + 1
    ratings[:, 0, 0] += 2
    a, b, *_ = found(block(ratings))
    assert a.over_tasks.value == pytest.approx(2.0)
    assert (a.over_tasks.n, a.over_tasks.ci95) == (2, None)
    assert a.told is None
    # The others have a among their peers, whose halves make theirs uncertain.
    assert b.over_tasks.value is not None


def test_how_certain_the_peers_are_is_what_they_differ_by() -> None:
    rng = np.random.default_rng(0)
    ratings = rng.integers(1, 6, (30, 4, 4)).astype(float)
    ratings[rng.random(ratings.shape) < 0.1] = NAN
    held = Peers.of(block(ratings))
    said, errors = held.without(1)
    # Of the answers of d: a, c and d's peers less b, so a and c, once their severity is out.
    foreign = np.where(np.eye(4, dtype=bool), NAN, ratings)
    apart = foreign - np.nanmean(foreign, axis=1, keepdims=True)
    levelled = foreign - np.nanmean(apart, axis=(0, 2))[:, None]
    of = levelled[:, [0, 2], 3]
    both = ~np.isnan(of).any(axis=1)
    assert said[both, 3] == pytest.approx(of[both].mean(axis=1))
    assert errors[both, 3] == pytest.approx(of[both].var(axis=1, ddof=1) / 2)
    assert np.isnan(errors[~both, 3]).all()
    assert not both.all()


def test_severity_is_no_uncertainty() -> None:
    true = np.random.default_rng(1).uniform(1, 5, (20, 1, 5))
    severity = np.array([-1, 0, 0.5, 1, 2])[:, None]
    for i in range(5):
        _, errors = Peers.of(block(true + severity)).without(i)
        off = np.delete(errors, i, axis=1)
        # But for what each is compared with: others, without itself.
        assert np.nanmax(off) < 0.02


@pytest.mark.parametrize("judges", ["ab", "abc", "axy"])
def test_with_fewer_than_four_judges_it_is_refused(judges: str) -> None:
    ratings = np.random.default_rng(2).integers(1, 6, (20, len(judges), 3))
    of = found(block(ratings, judges=judges))[0]
    for estimate in (of.over_tasks, of.among_leanings):
        assert estimate.value is None
        assert code(estimate.method) == "refused.few_peers"
    assert of.told is None


def test_where_no_two_peers_rated_an_answer_it_is_refused() -> None:
    ratings = world(4, 20, seed=[0]).ratings.copy()
    ratings[:, 2:] = NAN
    of = found(block(ratings))[0]
    assert of.over_tasks.value is None
    assert code(of.over_tasks.method) == "refused.no_line"


def test_outsiders_and_judges_without_a_say_on_themselves() -> None:
    ratings = world(5, 20, seed=[0]).ratings.copy()
    ratings[:, 1, 1] = NAN
    *_, e = found(block(ratings, judges="abcdx"))
    assert e.over_tasks == NO_CONTESTANT
    b = found(block(ratings))[1]
    assert values(b.among_leanings.method) == {"over": OVER}


def test_groups_are_what_repeats() -> None:
    held = world(6, 30, seed=[1])
    twice = block(np.repeat(held.ratings, 2, axis=0))
    once, again = found(held)[2], found(twice, np.repeat(np.arange(30), 2))[2]
    assert again.over_tasks.stderr == pytest.approx(once.over_tasks.stderr, rel=0.05)
    assert again.over_tasks.value == pytest.approx(once.over_tasks.value)


@pytest.mark.parametrize(
    ("over_tasks", "among_leanings", "told"),
    [
        ((0.1, 0.5), (0.2, 0.4), True),
        ((0.1, 0.5), (-0.2, 0.8), False),
        ((-0.1, 0.7), (0.2, 0.4), False),
        ((-0.5, -0.1), (-0.5, -0.1), False),
        ((0.1, 0.5), None, None),
        (None, (0.1, 0.5), None),
    ],
)
def test_it_is_told_where_both_intervals_lie_above_nothing(
    over_tasks: Any, among_leanings: Any, told: bool | None
) -> None:
    both = (Estimate(0.3, None, ci95, 9, "x") for ci95 in (over_tasks, among_leanings))
    assert Preference(*both).told is told


# -------------------------------------------------------------------------------- in the long run


def _worlds(judges: int, iterations: int, runs: int, **planted: float) -> list[list[Preference]]:
    return [
        found(world(judges, iterations, seed=[run, judges, iterations], **planted))
        for run in range(runs)
    ]


def _told(of: list[Preference]) -> float:
    return float(np.mean([it.told is True for it in of]))


def _over_tasks(of: list[Preference]) -> float:
    return float(np.mean([bool(it.over_tasks.ci95 and it.over_tasks.ci95[0] > 0) for it in of]))


@pytest.mark.parametrize(("judges", "iterations"), [(4, 60), (5, 60), (5, 200), (8, 200)])
def test_the_best_of_judges_that_prefer_nobody_is_not_said_to(judges: int, iterations: int) -> None:
    """By a line that takes the peers for certain it is, over tasks, in 40 to 80 of 100 runs.

    What is left is the scale's end, which cuts the ratings of lenient judges off more than others'.
    """
    played = _worlds(judges, iterations, 60)
    values = np.array([[it.over_tasks.value for it in of] for of in played], dtype=float)
    assert np.abs(values.mean(axis=0)).max() < 0.08
    assert _over_tasks([of[-1] for of in played]) <= 0.2
    assert _told([of[-1] for of in played]) <= 0.1
    every = [it for of in played for it in of]
    assert _told(every) <= 0.03
    ci95s = [it.over_tasks.ci95 for it in every]
    assert np.mean([ci95 is not None and ci95[0] <= 0 <= ci95[1] for ci95 in ci95s]) >= 0.85


def test_a_taste_for_any_model_is_not_told_as_self_preference() -> None:
    every = [it for of in _worlds(12, 200, 30, worst=2.8, best=3.8, taste=0.3) for it in of]
    # Its own is as often among those a judge likes as any other.
    assert _over_tasks(every) > 0.2
    assert _told(every) < 0.04


def test_a_preference_beyond_tastes_is_told() -> None:
    every = [it for of in _worlds(12, 60, 20, worst=2.8, best=3.8, taste=0.2, own=1) for it in of]
    assert _told(every) > 0.85
    values = [it.over_tasks.value for it in every]
    # The scale's ends take a part.
    assert 0.7 < float(np.mean(np.array(values, dtype=float))) < 1
