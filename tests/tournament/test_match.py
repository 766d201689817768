"""One match: moves, mistakes, forfeits, time, void matches, and going on from the middle."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused
from statements import values
from tournament.seated import Says, Told, says

from raybench import games
from raybench.errors import RunFailed
from raybench.games import InvalidMove, Jury, Need, State
from raybench.games.parts.debate.verdict import CRITERIA, SIDES
from raybench.players.parts.contract import Try
from raybench.tournament.match import Heard, Terms, Void, play, told_again
from raybench.tournament.turns import Ending, Turn
from raybench.types import Observation

DICE = games.load("liars_dice")
TERMS = Terms()


async def nothing(need: Need) -> str:
    raise AssertionError("nothing is needed")


async def played(
    first: State, *by: Says, terms: Terms = TERMS, kept: list[Turn] | None = None
) -> tuple[Ending, list[Turn], Mapping[str, Told]]:
    turns: list[Turn] = []
    seats = {role: Told(f"m-{role}", of) for role, of in zip(first.roles, by, strict=True)}
    ending = await play(first, seats, nothing, terms, turns.append, kept or [], zero_sum=True)
    return ending, turns, seats


async def test_a_match_is_played_to_its_end() -> None:
    ending, turns, _ = await played(DICE.new(3), says("bid 1 4", "call"), says("bid 2 6"))
    assert [(it.role, it.model, it.move, it.error) for it in turns] == [
        ("player_1", "m-player_1", "bid 1 4", None),
        ("player_2", "m-player_2", "bid 2 6", None),
        ("player_1", "m-player_1", "call", None),
    ]
    assert sum(ending.scores.values()) == 0
    call = values(ending.outcome)
    assert (call["caller"], call["bidder"], call["bid"]) == ("player_1", "player_2", "2 dice of 6")
    assert not ending.forfeits and ending.void is None
    assert turns[0].reply == "Move: bid 1 4" and "Your dice" in turns[0].observation


async def test_a_turn_tells_what_the_reply_took() -> None:
    def costly(state: State, tries: object) -> Heard:
        return Heard("Move: bid 1 4", "bid 1 4", None, 0.12345, 7, 300, 2, True)

    _, (turn, _), _ = await played(DICE.new(3), costly, says("call"))
    assert (turn.reply, turn.move, turn.seconds) == ("Move: bid 1 4", "bid 1 4", 0.123)
    assert (turn.tokens, turn.prompt_tokens, turn.calls, turn.truncated) == (7, 300, 2, True)


async def test_what_the_manager_brought_is_kept_once() -> None:
    """A jury's replies are long: journals had them twice, as the move and as a reply."""
    debate, kept = games.load("debate").new(1, rebuttals=1), list[Turn]()
    by = {role: Told(role, lambda state, tries: Heard("Yes.", "Yes.")) for role in debate.roles}

    async def bring(need: Need) -> str:
        assert isinstance(need, Jury)
        score = json.dumps({side: dict.fromkeys(CRITERIA, 5) for side in SIDES})
        return json.dumps({"votes": [{"juror": "c", "replies": [score, score]}]})

    ending = await play(debate, by, bring, TERMS, kept.append, zero_sum=True)
    assert ending.ballots == (1, 0) and kept[-1].role == games.MANAGER
    assert kept[-1].reply == "" and "juror" in (kept[-1].move or "")
    assert kept[-1].calls == 0, "no player was asked"


async def test_what_is_invalid_is_answered_with_the_reason_and_tried_again() -> None:
    ending, turns, seats = await played(
        DICE.new(3), says("call", "bid 9 9", "bid 1 4", "call"), says("bid 2 6")
    )
    wrong = []
    for move in ("call", "bid 9 9"):
        with pytest.raises(InvalidMove) as refused_move:
            DICE.new(3).apply(move)
        wrong.append(Try(f"Move: {move}", str(refused_move.value)))
    assert [it.error for it in turns] == [*(it.reason for it in wrong), None, None, None]
    assert seats["player_1"].tries[2] == (*wrong,)
    assert seats["player_1"].tries[3] == (), "at the next turn nothing is held against it"
    assert not ending.forfeits


async def test_the_failing_move_is_journalled_and_forfeits_at_the_bound() -> None:
    ending, turns, _ = await played(
        DICE.new(3), says("call", "call", "call"), says(), terms=Terms(tries=3)
    )
    assert [it.move for it in turns] == ["call"] * 3
    assert all(it.error for it in turns)
    assert ending.scores == {"player_1": -1.0, "player_2": 1.0}
    (forfeit,) = ending.forfeits
    assert (forfeit.role, forfeit.reason, forfeit.turn) == ("player_1", "invalid moves", 3)
    assert forfeit.role in ending.outcome and f"({forfeit.reason})" in ending.outcome


async def test_the_budget_of_a_match_counts_all_turns_of_a_player() -> None:
    wrong = says("call", "bid 1 1", "bid 1 1", "bid 2 1", "bid 2 1")
    ending, turns, _ = await played(
        DICE.new(3), wrong, says("bid 1 3", "bid 3 1"), terms=Terms(tries=3, invalid=2)
    )
    assert [it.error is None for it in turns] == [False, True, True, False, True, True, False]
    assert [it.role for it in ending.forfeits] == ["player_1"]


@pytest.mark.parametrize(("seconds", "forfeits"), [(0.49, 0), (0.5, 1), (0.51, 1)])
async def test_time_is_that_of_the_turn(seconds: float, forfeits: int) -> None:
    slow = says("call", "bid 1 4", "call", seconds=seconds)
    ending, _, _ = await played(DICE.new(3), slow, says("bid 2 6"), terms=Terms(deadline_s=1.0))
    assert len(ending.forfeits) == forfeits
    assert all(it.reason == "time" for it in ending.forfeits)
    assert all((it.took_s, it.deadline_s) == (2 * seconds, 1.0) for it in ending.forfeits)


async def test_a_player_is_told_how_much_time_is_left() -> None:
    slow = says("call", "bid 1 4", "call", seconds=0.3)
    _, _, seats = await played(DICE.new(3), slow, says("bid 2 6"), terms=Terms(deadline_s=1.0))
    assert seats["player_1"].left == [1.0, 0.7, 1.0], "each turn has all of it"
    _, _, seats = await played(DICE.new(3), says("bid 1 4", "call"), says("bid 2 6"))
    assert seats["player_1"].left == [None, None]


@pytest.mark.parametrize("deadline", [1.0, 1 / 3, 0.0004, 3.766])
@pytest.mark.parametrize("before", [0.0, 0.0001, 0.123])
async def test_a_reply_that_was_ended_forfeits_however_clocks_are_rounded(
    deadline: float, before: float
) -> None:
    def late(state: State, tries: Sequence[Try]) -> Heard:
        if tries:
            return Heard("", None, "its time was up", 0.0, late=True)
        return Heard("hm", None, "there is no move", before)

    terms = Terms(deadline_s=deadline)
    ending, turns, _ = await played(DICE.new(3), late, says(), terms=terms)
    (forfeit,) = ending.forfeits
    assert (forfeit.role, forfeit.reason) == ("player_1", "time")
    assert forfeit.took_s is not None and forfeit.took_s >= deadline
    # And so it is where it is told again.
    again, told, _ = await played(DICE.new(3), says(), says(), terms=terms, kept=turns)
    assert (again, told) == (ending, [])


async def test_a_model_that_cannot_be_reached_makes_a_match_void() -> None:
    def gone(state: State, tries: object) -> Heard:
        raise Void("connection refused")

    ending, turns, _ = await played(DICE.new(3), says("bid 1 4"), gone)
    assert ending.void == "connection refused"
    assert not ending.scores and len(turns) == 1


async def test_where_the_game_goes_on_without_them_others_play_on() -> None:
    first = DICE.new(1, players=3, rounds="elimination", dice=1)
    rng = random.Random(1)

    def good(state: State, tries: object) -> Heard:
        return Heard("", state.good(rng))

    ending, _, _ = await played(first, says("xyzzy", "xyzzy", "xyzzy"), good, good)
    assert [it.role for it in ending.forfeits] == ["player_1"]
    assert ending.scores["player_1"] == -1.0
    assert sorted(ending.scores.values()) == [-1.0, 0.0, 1.0]


async def test_scores_that_do_not_come_to_0_stop_the_run_where_they_have_to() -> None:
    class Unsound(type(DICE.new(3))):  # type: ignore[misc]
        def scores(self) -> dict[str, float]:
            return {"player_1": 1.0, "player_2": 0.0}

    start = DICE.new(3)
    first = Unsound(start.rules, start.seed, start.hands)  # type: ignore[attr-defined]
    ended = replace(first, places=(0,), told=("player_1 lost",))
    with refused("game.fault", kind=RunFailed):
        await play(ended, {}, nothing, TERMS, lambda turn: None, zero_sum=True)
    ending = await play(ended, {}, nothing, TERMS, lambda turn: None, zero_sum=False)
    assert ending.scores == {"player_1": 1.0, "player_2": 0.0}


def random_player(seed: int, mistakes: float) -> Says:
    rng = random.Random(seed)

    def say(state: State, tries: object) -> Heard:
        if rng.random() < mistakes:
            return Heard("hm", None, "there is no move")
        move = state.sample(rng)
        return Heard(move, move, seconds=rng.random())

    return say


@given(st.integers(0, 999), st.floats(0, 0.6), st.integers(0, 40))
async def test_a_match_that_was_cut_off_goes_on_to_the_same_end(
    seed: int, mistakes: float, cut: int
) -> None:
    """Whatever was kept of it: the budgets count on, too."""
    terms = Terms(tries=3, invalid=4, deadline_s=2.0)
    first = DICE.new(seed, players=3, rounds="elimination", dice=2)
    ending, turns, _ = await played(
        first, *(random_player(seed + role, mistakes) for role in range(3)), terms=terms
    )
    left = turns[cut:]

    def as_before(state: State, tries: object) -> Heard:
        turn = left.pop(0)
        return Heard(turn.reply, turn.move, turn.error, turn.seconds)

    again, told, _ = await played(
        first, as_before, as_before, as_before, terms=terms, kept=turns[:cut]
    )
    assert (again, told) == (ending, turns[cut:])
    assert not left


@pytest.mark.parametrize("seconds", [0.0, 0.6], ids=["invalid moves", "time"])
@pytest.mark.parametrize("seed", range(6))
async def test_forfeits_are_told_again_as_they_were(seed: int, seconds: float) -> None:
    """Others play on after one; whoever goes on from any turn sees what was seen then."""
    terms = Terms(tries=2, invalid=3, deadline_s=1.0)
    first = DICE.new(seed, players=4, rounds="elimination", dice=2)

    def player(place: int) -> Says:
        rng = random.Random(f"{seed}/{place}")

        def say(state: State, tries: object) -> Heard:
            if rng.random() < 0.4:
                return Heard("hm", None, "there is no move", seconds)
            move = state.sample(rng)
            return Heard(move, move, None, round(rng.random() * seconds * 2, 3))

        return say

    _, turns, _ = await played(first, *(player(place) for place in range(4)), terms=terms)
    for cut in range(len(turns) + 1):
        bare = [replace(turn, observation="") for turn in turns[:cut]]
        assert told_again(first, bare, terms) == turns[:cut]


async def test_players_are_told_what_they_see_in_other_words_and_the_journal_has_these() -> None:
    def shouted(seen: Observation) -> Observation:
        return replace(seen, task=seen.task.upper())

    first, turns = games.load("chess").new(0, plies=2), list[Turn]()
    rng = random.Random(1)
    seats = {
        role: Told(role, lambda state, tries: says(state.sample(rng))(state, tries))
        for role in first.roles
    }
    await play(first, seats, nothing, TERMS, turns.append, zero_sum=True, words=shouted)
    state = first
    for turn in turns:
        seen = state.observe(turn.role)
        assert turn.observation == f"{seen.view}\n\n{seen.task.upper()}"
        assert seats[turn.role].seen.pop(0) == shouted(seen)
        state = state.apply(str(turn.move))
    bare = [replace(turn, observation="") for turn in turns]
    assert told_again(first, bare, TERMS, shouted) == turns
