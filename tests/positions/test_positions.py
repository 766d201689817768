"""What holds for all positions that are shipped."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import cast

import pytest
from confined import or_skip
from refusals import refused

from raybench import games, positions
from raybench.games import MANAGER, State
from raybench.games.mathquiz import Quiz
from raybench.positions import SPLITS, Positions, Split, digest
from raybench.positions.parts.contract import home, relative, shown

SANDBOXED = {name for name in positions.names() if games.load(positions.load(name).game).sandboxed}
EVERY = [
    pytest.param(name, marks=[pytest.mark.sandbox] if name in SANDBOXED else [])
    for name in positions.names()
]
OWN = """
from raybench import games
from raybench.positions import Positions

def draw(rng):
    return games.load("chess").new(rng.getrandbits(32))

OPENINGS = Positions("openings", "chess", draw, lambda state, move: float(move == "d4"))
NOTHING = 3
"""


@pytest.fixture(autouse=True)
def confined(request: pytest.FixtureRequest) -> None:
    """Run programs only where they are confined."""
    if request.node.get_closest_marker("sandbox"):
        or_skip()


@pytest.mark.parametrize("name", EVERY)
def test_a_player_is_to_move_and_every_move_has_a_score(name: str) -> None:
    of = positions.load(name)
    assert of.name == name
    for state in islice(of.drawn(3, "train"), 6):
        assert state.to_move not in (None, MANAGER)
        rng = random.Random(1)
        moves = [*(state.legal() or ())[:40], state.good(rng), state.sample(rng)]
        scores = [of.score(state, move) for move in moves]
        assert all(0 <= it <= 1 for it in scores)
        if state.legal() is not None:
            assert max(of.score(state, it) for it in state.legal() or ()) == 1
            assert of.score(state, "no move of this game") == 0
        assert of.score(state, "") == 0


@pytest.mark.parametrize("name", EVERY)
def test_a_seed_draws_the_same_again_and_no_position_is_in_two_splits(name: str) -> None:
    of = positions.load(name)

    def some(seed: int, split: Split) -> list[State]:
        return [*islice(of.drawn(seed, split), 8)]

    found = {(seed, split): some(seed, split) for seed in (1, 2) for split in SPLITS}
    views = {key: [shown(state) for state in states] for key, states in found.items()}
    assert views[1, "train"] == [shown(state) for state in some(1, "train")] != views[2, "train"]
    for (_, split), states in found.items():
        assert {home(of.family(state)) for state in states} == {split}, "whatever the seed"
    assert all(len({*of_one}) == 8 for of_one in views.values()), "none comes twice"


@pytest.mark.parametrize("name", EVERY)
def test_the_roles_and_what_they_are_asked_are_those_that_are_named(name: str) -> None:
    of = positions.load(name)
    seen = [
        state.observe(state.to_move or "")
        for split in SPLITS
        for state in islice(of.drawn(5, split), 8)
    ]
    assert {it.role for it in seen} == {*of.roles}
    assert {it.action for it in seen} == {*of.actions}


@pytest.mark.parametrize("name", EVERY)
def test_the_best_move_is_known_and_worth_1(name: str) -> None:
    of = positions.load(name)
    assert of.best is not None
    for state in islice(of.drawn(6, "train"), 12):
        move = of.answer(state)
        assert move is not None and of.score(state, move) == 1
        assert of.answer(state) == move


@pytest.mark.parametrize("name", EVERY)
def test_several_threads_score_the_same_position(name: str) -> None:
    of = positions.load(name)

    def scored(state: State) -> list[float]:
        moves = [*(state.legal() or ())[:20], of.answer(state) or "", "no move of this game"]
        return [of.score(state, move) for move in moves]

    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1e-6)
        with ThreadPoolExecutor(8) as threads:
            for state in islice(of.drawn(2, "train"), 1 if name in SANDBOXED else 4):
                looked = state.observe(state.to_move or "")
                found = [*threads.map(scored, [state] * 16)]
                assert found == [scored(state)] * 16
                assert state.observe(state.to_move or "") == looked
    finally:
        sys.setswitchinterval(interval)


def test_each_split_has_a_third_of_all_families() -> None:
    homes = [home(f"{number}") for number in range(3_000)]
    assert all(900 < homes.count(split) < 1_100 for split in SPLITS)


def counted(to: int) -> Positions:
    """Quizzes for the numbers from 100 on, of which those that are odd are one family."""

    def draw(rng: random.Random) -> State:
        return replace(cast(Quiz, games.load("mathquiz").new(1)), target=rng.randint(100, to))

    def family(state: State) -> str:
        even = cast(Quiz, state).target % 2 == 0
        return shown(state) if even else "odd"

    return Positions("counted", "mathquiz", draw, lambda state, move: 1.0, family=family)


def test_positions_that_are_few_come_to_an_end_and_families_stay_together() -> None:
    of = counted(140)
    found = {split: {cast(Quiz, it).target for it in of.drawn(1, split)} for split in SPLITS}
    assert sorted(number for of_one in found.values() for number in of_one) == [*range(100, 141)]
    odd = {split for split, numbers in found.items() if any(it % 2 for it in numbers)}
    assert odd == {home("odd")}
    nothing = next(split for split in SPLITS if not any(1 for _ in counted(100).drawn(1, split)))
    assert nothing in SPLITS, "a split may have none"


def test_the_best_move_is_looked_for_where_it_is_not_given_and_moves_are_few() -> None:
    given = positions.load("poker_river")
    of = replace(given, best=None)
    for state in islice(of.drawn(1, "train"), 5):
        assert of.answer(state) == given.answer(state)
    (quiz,) = islice(counted(140).drawn(1, "train"), 1)
    assert counted(140).answer(quiz) is None, "its moves cannot be listed"


def test_a_digest_tells_what_is_shown_in_which_order_and_what_is_best() -> None:
    of = positions.load("mathquiz_solve")
    states = [*islice(of.drawn(1, "train"), 4)]
    same = [*islice(of.drawn(1, "train"), 4)]
    assert digest(states) == digest(iter(same)) and len(digest(states)) == 64
    others = [
        digest([]),
        digest(states[:3]),
        digest(states[::-1]),
        digest(states, of.answer),
        digest(states, lambda state: "1"),
    ]
    assert len({*others, digest(states)}) == 6
    student = cast(Quiz, states[0]).apply(of.answer(states[0]) or "")
    assert student.to_move == "student" and shown(student) == shown(states[0])
    assert digest([student]) != digest(states[:1]), "another role is another position"


def test_where_a_value_lies_between_the_worst_and_the_best() -> None:
    assert relative(2.0, [0.0, 4.0, 2.0]) == 0.5
    assert relative(3.0, [3.0, 3.0]) == 1.0


def test_names_may_be_spelled_otherwise_and_unknown_ones_are_told() -> None:
    assert positions.load("Chess Material") is positions.load("chess_material")
    with refused("setting.choice"):
        positions.load("chess_materials")


def test_ones_own_are_found_by_their_path(own: str) -> None:
    of = positions.load(f"{own}:OPENINGS")
    (state,) = islice(of.drawn(1, "validation"), 1)
    assert (of.score(state, "Ke9"), of.name) == (0, "openings")
    with refused("extension.invalid", given="own_positions:NOTHING"):
        positions.load(f"{own}:NOTHING")
