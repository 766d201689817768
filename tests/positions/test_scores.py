"""What moves are worth, by examples that can be checked by hand."""

import random
from dataclasses import replace
from itertools import islice
from typing import cast

import pytest

from raybench import games, positions
from raybench.games.liars_dice import Dice
from raybench.games.mathquiz import Quiz
from raybench.games.parts.mathquiz.stated import how
from raybench.games.parts.poker.options import options
from raybench.games.parts.poker.table import pot
from raybench.games.poker import Poker
from raybench.positions.poker_river import equity


def test_chess_what_wins_a_queen_is_best_and_what_loses_one_is_worst() -> None:
    of = positions.load("chess_material")
    # White's queen is attacked by the rook; taking that with the pawn wins it.
    state = games.load("chess").new(1, start="6k1/8/8/8/3r4/2P1Q3/8/4K3 w - - 0 1")
    assert of.score(state, "cxd4") == of.score(state, "c3d4") == 1
    assert of.score(state, "Qxd4") == 1, "it is as good: nothing takes back"
    assert of.score(state, "Qe4") == 0, "the rook takes it"
    assert 0 < of.score(state, "Kf1") < 1
    assert of.score(state, "Qe9") == 0


def test_chess_mate_is_best() -> None:
    of = positions.load("chess_material")
    state = games.load("chess").new(1, start="6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    assert of.score(state, "Ra8#") == of.score(state, "a1a8") == 1
    assert of.score(state, "Kf1") == 0


def answering(quantity: int, face: int) -> Dice:
    """A bid to answer, with two 4s of one's own and five dice unseen, nothing wild."""
    state = cast(Dice, games.load("liars_dice").new(1, dice=5, wild=False))
    other = 1 - state.turn
    hands = [(1, 2, 3, 5, 6)] * 2
    hands[other] = (4, 4, 2, 3, 5)
    return replace(state, hands=tuple(hands)).apply(f"bid {quantity} {face}")


def test_dice_by_the_odds() -> None:
    of = positions.load("liars_dice_odds")
    none, one = (5 / 6) ** 5, 5 * (1 / 6) * (5 / 6) ** 4
    three = answering(3, 4)
    assert of.score(three, "call") == 1, "the bid holds less often than not"
    assert of.score(three, "bid 3 5") == pytest.approx((1 - none - one) / none)
    two = answering(2, 4)
    assert of.score(two, "call") == 0, "the bid holds already"
    assert of.score(two, "bid 3 4") == of.score(two, "bid 2 5") == 1, "each wants one more"
    assert of.score(two, "bid 2 6") == pytest.approx((1 - none - one) / (1 - none))


def test_dice_bids_and_calls_are_both_right_at_times() -> None:
    of = positions.load("liars_dice_odds")
    best = [
        max(state.legal() or (), key=lambda it, at=state: of.score(at, it))  # type: ignore[misc]
        for state in islice(of.drawn(1, "train"), 60)
    ]
    assert 10 < sum(it == "call" for it in best) < 50


@pytest.mark.slow
def test_poker_calls_what_wins_on_the_average() -> None:
    of = positions.load("poker_river")
    called = []
    for state in islice(of.drawn(2, "train"), 40):
        poker = cast(Poker, state)
        may, chips, share = options(poker.table), pot(poker.table), equity(poker)
        gain = share * (chips + may.cost) - may.cost
        assert of.score(state, "call") == float(gain >= 0) == 1 - of.score(state, "fold")
        assert set(state.legal() or ()) == {"call", "fold"}, "nobody can raise"
        called.append(gain >= 0)
    assert 5 < sum(called) < 35


def test_poker_odds_are_those_of_hands_drawn_by_lot() -> None:
    of = positions.load("poker_river")
    (state,) = islice(of.drawn(5, "validation"), 1)
    poker, rng = cast(Poker, state), random.Random(1)
    won, role = 0.0, state.to_move or ""
    for _ in range(400):
        ended = poker.redrawn(role, rng).apply("call")
        stacks = ended.stacks[poker.roles.index(role)]
        even = poker.rules.stack
        won += 1.0 if stacks > even else 0.5 if stacks == even else 0.0
    assert won / 400 == pytest.approx(equity(poker), abs=0.08)


def test_mathquiz_questions_have_the_number_for_an_answer_and_do_not_state_it() -> None:
    of = positions.load("mathquiz_solve")
    for state in islice(of.drawn(4, "train"), 50):
        quiz = cast(Quiz, state)
        assert how(quiz.challenge, quiz.target) is None
        start, *steps = quiz.challenge.removesuffix(". What is the result?").split(". Then ")
        value = int(start.removeprefix("Start with "))
        for step in steps[0].split(", then "):
            verb, number = step.replace(" by", "").split()
            value = {
                "add": value + int(number),
                "subtract": value - int(number),
                "multiply": value * int(number),
            }[verb]
        assert value == quiz.target
        assert of.score(state, str(value)) == of.score(state, f"x = {value}") == 1
        assert of.score(state, str(value + 1)) == 0
        assert of.score(state, "I do not know") == 0


def test_mathquiz_a_question_that_a_calculator_can_check_is_worth_most() -> None:
    of = positions.load("mathquiz_pose")
    for state in islice(of.drawn(4, "train"), 10):
        target = cast(Quiz, state).target
        assert of.score(state, f"What is {target - 7} plus 7?") == 1
        assert of.score(state, f"What is {target - 7} plus 8?") == 0.25
        assert of.score(state, "Which number do I think of?") == 0.25
        assert of.score(state, f"What is {target}?") == 0, "it states the number"
