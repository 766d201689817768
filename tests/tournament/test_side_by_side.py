"""Tournaments of the same fixtures: groups of these, and what each adds to ratings."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values
from tournament.playing import models, play

from raybench.stats.ratings.outcome import Ratings
from raybench.stats.steadiness import spread
from raybench.tournament import pairing
from raybench.tournament.fixtures import Fixture, Result
from raybench.tournament.ratings import bare
from raybench.tournament.side_by_side import GROUPS, beside, dealt

GAMES = {"chess": 2, "dice": 2}
NAMES = models(4)
POINTS = 400 / np.log(10)


def fixtures(count: int, seed: int = 0) -> list[Fixture]:
    way = pairing.matchmaking("round_robin", NAMES, GAMES, seed=seed, size=count)
    return way.round(1, [], [])[:count]


def fit(results: Sequence[Result]) -> Ratings | None:
    return bare(results, [*GAMES], dict.fromkeys(GAMES, ("first", "second")))


def played(
    matches: Sequence[Fixture], moved: Mapping[str, float] = {}, seed: int = 0
) -> list[Result]:
    strengths = {name: 0.3 * at + moved.get(name, 0.0) for at, name in enumerate(NAMES)}
    return [play(it, strengths, seed) for it in matches]


@examples(20)
@given(st.integers(4, 200), st.integers(0, 50))
def test_matches_that_share_a_seed_share_a_group_and_groups_have_their_part_of_each_game(
    count: int, seed: int
) -> None:
    matches = fixtures(count, seed)
    of = {it: played([it])[0] for it in matches}
    found = dealt(matches, [of], seed)
    assert {*found} == {*matches}
    by_seed = {(it.game, it.seed): {found[o] for o in matches if o.seed == it.seed} for it in found}
    assert all(len(it) == 1 for it in by_seed.values())
    assert {*found.values()} == {*range(min(GROUPS, len(by_seed)))}
    for game in GAMES:
        seeds = Counter(found[it] for it in {i.seed: i for i in matches if i.game == game}.values())
        assert max(seeds.values()) - min(seeds.values(), default=0) <= 1


def test_matches_that_began_alike_and_went_on_alike_share_a_group() -> None:
    matches = fixtures(40)
    told = {
        it: Result(it, (1.0, -1.0), table="from the same opening" if at < 10 else "")
        for at, it in enumerate(matches)
    }
    plain = {it: Result(it, (1.0, -1.0)) for it in matches}
    found = dealt(matches, [plain, told], 0)
    assert len({found[it] for it in matches[:10]}) == 1


def test_only_fixtures_count_that_have_a_result_everywhere() -> None:
    matches = fixtures(96)
    one, other = played(matches, seed=1), played(matches, seed=2)
    found = beside([one[5:], other[:-7]], fit)
    assert found.fixtures == 84 and not found.refused
    again = beside([one[5:-7], other[5:-7]], fit)
    assert np.allclose(found.parts, again.parts)


def test_parts_come_to_the_ratings_and_to_0_over_the_models() -> None:
    matches = fixtures(400)
    found = beside([played(matches, seed=it) for it in range(2)], fit)
    assert found.models == tuple(NAMES) and found.groups == GROUPS
    whole = fit(played(matches, seed=0))
    assert whole is not None
    strengths = np.array([whole.table[it].value for it in NAMES], dtype=float) - 1000
    assert np.allclose(found.parts[:, 0].mean(axis=0), strengths, atol=4)
    assert np.allclose(found.parts.sum(axis=2), 0)


def test_too_few_seeds_are_refused() -> None:
    found = beside([played(fixtures(8))] * 2, fit)
    assert code(found.refused) == "beside.refused" and not found.models
    assert code(why := values(found.refused)["why"]) == "beside.few_groups"
    assert values(why)["least"] == 8


def test_who_was_never_beaten_somewhere_is_left_out_and_the_others_are_compared() -> None:
    matches = fixtures(200)
    ever = {NAMES[3]: 50.0}
    found = beside([played(matches, seed=1), played(matches, ever, seed=2)], fit)
    assert found.models == tuple(NAMES[:3])


def test_nobody_to_compare_is_refused() -> None:
    matches = fixtures(200)
    apart = {name: 100.0 * at for at, name in enumerate(NAMES)}
    found = beside([played(matches, apart)] * 2, fit)
    assert code(values(found.refused)["why"]) == "beside.few_models"


def planted(points: float, runs: int) -> tuple[int, float]:
    """Return in how many runs the interval holds what was planted, and the mean error."""
    held, variances = [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        moved = rng.normal(0, points, (3, len(NAMES)))
        matches = fixtures(240, seed)
        found = beside(
            [
                played(
                    matches, dict(zip(NAMES, it / POINTS, strict=True)), seed=1000 + 100 * seed + at
                )
                for at, it in enumerate(moved)
            ],
            fit,
            seed=seed,
        )
        moved = moved - moved.mean(axis=0)
        moved -= moved.mean(axis=1, keepdims=True)
        true = float((moved**2).sum()) / (2 * len(NAMES))
        of = spread(found.parts)
        assert of.true.ci95 is not None
        low, high = of.true.ci95
        held.append(low <= np.sqrt(true) <= high)
        variances.append(of.variance - true)
    return sum(held), float(np.mean(variances))


@pytest.mark.parametrize("points", [0.0, 120.0])
def test_what_is_planted_in_strengths_is_found(points: float) -> None:
    held, error = planted(points, runs=3)
    assert held >= 2
    assert abs(error) < 600 + 0.5 * points**2


@pytest.mark.long(
    short="tests/tournament/test_side_by_side.py::test_what_is_planted_in_strengths_is_found"
)
@pytest.mark.parametrize("points", [0.0, 120.0])
def test_what_is_planted_in_strengths_is_found_in_most_runs(points: float) -> None:
    held, error = planted(points, runs=12)
    assert held >= 10
    assert abs(error) < 300 + 0.25 * points**2
