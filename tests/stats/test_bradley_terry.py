"""The maximum itself: against solvers of another kind, against print, and by what has to hold."""

import math
from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pools import round_robin
from refusals import Refusal, refused
from scipy import optimize
from statements import the

from raybench.stats import bradley_terry
from raybench.stats.bradley_terry import Game
from raybench.stats.ratings.outcome import Ratings
from raybench.stats.ratings.scale import SPREAD

# Agresti, Categorical Data Analysis, 2nd edition (2002), table 10.10: the seven teams of the
# American League's Eastern Division in 1987. Each at home against each other, in this order: won
# and lost.
BASEBALL = {
    "Milwaukee": [(4, 3), (4, 2), (4, 3), (6, 1), (4, 2), (6, 0)],
    "Detroit": [(3, 3), (4, 2), (4, 3), (6, 0), (6, 1), (4, 3)],
    "Toronto": [(2, 5), (4, 3), (2, 4), (4, 3), (4, 2), (6, 0)],
    "New York": [(3, 3), (5, 1), (2, 5), (4, 3), (4, 2), (6, 1)],
    "Boston": [(5, 1), (2, 5), (3, 3), (4, 2), (5, 2), (6, 0)],
    "Cleveland": [(2, 5), (3, 3), (3, 4), (4, 3), (4, 2), (2, 4)],
    "Baltimore": [(2, 5), (1, 5), (1, 6), (2, 4), (1, 6), (3, 4)],
}


def baseball() -> list[Game]:
    games: list[Game] = []
    for home, records in BASEBALL.items():
        away = [team for team in BASEBALL if team != home]
        for visitor, (won, lost) in zip(away, records, strict=True):
            games += [(home, visitor, 1.0)] * won + [(home, visitor, 0.0)] * lost
    return games


def strengths(ratings: Ratings) -> dict[str, float]:
    """Return what was fitted, in natural logarithms."""
    values = {name: it.value for name, it in ratings.table.items()}
    return {name: (value - 1000) / SPREAD for name, value in values.items() if value is not None}


def solved(games: Sequence[Game], *, first_mover: bool = True) -> NDArray[np.float64]:
    """Climb the log-likelihood match by match: strengths in the order of names, then γ."""
    called = sorted({name for game in games for name in game[:2]})
    one = np.array([called.index(name) for name, _, _ in games])
    other = np.array([called.index(name) for _, name, _ in games])
    score = np.array([game[2] for game in games])

    def fallen(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        edge = at[one] - at[other] + at[-1] * first_mover
        p = 1 / (1 + np.exp(-edge))
        slope = np.zeros_like(at)
        np.add.at(slope, one, score - p)
        np.add.at(slope, other, p - score)
        slope[-1] = (score - p).sum() * first_mover
        height = score * -np.logaddexp(0, -edge) + (1 - score) * -np.logaddexp(0, edge)
        return -float(height.sum()), -slope

    found = optimize.minimize(
        fallen, np.zeros(len(called) + 1), jac=True, method="BFGS", options={"gtol": 1e-9}
    ).x
    found[:-1] -= found[:-1].mean()
    return np.asarray(found)


def test_baseball_as_printed_without_home_advantage() -> None:
    found = strengths(bradley_terry.fit(baseball(), bootstrap=0, first_mover=False))
    above = {team: value - found["Baltimore"] for team, value in found.items()}
    printed = [1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.00]  # Table 10.11, column 3
    assert above == pytest.approx(dict(zip(BASEBALL, printed, strict=True)), abs=0.005)


def test_baseball_as_printed_with_home_advantage() -> None:
    ratings = bradley_terry.fit(baseball(), bootstrap=0)
    worth = {team: math.exp(value) for team, value in strengths(ratings).items()}
    total = sum(worth.values())
    printed = [0.220, 0.190, 0.164, 0.157, 0.137, 0.088, 0.044]  # Table 10.11, column 5
    shares = {team: value / total for team, value in worth.items()}
    assert shares == pytest.approx(dict(zip(BASEBALL, printed, strict=True)), abs=0.0005)
    advantage = ratings.first_mover[""]
    assert advantage.value is not None
    assert advantage.value / SPREAD == pytest.approx(0.302, abs=0.0005)


@examples(25)
@given(
    st.integers(2, 7), st.integers(1, 6), st.integers(0, 2**32 - 1), st.floats(0, 1), st.booleans()
)
def test_an_independent_solver_agrees(
    models: int, rounds: int, seed: int, ties: float, first_mover: bool
) -> None:
    rng = np.random.default_rng(seed)
    games = round_robin(rng.normal(size=models).tolist(), rounds, rng, first=0.3, ties=ties)
    games = [games[it] for it in rng.choice(len(games), math.ceil(0.8 * len(games)))]
    # Neighbours have won and lost against each other from both sides: there is one maximum.
    for one, other in pairwise(f"m{place:02}" for place in range(models)):
        games += [(one, other, 1.0), (one, other, 0.0), (other, one, 1.0), (other, one, 0.0)]
    ratings = bradley_terry.fit(games, bootstrap=0, first_mover=first_mover)
    assert len(ratings.components) == 1 and bool(ratings.roles) == first_mover
    found = strengths(ratings)
    expected = solved(games, first_mover=first_mover)
    assert [found[name] for name in sorted(found)] == pytest.approx(expected[:-1], abs=1e-6)
    if first_mover:
        assert ratings.strengths[-1] == pytest.approx(expected[-1], abs=1e-6)


def test_strengths_far_apart_are_found() -> None:
    # Each beats the next 99 times in 100, so that the best is 92 natural logarithms above the last.
    games: list[Game] = []
    for above in range(20):
        games += [(f"m{above:02}", f"m{above + 1:02}", 1.0)] * 99
        games += [(f"m{above:02}", f"m{above + 1:02}", 0.0)]
    found = strengths(bradley_terry.fit(games, bootstrap=0, first_mover=False))
    assert found["m00"] - found["m20"] == pytest.approx(20 * math.log(99), abs=1e-6)


def test_a_pair_has_the_odds_of_its_score() -> None:
    games: list[Game] = [("a", "b", 1.0)] * 6 + [("a", "b", 0.5)] * 2 + [("a", "b", 0.0)]
    found = strengths(bradley_terry.fit(games, bootstrap=0, first_mover=False))
    assert found["a"] - found["b"] == pytest.approx(math.log(7 / 2), abs=1e-9)


def pools() -> st.SearchStrategy[list[Game]]:
    model = st.sampled_from("abcd")
    score = st.sampled_from([0.0, 0.5, 1.0])
    return st.lists(st.tuples(model, model, score), min_size=1, max_size=40)


@examples(20)
@given(pools(), st.randoms())
def test_the_order_of_matches_does_not_matter(games: list[Game], random: object) -> None:
    before = bradley_terry.fit(games, bootstrap=0)
    shuffled = list(games)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    after = bradley_terry.fit(shuffled, bootstrap=0)
    assert before.components == after.components
    assert strengths(before) == pytest.approx(strengths(after), abs=1e-8)


@examples(20)
@given(pools(), st.permutations("abcd"))
def test_names_are_only_names(games: list[Game], called: list[str]) -> None:
    other = dict(zip("abcd", called, strict=True))
    before = bradley_terry.fit(games, bootstrap=0)
    after = bradley_terry.fit([(other[a], other[b], score) for a, b, score in games], bootstrap=0)
    renamed = {other[name]: value for name, value in strengths(before).items()}
    assert renamed == pytest.approx(strengths(after), abs=1e-8)
    assert {frozenset(map(other.get, part)) for part in before.components} == {
        frozenset(part) for part in after.components
    }


@examples(20)
@given(pools())
def test_lost_for_won_turns_the_ratings_round(games: list[Game]) -> None:
    before = bradley_terry.fit(games, bootstrap=0)
    after = bradley_terry.fit([(a, b, 1 - score) for a, b, score in games], bootstrap=0)
    mirrored = {name: -value for name, value in strengths(before).items()}
    assert mirrored == pytest.approx(strengths(after), abs=1e-8)
    assert before.roles == after.roles
    assert before.strengths[4:] == pytest.approx(-after.strengths[4:], abs=1e-8)


@examples(20)
@given(pools())
def test_the_same_matches_again_change_nothing_but_the_errors(games: list[Game]) -> None:
    once, thrice = (bradley_terry.fit(games * times, bootstrap=0) for times in (1, 3))
    assert strengths(once) == pytest.approx(strengths(thrice), abs=1e-8)
    for name, estimate in once.table.items():
        again = thrice.table[name]
        assert again.n == 3 * estimate.n
        if estimate.stderr and again.stderr:
            assert again.stderr < estimate.stderr


@examples(20)
@given(pools(), st.sampled_from(list(permutations("abcd", 2))))
def test_a_tie_pulls_two_models_together(games: list[Game], pair: tuple[str, str]) -> None:
    one, other = pair
    games = [*games, (one, other, 1.0), (other, one, 1.0)]  # so that both are in one component
    apart = bradley_terry.fit(games, bootstrap=0, first_mover=False).difference(one, other).value
    tied = bradley_terry.fit([*games, (one, other, 0.5)], bootstrap=0, first_mover=False)
    after = tied.difference(one, other).value
    assert apart is not None
    assert after is not None
    assert abs(after) <= abs(apart) + 1e-6
    assert abs(apart) < 1e-6 or abs(after) < abs(apart)


def test_a_model_that_meets_itself_tells_only_what_moving_first_is_worth() -> None:
    mirror: list[Game] = [("Boston", "Boston", 1.0)] * 300 + [("Boston", "Boston", 0.0)] * 100
    ratings = bradley_terry.fit(baseball() + mirror, bootstrap=0)
    advantage = ratings.first_mover[""].value
    assert advantage is not None
    assert 0.6 < advantage / SPREAD < math.log(3)
    assert bradley_terry.fit([("a", "a", 1.0)]).table["a"].value is None


def test_matches_may_come_as_a_journal_has_them() -> None:
    games = baseball()
    listed = [list(game) for game in games]
    assert bradley_terry.fit(iter(games)).table == bradley_terry.fit(listed).table  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("games", "settings", "said"),
    [
        ([], {}, ("ratings.invalid", None)),
        ([("a", "b", 0.7)], {}, ("ratings.invalid", None)),
        ([("a", "b", math.nan)], {}, ("ratings.invalid", None)),
        ([("a", "b", 1)], {"clusters": [1, 2]}, ("ratings.invalid", "clusters")),
        ([("a", "b", 1)], {"bootstrap": -1}, ("ratings.invalid", "replicates")),
        ([("a", "b", 1)], {"prior": 0.0}, ("ratings.invalid", "prior")),
    ],
)
def test_what_cannot_be_fitted_is_said(
    games: list[Game], settings: dict[str, object], said: Refusal
) -> None:
    with refused(*said):
        bradley_terry.fit(games, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "games",
    [
        [("a", "b", 0.0), ("a", "c", 0.5), ("d", "a", 0.0), ("d", "a", 0.5)],
        [("a", "b", 0.0), ("a", "c", 0.5), ("d", "a", 0.5)],
        [("a", "b", 1.0), ("a", "b", 0.0)],
    ],
)
def test_what_moving_first_is_worth_is_left_out_where_any_number_would_do(
    games: list[Game],
) -> None:
    found = bradley_terry.fit(games, bootstrap=0)
    assert not found.roles and the("ratings.roles_left_out", found.notes)["games"] == [""]
    plain = bradley_terry.fit(games, bootstrap=0, first_mover=False)
    assert strengths(found) == pytest.approx(strengths(plain), abs=1e-8)
