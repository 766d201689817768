"""Jails to learn on: each opens to its key by the rules of the game, and to no ordinary text."""

import random
import re
from collections.abc import Iterable
from itertools import islice
from typing import cast

import pytest
from confined import or_skip
from hypothesis import given
from hypothesis import strategies as st

from raybench import positions
from raybench.games.parts.pyjail.code import checked
from raybench.games.parts.pyjail.settings import JailRules
from raybench.games.parts.verified.state import Try
from raybench.positions import SPLITS
from raybench.positions.parts.contract import home
from raybench.positions.parts.pyjail.kinds import KINDS, Kind
from raybench.positions.parts.pyjail.lot import Lot
from raybench.positions.pyjail_solve import POSITIONS, Known

RULES = JailRules(seconds=2)
SEEDS = st.integers(0, 2**32)
ORDINARY = ("", "hello", "open the door, please", "1 + 1", "42", "FLAG", "os", "{0}", "{}")
NAIVE = ("__import__('os').environ['FLAG']", "import os; print(os.environ['FLAG'])")
KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def test_each_split_has_easy_kinds_and_hard_ones() -> None:
    """A kind's name decides: one that is renamed may move."""
    split = {kind.name: home(f"pyjail/{kind.name}") for kind in KINDS}
    assert len(split) == len(KINDS) >= 12
    for each in SPLITS:
        levels = [kind.level for kind in KINDS if split[kind.name] == each]
        assert len(levels) >= 6 and levels.count("easy") >= 3 and levels.count("hard") >= 3


@KIND
@given(SEEDS, SEEDS)
def test_a_seed_draws_the_same_jail_again_and_no_other_does(kind: Kind, one: int, two: int) -> None:
    jail, again = kind.drawn(random.Random(one)), kind.drawn(random.Random(one))
    assert jail == again
    if one != two:
        assert jail.source != kind.drawn(random.Random(two)).source


@KIND
@given(SEEDS)
def test_a_jail_is_one_by_the_rules_and_keeps_its_key_to_itself(kind: Kind, seed: int) -> None:
    rules = JailRules()
    for each in kind.jails:
        jail = each(Lot(random.Random(seed)))
        assert checked(jail.source, rules.longest) == jail.source
        assert 0 < len(jail.key) <= rules.longest_input and jail.key == jail.key.strip()
        assert not re.search("[$][a-z]", jail.source), "all is filled in"
        assert kind.name in ("clear", "sums") or jail.key not in jail.source


def test_kinds_stay_in_their_split_and_both_sides_open_them() -> None:
    kinds = {
        split: {
            (cast(Known, state).kind, state.to_move)
            for state in islice(POSITIONS.drawn(3, split), 240)
        }
        for split in SPLITS
    }
    for split, found in kinds.items():
        of = {kind.name for kind in KINDS if home(f"pyjail/{kind.name}") == split}
        assert found == {(kind, role) for kind in of for role in POSITIONS.roles}


def test_who_opens_a_jail_sees_its_source_and_nothing_of_its_key() -> None:
    for state in islice(positions.load("pyjail_solve").drawn(4, "validation"), 30):
        known = cast(Known, state)
        seen = state.observe(state.to_move or "")
        shown = "\n".join(f"| {line}" for line in known.challenge.split("\n"))
        assert seen.view == f"The jail's source:\n{shown}"
        assert known.key not in str(seen)


def stood(kind: Kind, source: str, key: str) -> tuple[Known, Known]:
    """Return a jail that its warden is to open, and one that the prisoner is to."""
    warden = Known(RULES, 1, kind=kind.name, key=key).apply(source)
    return warden, warden.after(Try(key, solved=True))


def check_that_keys_alone_open(kind: Kind, seeds: Iterable[int]) -> None:
    """Draw every jail of a kind from these seeds, and put its key and ordinary texts to it."""
    or_skip()
    for jail in kind.jails:
        for seed in seeds:
            drawn = jail(Lot(random.Random(seed)))
            warden, prisoner = stood(kind, drawn.source, drawn.key)
            assert POSITIONS.score(warden, drawn.key) == 1, drawn
            assert POSITIONS.score(prisoner, drawn.key) == 1, drawn
            assert POSITIONS.answer(prisoner) == drawn.key
            closed = ORDINARY + NAIVE * (kind.level == "hard")
            assert not any(POSITIONS.score(prisoner, it) for it in closed), drawn
        assert POSITIONS.score(warden, "hello") == 0


@pytest.mark.sandbox
@KIND
def test_jails_open_to_their_keys_and_to_nothing_that_anybody_says(kind: Kind) -> None:
    check_that_keys_alone_open(kind, [0])


@pytest.mark.sandbox
@pytest.mark.long(
    short="tests/positions/test_jails.py::"
    "test_jails_open_to_their_keys_and_to_nothing_that_anybody_says"
)
@KIND
def test_jails_of_more_seeds_open_to_their_keys_alone(kind: Kind) -> None:
    check_that_keys_alone_open(kind, range(1, 4))


@pytest.mark.sandbox
@KIND
def test_a_key_opens_its_own_jail_alone(kind: Kind) -> None:
    """Where that is a password, or names what is in the jail."""
    or_skip()
    one, other = (kind.jails[0](Lot(random.Random(seed))) for seed in (11, 12))
    if one.key != other.key:
        _, prisoner = stood(kind, one.source, one.key)
        assert POSITIONS.score(prisoner, other.key) == 0
