"""What is told of replies, forfeits and roles: of matches, seeds and others as they were."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from raybench.tournament.fixtures import Fixture
from raybench.tournament.meetings import in_roles
from raybench.tournament.records import Effort, Match
from raybench.tournament.reliability import reliability
from raybench.tournament.turns import Forfeit

ROLES = ("one", "two", "three")


def match(
    seats: Sequence[str],
    scores: Sequence[float],
    *,
    seed: int = 1,
    forfeits: Sequence[str] = (),
    void: str | None = None,
    sides: Mapping[str, str] | None = None,
) -> Match:
    roles = ROLES[: len(seats)]
    return Match(
        number=1,
        fixture=Fixture("game", tuple(seats), seed),
        roles=roles,
        scores=dict(zip(roles, scores, strict=True)) if void is None else {},
        outcome="",
        forfeits=tuple(Forfeit(role, "time", 1) for role in forfeits),
        void=void,
        missing=None,
        sides=sides or {},
        efforts={role: Effort(turns=2) for role in roles},
        errors=(),
    )


def test_a_match_that_a_model_forfeits_in_two_seats_is_one() -> None:
    found = reliability([match("aab", (-1, -1, 2), forfeits=("one", "two"))], "ab")
    assert found["a"].forfeited.value == 1
    assert found["a"].forfeits == {"time": 2}
    assert found["b"].forfeited.value == 0


def test_a_forfeit_of_a_void_match_does_not_count() -> None:
    matches = [match("ab", (), forfeits=("one",), void="gone"), match("ab", (1, -1), seed=2)]
    found = reliability(matches, "ab")
    assert (found["a"].forfeited.value, found["a"].forfeited.n) == (0, 1)
    assert not found["a"].forfeits


def test_matches_of_one_seed_are_not_independent() -> None:
    rng = np.random.default_rng(5)
    covered, pools = {"forfeited": 0, "valid": 0}, 200
    for _ in range(pools):
        matches = []
        for seed, share in enumerate(rng.beta(0.7, 1.633, size=10)):  # of 0.3 on the average
            for lost in rng.random(7) < share:
                each = match("ab", (-1, 1), seed=seed, forfeits=("one",) if lost else ())
                each.efforts["one"] = Effort(turns=int(not lost), invalid=int(lost))  # type: ignore[index]
                matches.append(each)
        found = reliability(matches, "ab")["a"]
        for name, of, true in (("forfeited", found.forfeited, 0.3), ("valid", found.valid, 0.7)):
            assert of.ci95 is not None
            covered[name] += of.ci95[0] <= true <= of.ci95[1]
    assert min(covered.values()) / pools > 0.93


def test_a_model_is_not_among_the_others_that_it_was_better_than() -> None:
    found = in_roles([match("aab", (2, 1, 0)), match("aba", (2, 0, 1), seed=2)], "a")
    assert {role: it.value for role, it in found.items()} == {"one": 1, "two": 1, "three": 1}


def test_a_role_without_a_loss_has_an_interval_all_the_same() -> None:
    matches = [match("ab", (1, -1), seed=seed) for seed in range(6)]
    found = in_roles(matches, "a")["one"]
    assert found.value == 1
    assert found.ci95 == pytest.approx((0.61, 1), abs=0.01)


def test_a_side_wins_once_however_many_it_beats() -> None:
    sides = {"one": "wolves", "two": "village", "three": "village"}
    matches = [match("abc", (s, -s, -s), seed=n, sides=sides) for n, s in enumerate((1, -1, 1, -1))]
    found = in_roles(matches, "a")["wolves"]
    assert found.value == 0.5 and found.ci95 is not None
    assert found.ci95[0] < 0.16  # four matches, not eight
