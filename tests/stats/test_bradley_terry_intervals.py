"""How sure it is: standard errors, replicates, orders and ranks, and whether intervals cover."""

import math
import re
from itertools import combinations

import numpy as np
import pytest
from monte_carlo import least_share
from pools import names, round_robin
from refusals import refused

from raybench.stats import bradley_terry
from raybench.stats.bradley_terry import Game
from raybench.stats.ratings.ranking import orders, ranks
from raybench.stats.ratings.scale import SPREAD

TRUE = (0.9, 0.3, 0.0, -0.4, -0.8)


def pool(rounds: int = 20, seed: int = 5, ties: float = 0.3) -> list[Game]:
    return round_robin(TRUE, rounds, np.random.default_rng(seed), first=0.3, ties=ties)


def test_the_sandwich_is_that_of_single_matches() -> None:
    games = pool()
    ratings = bradley_terry.fit(games, bootstrap=0)
    called = sorted(names(TRUE))
    rows = np.zeros((len(games), 6))
    for row, (one, other, _) in zip(rows, games, strict=True):
        row[[called.index(one), called.index(other), 5]] = 1, -1, 1
    p = 1 / (1 + np.exp(-rows @ ratings.strengths))
    bread = np.linalg.pinv(rows.T @ (rows * (p * (1 - p))[:, None]))
    pull = rows * (np.array([score for *_, score in games]) - p)[:, None]
    few = len(games) / (len(games) - 5)
    covariance = few * bread @ pull.T @ pull @ bread
    assert ratings.covariance == pytest.approx(covariance, abs=1e-9)
    assert ratings.degrees == len(games) - 5
    for a, b in combinations(range(5), 2):
        both = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
        difference = ratings.difference(called[a], called[b])
        assert difference.stderr == pytest.approx(SPREAD * math.sqrt(both))
    for place, name in enumerate(called):
        stderr = SPREAD * math.sqrt(ratings.covariance[place, place])
        assert ratings.table[name].stderr == pytest.approx(stderr)


def test_replicates_vary_as_the_sandwich_says() -> None:
    ratings = bradley_terry.fit(pool(rounds=100), bootstrap=4000)
    assert np.cov(ratings.draws.T) == pytest.approx(ratings.covariance, rel=0.15, abs=2e-4)


def test_ties_make_ratings_surer() -> None:
    plain, tied = (bradley_terry.fit(pool(100, ties=ties), bootstrap=0) for ties in (0.0, 0.8))
    for name in names(TRUE):
        assert (tied.table[name].stderr or 0) < 0.9 * (plain.table[name].stderr or 0)


def test_a_seed_is_a_result() -> None:
    one, same, other = (bradley_terry.fit(pool(), bootstrap=100, seed=it) for it in (1, 1, 2))
    assert one.table == same.table
    assert (one.draws == same.draws).all()
    assert (one.draws != other.draws).any()


def test_the_order_in_which_matches_end_changes_no_draw() -> None:
    games = pool()
    other = np.random.default_rng(0).permutation(len(games))
    one, shuffled = (
        bradley_terry.fit(it, bootstrap=100) for it in (games, [games[n] for n in other])
    )
    assert one.table == shuffled.table
    assert (one.draws == shuffled.draws).all()


def test_matches_that_are_all_alike_carry_no_interval() -> None:
    ratings = bradley_terry.fit([("a", "b", 0.5), ("b", "a", 0.5)] * 20)
    for estimate in ratings.table.values():
        assert estimate.value == pytest.approx(1000)
        assert estimate.ci95 is None
        assert estimate.stderr is None
        assert "all alike" in estimate.method
    assert ratings.chance("a", "b").ci95 is None
    assert [it.p for it in orders(ratings)] == [None]
    assert {it.simultaneous for it in ranks(ratings).values()} == {(1, 2)}
    assert [(it.value, it.replicates) for it in ranks(ratings).values()] == [(1, None)] * 2


def test_of_few_matches_no_rank_is_known() -> None:
    """Replicates of six draws all say that everybody is first: that is no certainty."""
    games = [(one, other, 0.5) for one in "abc" for other in "abc" if one != other]
    places = ranks(bradley_terry.fit(games))
    assert {(it.value, it.replicates, it.simultaneous) for it in places.values()} == {
        (1, None, (1, 3))
    }


def test_matches_that_repeat_each_other_are_no_more_than_one() -> None:
    games = pool(rounds=10)
    once = bradley_terry.fit(games, bootstrap=400)
    copied = bradley_terry.fit(
        games * 5, bootstrap=400, clusters=[it % len(games) for it in range(5 * len(games))]
    )
    naive = bradley_terry.fit(games * 5, bootstrap=400)
    for name, estimate in once.table.items():
        assert copied.table[name].stderr == pytest.approx(estimate.stderr)
        assert copied.table[name].n == 5 * estimate.n
        assert (naive.table[name].stderr or 0) < 0.5 * (estimate.stderr or 0)
        width = np.ptp(copied.table[name].ci95 or (0, 0))
        assert width == pytest.approx(np.ptp(estimate.ci95 or (0, 0)), rel=0.15)


def test_clusters_are_told_by_their_matches_alone() -> None:
    games = pool(rounds=4)
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 30, len(games)).tolist()
    order = rng.permutation(len(games))
    one = bradley_terry.fit(games, clusters=clusters, bootstrap=0)
    other = bradley_terry.fit(
        [games[it] for it in order], clusters=[f"c{clusters[it]}" for it in order], bootstrap=0
    )
    assert one.covariance == pytest.approx(other.covariance, abs=1e-12)
    assert one.degrees == len(set(clusters)) - 5


def test_too_few_matches_carry_no_interval() -> None:
    ratings = bradley_terry.fit([("a", "b", 0.5)])
    assert ratings.table["a"].value == pytest.approx(1000)
    assert ratings.table["a"].ci95 is None
    assert "no interval" in ratings.table["a"].method


def test_replicates_without_a_maximum_are_kept_and_counted() -> None:
    games: list[Game] = [("a", "b", 1.0), ("b", "a", 0.0)] * 10 + [("a", "b", 0.0)]
    ratings = bradley_terry.fit(games, bootstrap=1000, first_mover=False)
    # One loss in 21: so often none is drawn.
    expected = (1 - 1 / 21) ** 21
    found = {re.search(r"(\d+) of 1000", it.method) for it in ratings.table.values()}
    (lost,) = {int(it[1]) for it in found if it}
    assert lost == pytest.approx(1000 * expected, abs=60)
    assert np.isfinite(ratings.draws).all()
    # With one loss drawn it is odds of 20 at the most.
    assert len(ratings.draws) == 1000
    assert (ratings.draws[:, 0] > math.log(20) / 2 + 0.01).sum() == lost


def test_a_chance_is_what_the_strengths_say() -> None:
    ratings = bradley_terry.fit(pool(), bootstrap=500)
    for role, other, sign in (("", "", 0), ("first", "second", 1), ("second", "first", -1)):
        chance = ratings.chance("m00", "m03", role=role, against=other)
        back = ratings.chance("m03", "m00", role=other, against=role)
        edge = ratings.strengths[0] - ratings.strengths[3] + sign * ratings.strengths[5]
        assert chance.value == pytest.approx(1 / (1 + math.exp(-edge)))
        assert chance.value == pytest.approx(1 - (back.value or 0))
        assert chance.ci95 == pytest.approx([1 - end for end in reversed(back.ci95 or ())])
        assert chance.ci95 is not None
        assert 0 < chance.ci95[0] < (chance.value or 0) < chance.ci95[1] < 1
    self = ratings.chance("m00", "m00", role="first", against="second")
    assert self.value == pytest.approx(1 / (1 + math.exp(-ratings.strengths[5])))


def test_orders_and_ranks() -> None:
    ratings = bradley_terry.fit(pool(rounds=60), bootstrap=500)
    found = orders(ratings)
    assert len(found) == 10
    for order in found:
        assert (order.difference.value or 0) > 0
        assert order.p is not None
        assert order.holm is not None
        assert order.share is not None
        assert order.p <= order.holm <= 1
        assert order.share == pytest.approx(1 - order.p / 2, abs=0.05)
    places = ranks(ratings)
    assert [it.value for it in places.values()] == [1, 2, 3, 4, 5]
    for rank in places.values():
        assert rank.replicates is not None and rank.value is not None
        low, high = rank.simultaneous
        assert low <= rank.value <= high
        assert low <= rank.replicates[0] <= rank.value <= rank.replicates[1] <= high
    assert places["m00"].simultaneous == (1, 1)
    alike = bradley_terry.fit(round_robin([0] * 4, 5, np.random.default_rng(0)), bootstrap=200)
    assert {it.simultaneous for it in ranks(alike).values()} == {(1, 4)}


def test_an_order_holds_where_p_is_small_enough_for_the_number_of_pairs() -> None:
    ratings = bradley_terry.fit(pool(rounds=8), bootstrap=0)
    found = sorted(orders(ratings), key=lambda order: order.p or 0)
    least, holding = 0.0, []
    for place, order in enumerate(found):
        assert order.p is not None
        least = max(least, min(1.0, order.p * (len(found) - place)))
        assert order.holm == pytest.approx(least)
        if least < 0.05:
            holding.append(order)
    assert any((it.p or 0) < 0.05 < (it.holm or 0) for it in found), "p alone would say more"
    assert holding
    for name, rank in ranks(ratings).items():
        above = sum(it.worse == name for it in holding)
        below = sum(it.better == name for it in holding)
        assert rank.simultaneous == (1 + above, 5 - below)


def test_ranks_hold_95_of_100_replicates() -> None:
    ratings = bradley_terry.fit(pool(rounds=4), bootstrap=2000)
    wide = 0
    for name, rank in ranks(ratings).items():
        own = ratings.draws[:, ratings.models.index(name)]
        places = 1 + (ratings.draws[:, :5] > own[:, None]).sum(1)
        assert rank.replicates is not None
        low, high = rank.replicates
        for beyond, up_to in ((places < low, places <= low), (places > high, places >= high)):
            assert beyond.mean() <= 0.025 <= up_to.mean()
        wide += high - low > 1
    assert wide >= 2


def test_a_question_about_nobody_is_answered() -> None:
    ratings = bradley_terry.fit(pool(2), bootstrap=0)
    with refused("ratings.invalid"):
        ratings.chance("m02x", "m01")
    with refused("ratings.invalid"):
        ratings.chance("m00", "m01", role="first")


def coverage(pools: int, rounds: int, ties: float, replicates: int) -> dict[str, float]:
    """Return how often intervals hold the truth."""
    rng = np.random.default_rng(11)
    held: dict[str, list[bool]] = {"rating": [], "difference": [], "first": []}
    for seed in range(pools):
        true = rng.normal(scale=0.8, size=5)
        games = round_robin(true.tolist(), rounds, rng, first=0.3, ties=ties)
        ratings = bradley_terry.fit(games, bootstrap=replicates, seed=seed)
        if len(ratings.components) > 1:
            continue
        called = names(true.tolist())
        for place, name in enumerate(called):
            low, high = ratings.table[name].ci95 or (math.nan, math.nan)
            held["rating"].append(low <= 1000 + SPREAD * (true[place] - true.mean()) <= high)
        low, high = ratings.difference(called[0], called[1]).ci95 or (math.nan, math.nan)
        held["difference"].append(low <= SPREAD * (true[0] - true[1]) <= high)
        low, high = ratings.first_mover[""].ci95 or (math.nan, math.nan)
        held["first"].append(low <= SPREAD * 0.3 <= high)
    return {what: float(np.mean(them)) for what, them in held.items()}


def test_intervals_cover() -> None:
    found = coverage(pools=80, rounds=4, ties=0.3, replicates=200)
    assert all(share >= 0.9 for share in found.values()), found
    assert found["rating"] < 1


@pytest.mark.long(short="tests/stats/test_bradley_terry_intervals.py::test_intervals_cover")
@pytest.mark.parametrize(("rounds", "ties"), [(2, 0.3), (5, 0.0), (20, 0.5)])
def test_intervals_cover_as_often_as_they_say(rounds: int, ties: float) -> None:
    found = coverage(pools=250, rounds=rounds, ties=ties, replicates=400)
    # 250 pools tell a share of 0.95 to 0.014; the ratings of one pool go together.
    assert all(share >= 0.925 for share in found.values()), found
    assert found["rating"] <= 0.995


def coverage_of_clusters(pools: int) -> tuple[float, float]:
    """Return how often intervals hold the truth: those that know of the clusters, and others."""
    # The second match of two is mostly the first once more: as from one position, with one seed.
    rng = np.random.default_rng(12)
    held: dict[bool, list[bool]] = {True: [], False: []}
    for seed in range(pools):
        true = rng.normal(scale=0.8, size=5)
        firsts = round_robin(true.tolist(), 4, rng, first=0.3, ties=0.2)
        seconds = round_robin(true.tolist(), 4, rng, first=0.3, ties=0.2)
        again = [
            one if rng.random() < 0.8 else other for one, other in zip(firsts, seconds, strict=True)
        ]
        for clustered in held:
            ratings = bradley_terry.fit(
                firsts + again,
                bootstrap=200,
                seed=seed,
                clusters=[*range(len(firsts))] * 2 if clustered else None,
            )
            for place, name in enumerate(ratings.models if len(ratings.components) == 1 else ()):
                low, high = ratings.table[name].ci95 or (math.nan, math.nan)
                truth = 1000 + SPREAD * (true[place] - true.mean())
                held[clustered].append(low <= truth <= high)
    return float(np.mean(held[True])), float(np.mean(held[False]))


def test_intervals_of_clusters_cover_where_others_do_not() -> None:
    clustered, others = coverage_of_clusters(pools=40)
    assert clustered >= least_share(40 * 5)
    assert others < 0.91


@pytest.mark.long(
    short="tests/stats/test_bradley_terry_intervals.py"
    "::test_intervals_of_clusters_cover_where_others_do_not"
)
def test_intervals_of_clusters_cover_as_often_as_they_say() -> None:
    clustered, others = coverage_of_clusters(pools=150)
    assert clustered >= 0.93
    assert others < 0.91
