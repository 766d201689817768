import random
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal
from refusals import refused as refused_rules
from statements import code, values

from raybench import games
from raybench.games import InvalidMove, State, Written
from raybench.games.liars_dice import Dice
from raybench.games.parts.conformance import play, problems
from raybench.games.parts.dice.bids import above, chance, count, read
from raybench.games.parts.dice.hands import Hands
from raybench.games.parts.transcript import ended, sentence

GAME = games.load("liars_dice")
SMALL = examples(40)
rulesets = st.fixed_dictionaries(
    {
        "players": st.integers(2, 10),
        "dice": st.integers(1, 4),
        "faces": st.integers(2, 8),
        "wild": st.booleans(),
        "rounds": st.sampled_from(["one", "elimination"]),
    }
)
seeds = st.integers(0, 10_000)


def table(*hands: str, **rules: Any) -> Dice:
    """Return the beginning of a game in which these dice were rolled, "23345" for one."""
    state = GAME.new(1, players=len(hands), dice=max(map(len, hands)), **rules)
    assert isinstance(state, Dice)
    return replace(state, hands=tuple(tuple(map(int, hand)) for hand in hands))


def after(state: Dice, *moves: str) -> Dice:
    for move in moves:
        state = state.apply(move)
    return state


def refused(state: Dice, move: str) -> InvalidMove:
    with pytest.raises(InvalidMove) as error:
        state.apply(move)
    return error.value


def begun(seed: int, **rules: Any) -> Dice:
    state = GAME.new(seed, **rules)
    assert isinstance(state, Dice)
    return state


# -------------------------------------------------------------------------------- bids


def test_a_bid_has_to_rise() -> None:
    """The peer's could go round in circles."""
    state = after(begun(0), "bid 3 4")
    for bid in ("bid 3 4", "bid 3 3", "bid 2 6", "bid 1 1"):
        why = refused(state, bid)
        assert (code(why), values(why)["last"]) == ("dice.not_above", "3 dice of 4")
    for bid in ("bid 3 5", "bid 4 1", "bid 10 6"):
        assert after(state, bid).to_move == "player_1"


@SMALL
@given(seeds, st.data())
def test_no_bids_go_round_in_circles(seed: int, data: st.DataObject) -> None:
    state, last = begun(seed, players=3, dice=2, faces=4), (0, 0)
    for _ in range(6 * 4):
        bid = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
        if bid > last:
            state, last = state.apply("bid {} {}".format(*bid)), bid
        else:
            assert code(refused(state, "bid {} {}".format(*bid))) == "dice.not_above"
    assert len(state.bids) <= 6 * 4


def test_bids_are_bounded_by_the_dice_and_faces_there_are() -> None:
    """The peer's had no upper bound."""
    state = begun(0)
    for bid in (11, 0):
        why = refused(state, f"bid {bid} 3")
        assert code(why) == "dice.too_many" and values(why) == {"bid": bid, "dice": 10}
    for face in (7, 0):
        why = refused(state, f"bid 3 {face}")
        assert code(why) == "dice.no_face" and values(why) == {"face": face, "most": 6}
    assert len(str(refused(state, f"bid {'9' * 4_000} 3"))) < 100
    highest = after(state, "bid 10 6")
    assert highest.legal() == ("call",)
    assert code(refused(highest, "bid 10 6")) == "dice.not_above"
    # Dice that are lost are not on the table: player_1 had bid too much.
    smaller = after(table("111", "111", rounds="elimination"), "bid 6 2", "call")
    assert values(refused(smaller, "bid 6 3")) == {"bid": 6, "dice": 5}


@pytest.mark.parametrize("rules", [{}, {"players": 5}, {"rounds": "elimination"}])
def test_nothing_is_called_before_a_bid(rules: dict[str, Any]) -> None:
    """The peer took a call as the first move."""
    state = begun(0, **rules)
    assert code(refused(state, "call")) == "dice.no_bid"
    assert "call" not in state.legal()
    seen = state.observe("player_1")
    assert (seen.action, "'call'" in seen.task) == ("bid", False)
    state = state.apply("bid 1 1")
    assert "call" in state.legal() and state.observe("player_2").action == "bid_or_call"


def test_a_new_round_begins_with_a_bid_too() -> None:
    state = after(table("66", "66", rounds="elimination"), "bid 1 6", "call")
    assert state.bids == () and code(refused(state, "call")) == "dice.no_bid"


def test_what_can_be_bid_is_listed_in_order_and_whole() -> None:
    state = after(begun(0, dice=1, faces=3), "bid 1 2")
    assert state.legal() == ("bid 1 3", "bid 2 1", "bid 2 2", "bid 2 3", "call")
    assert above(None, 2, 2) == [(1, 1), (1, 2), (2, 1), (2, 2)]


@given(st.integers(1, 12), st.integers(2, 10), st.data())
def test_bids_above_are_those_that_are_allowed(dice: int, faces: int, data: st.DataObject) -> None:
    every = list(product(range(1, dice + 1), range(1, faces + 1)))
    last = data.draw(st.sampled_from(every))
    assert above(last, dice, faces) == every[every.index(last) + 1 :]


# -------------------------------------------------------------------------------- how moves look


@pytest.mark.parametrize(
    "move",
    [
        "bid 3 5", "Bid 3 5.", "BID 3 5", "3 5", "3 fives", "three fives", "three 5s", "3 5's",
        "3x5", "3 x 5", "3×5", "3, 5", "(3, 5)", "[3,5]", "bid: 3 5", "I bid 3 fives",
        "I'll bid 3 5", "I will bid three 5s!", "3 of 5", "3 dice of 5", "bid 3 dice of face 5",
        "at least 3 fives", "quantity 3, face 5", "Quantity: 3, Face: 5", "**bid 3 5**",
        "`bid 3 5`", '"bid 3 5"', "bid (3, 5)", "bid(3, 5)", "bid [3] [5]", "bid <3> <5>",
        "I’ll bid 3 5", "raise 3 5", "raise to 3 5", "I raise to 3 fives", "I'll raise it to 3 5",
        "bid 3-5", "Bid: 3–5", "raise to 3-5",
    ],
)  # fmt: skip
def test_bids_are_read_as_people_write_them(move: str) -> None:
    assert read(move) == (3, 5)


@pytest.mark.parametrize(
    ("move", "bid"),
    [("0000000005 3", (5, 3)), ("bid ３ ５", (3, 5)), ("٣ ٥", (3, 5)),
     ("six fives", (6, 5)), ("bid six 5", (6, 5)), ("6 sixes", (6, 6)), ("one one", (1, 1)),
     ("2 ones", (2, 1)), ("ten tens", (10, 10)), ("bid 12 2", (12, 2)), ("2 six", (2, 6))],
)  # fmt: skip
def test_numbers_are_read_as_people_write_them(move: str, bid: tuple[int, int]) -> None:
    assert read(move) == bid


@pytest.mark.parametrize(
    "move",
    ["call", "Call.", "I call", "CALL!", "I call it", "liar", "Liar!", "call liar", "call bluff",
     "I call the bluff", "challenge", "**call**", "`call`", "bluff", "I'll call",
     "I call the last bid a lie", "I call your bluff", "call it a bluff", "I call that a lie.",
     "I call the other's bluff", "I call player_1's bluff", "call player_1’s last bid a lie",
     "I challenge the last bid", "call your bid", "you're lying", "You’re bluffing!",
     "you are a liar", "that's a lie", "This is a bluff."],
)  # fmt: skip
def test_calls_are_read_as_people_write_them(move: str) -> None:
    assert read(move) is None


@pytest.mark.parametrize(
    "move",
    [
        "", "bid", "3", "bid 3", "bid five", "bid 3 5 6", "-3 5", "bid -3 5", "3.5", "3-5",
        "bid 3 cats", "don't call", "call or bid 3 5", "call 3 5",
        "I call the last bid true", "the last bid is no lie", "call the bid 3 5", "bid (-3, 5)",
        "3 on", "bid 35", "bid 3--5", "bid 3 -5", "raise by 3 5", "raise 5", "you're not lying",
        "you're lying, bid 3 5", "that's no lie", "is that a lie?", "pass", "\x00",
        " " * 100_000 + "x", "i " * 50_000, "bid" + " " * 100_000 + "x", "9" * 100_000,
        "1" + " " * 100_000 + "x",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_the_way_to_write_it(move: str) -> None:
    with pytest.raises(InvalidMove, match="QUANTITY FACE") as error:
        read(move)
    assert code(error.value) == "dice.no_move" and len(str(error.value)) < 150


def test_reasons_hold_no_signs_that_nobody_sees() -> None:
    why = refused(begun(0), "a\x00\u202eb\u2028\ud800\nc")
    assert values(why)["move"] == "a\\x00\\u202eb \\ud800 c" and str(why).isprintable()


def test_reasons_show_the_move_as_it_was_written() -> None:
    assert values(refused(begun(0), " Bid (3, Cats)\n"))["move"] == "Bid (3, Cats)"


def test_one_die_is_a_die() -> None:
    why = refused(after(begun(0), "bid 1 4"), "bid 1 3")
    assert (values(why)["bid"], values(why)["last"]) == ("1 die of 3", "1 die of 4")


# -------------------------------------------------------------------------------- calls


@pytest.mark.parametrize(
    ("bid", "loser"), [("bid 3 5", 1), ("bid 2 5", 1), ("bid 4 5", 0), ("bid 1 4", 0)]
)
def test_who_is_wrong_at_a_call_has_lost(bid: str, loser: int) -> None:
    """Three fives lie there, and no four: what is as much as bid, or more, holds."""
    state = after(table("12556", "23356"), bid, "call")
    assert state.scores() == {f"player_{1 + loser}": -1, f"player_{2 - loser}": 1}
    assert values(state.outcome)["loser"] == f"player_{1 + loser}"
    assert state.over and code(refused(state, "bid 5 5")) == "move.game_over"


def test_at_a_call_all_dice_are_shown() -> None:
    state = after(table("125", "336", "455", rounds="elimination"), "bid 3 5", "call")
    call = values(state.told[-1])
    assert (call["caller"], call["bidder"], call["loser"]) == ("player_2", "player_1", "player_2")
    assert (call["bid"], call["found"]) == ("3 dice of 5", 3)
    assert call["dice"] == "player_1 1 2 5, player_2 3 3 6, player_3 4 5 5"
    assert all(state.told[-1] in state.observe(role).view for role in state.roles)


@pytest.mark.parametrize(
    ("bid", "told"),
    [
        ("bid 1 1", "1 die of 1; there was 1"),
        ("bid 2 2", "2 dice of 2; there were 2"),
        ("bid 1 4", "1 die of 4; there were none"),
    ],
)
def test_what_lay_there_is_told_in_words_as_people_say_them(bid: str, told: str) -> None:
    state = after(table("12556", "23356"), bid)
    assert f"Bids: player_1 {told.partition(';')[0]}" in state.observe("player_2").view
    assert f"player_1's {told} (" in state.apply("call").outcome


def test_a_match_is_written_down_round_by_round() -> None:
    first = table("12", "23", "33", rounds="elimination")
    moves = (("player_1", "bid 3 3"), ("player_2", "call"), ("player_2", "bid 1 1"))
    match = Written(
        first,
        moves,
        {"player_1": "a", "player_2": "b", "player_3": "c"},
        {"player_1": 1.0, "player_2": -1.0},
        "",
        forfeits=("player_3",),
        left={3: ("player_3",)},
    )
    assert GAME.written is not None
    lines = GAME.written(match).splitlines()
    assert lines[1:4] == ["player_1: a (+1)", "player_2: b (-1)", "player_3: c"]
    assert lines[5].startswith("Round 1: player_1 has 1 2; ")
    assert lines[6:8] == ["  player_1 bid 3 3", "  player_2 call"]
    assert lines[8] == sentence(after(first, "bid 3 3", "call").told[-1])
    assert [line[:7] for line in lines if line.startswith("Round")] == ["Round 1", "Round 2"]
    left = after(first, "bid 3 3", "call", "bid 1 1").without("player_3")
    assert left is not None and code(left.told[-1]) == "dice.left"
    assert lines[-4:-1] == ["  player_3 forfeits", sentence(left.told[-1]), ""]
    assert lines[-1] == f"{sentence(ended(match))}."


def test_of_several_players_the_others_share_what_one_lost() -> None:
    state = after(table("11", "22", "33", "44", "55"), "bid 1 2", "bid 3 2", "call")
    assert state.scores() == {
        "player_1": 1 / 4, "player_2": -1, "player_3": 1 / 4, "player_4": 1 / 4, "player_5": 1 / 4
    }  # fmt: skip


def test_after_the_end_the_dice_lie_as_they_were_shown() -> None:
    start = table("12556", "23356")
    assert after(start, "bid 3 5", "call").hands == start.hands


@pytest.mark.parametrize(("wild", "loser"), [(True, "player_2"), (False, "player_1")])
def test_ones_count_as_every_face_where_they_are_wild(wild: bool, loser: str) -> None:
    state = after(table("115", "123", wild=wild), "bid 4 5", "call")
    assert values(state.outcome)["loser"] == loser
    assert ("Ones count" in state.observe("player_1").rules) == wild


def test_where_ones_are_bid_only_ones_count() -> None:
    assert count((1, 1, 5), 5, wild=True) == 3
    assert count((1, 1, 5), 1, wild=True) == count((1, 1, 5), 1, wild=False) == 2
    state = after(table("115", "123", wild=True), "bid 4 1", "call")
    assert values(state.outcome)["loser"] == "player_1"


# -------------------------------------------------------------------------------- elimination


def test_who_is_wrong_gives_up_a_die_and_begins() -> None:
    state = after(table("55", "55", "55", rounds="elimination"), "bid 6 5", "call")
    assert [len(hand) for hand in state.hands] == [2, 1, 2]
    assert state.to_move == "player_2" and state.round == 1
    state = after(table("55", "55", "55", rounds="elimination"), "bid 1 1", "bid 2 1", "call")
    assert [len(hand) for hand in state.hands] == [2, 1, 2]
    assert state.to_move == "player_2"  # who bid, not who called


def test_who_has_no_dice_is_out_and_places_count() -> None:
    state = table("1", "1", "1", "1", rounds="elimination")
    state = after(state, "bid 4 1", "call")  # it holds: player_2 is out, the next one begins
    assert state.places == (1,) and state.to_move == "player_3"
    assert "are out" in state.observe("player_2").view
    state = replace(state, hands=((2,), (), (2,), (2,)))
    state = after(state, "bid 1 2", "bid 2 2")
    assert state.to_move == "player_1"  # player_2 is passed over in turn, too
    state = after(state, "call")
    assert state.places == (1, 0) and state.to_move == "player_3"
    state = replace(state, hands=((), (), (3,), (3,)))
    state = after(state, "bid 2 4", "call")
    assert state.over and state.places == (1, 0, 2)
    assert state.scores() == {
        "player_1": pytest.approx(-1 / 3),
        "player_2": -1,
        "player_3": pytest.approx(1 / 3),
        "player_4": 1,
    }


def test_each_round_is_rolled_anew() -> None:
    state = begun(3, players=4, dice=5, rounds="elimination")
    later = after(state, "bid 1 1", "bid 20 6", "call")
    assert later.hands != state.hands and sorted(map(len, later.hands)) == [4, 5, 5, 5]
    # The last one loses each time: the others roll five dice again, and would roll the same ones.
    rolls = list[Hands]()
    for _ in range(4):
        rolls.append(state.hands[:3])
        state = replace(state, turn=3)
        lie = f"bid {sum(map(len, state.hands))} {1 + (state.hands[0][0] == 1)}"
        state = after(state, lie, "call")
    assert state.round == 4 and [*map(len, state.hands)] == [5, 5, 5, 1]
    assert len({*rolls, state.hands[:3]}) == 5


# -------------------------------------------------------------------------------- who leaves


def test_with_two_players_or_one_round_who_leaves_ends_the_game() -> None:
    assert begun(0, rounds="elimination").without("player_1") is None
    assert begun(0, players=5).without("player_1") is None


def test_who_leaves_is_out_and_a_new_round_begins() -> None:
    state = after(begun(0, players=4, rounds="elimination"), "bid 2 2", "bid 3 3")
    left = state.without("player_3")
    assert left is not None
    assert (left.places, left.bids, left.to_move) == ((2,), (), "player_4")
    assert [len(hand) for hand in left.hands] == [5, 5, 0, 5]
    assert code(left.told[-1]) == "dice.left" and values(left.told[-1]) == {"role": "player_3"}
    assert left.told[-1] in left.observe("player_1").view
    assert left.without("player_3") == left
    other = state.without("player_1")
    assert other is not None and other.to_move == "player_2"


def test_the_last_one_left_has_won() -> None:
    state = begun(0, players=3, rounds="elimination")
    for role in ("player_2", "player_1"):
        following = state.without(role)
        assert following is not None
        state = following
    assert state.over and values(state.outcome) == {"role": "player_1"}
    assert state.scores() == {"player_1": 0, "player_2": -1, "player_3": 1}
    assert state.without("player_3") == state


# -------------------------------------------------------------------------------- rules


@pytest.mark.parametrize("players", range(2, 11))
@pytest.mark.parametrize("rounds", ["one", "elimination"])
def test_two_to_ten_play(players: int, rounds: str) -> None:
    """The peer has two players only."""
    rules: dict[str, Any] = {"players": players, "dice": 2, "rounds": rounds}
    assert not [*problems(GAME, players, **rules)]
    state, movers = begun(0, **rules), []
    for quantity in range(1, players + 1):
        movers.append(state.to_move)
        state = state.apply(f"bid {quantity} 1")
    assert (*movers, state.to_move) == (*state.roles, "player_1")


def test_the_rules_say_what_bounds_bids_who_begins_and_what_scores() -> None:
    one = begun(0).observe("player_1").rules
    many = begun(0, rounds="elimination").observe("player_1").rules
    for told in (one, many):
        assert "never more" in told
    assert "loses a die" in many and "begins" in many and "Places score" in many
    assert "begins" not in one and "Places" not in one


def test_nobody_has_won_anything_before_the_end() -> None:
    for rounds in ("one", "elimination"):
        state = begun(0, players=3, rounds=rounds)
        assert state.scores() == dict.fromkeys(state.roles, 0)
    assert after(begun(0), "bid 1 1", "call").without("player_1") is not None


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"players": 11}, ("setting.range", "players")),
        ({"dice": 0}, ("setting.range", "dice")),
        ({"faces": 1}, ("setting.range", "faces")),
        ({"rounds": "two"}, ("setting.choice", "rounds")),
    ],
)
def test_wrong_rules_are_named(rules: dict[str, Any], words: Refusal) -> None:
    with refused_rules(*words):
        GAME.new(0, **rules)


# -------------------------------------------------------------------------------- properties


@SMALL
@given(seeds, rulesets, st.data())
def test_whatever_is_bid_a_game_ends(seed: int, rules: dict[str, Any], data: st.DataObject) -> None:
    """Players that bid as low as they can, and call as late, play longest."""
    state, n, late = begun(seed, **rules), 0, data.draw(st.booleans())
    dice, faces = rules["dice"] * rules["players"], rules["faces"]
    while not state.over:
        legal = state.legal()
        move = legal[0] if late else data.draw(st.sampled_from((legal[0], legal[-1])))
        assert state.to_move == f"player_{state.turn + 1}" and state.hands[state.turn]
        state, n = state.apply(move), n + 1
        assert sum(map(len, state.hands)) <= dice
        bids = [bid[1:] for bid in state.bids]
        assert bids == sorted({*bids})
    rounds = dice if rules["rounds"] == "elimination" else 1
    assert n <= rounds * (dice * faces + 1)
    assert sum(state.scores().values()) == pytest.approx(0)
    if rules["rounds"] == "elimination":
        assert sorted(state.scores().values())[-1] == 1
        assert len(set(state.scores().values())) == rules["players"]


@SMALL
@given(seeds, rulesets, st.data())
def test_others_dice_change_nothing_that_one_sees(
    seed: int, rules: dict[str, Any], data: st.DataObject
) -> None:
    """By hand, not by `redrawn`."""
    state = data.draw(st.sampled_from(play(GAME, seed, **rules).states))
    assert isinstance(state, Dice)
    seat = data.draw(st.integers(0, rules["players"] - 1))
    role, face = f"player_{seat + 1}", data.draw(st.integers(1, rules["faces"]))
    hands = tuple(
        hand if other == seat else (face,) * len(hand) for other, hand in enumerate(state.hands)
    )
    assert replace(state, hands=hands).observe(role) == state.observe(role)
    drawn = state.redrawn(role, random.Random(seed))
    assert drawn.hands[seat] == state.hands[seat]
    assert [*map(len, drawn.hands)] == [*map(len, state.hands)]
    assert drawn.observe(role) == state.observe(role)
    if state.to_move == role:
        assert drawn.good(random.Random(1)) == state.good(random.Random(1))


def test_hands_are_redrawn_as_they_were_rolled() -> None:
    state, rng = begun(0, players=2, dice=1), random.Random(2)
    faces = [state.redrawn("player_1", rng).hands[1][0] for _ in range(6_000)]
    for face in range(1, 7):
        assert faces.count(face) == pytest.approx(1_000, abs=120)  # four standard deviations


@pytest.mark.parametrize("wild", [True, False])
@pytest.mark.parametrize(("own", "others", "faces"), [((1, 2, 2), 3, 4), ((), 4, 3), ((3,), 0, 6)])
def test_the_chance_of_a_bid_is_that_of_counting_all_rolls(
    own: tuple[int, ...], others: int, faces: int, wild: bool
) -> None:
    rolls = list(product(range(1, faces + 1), repeat=others))
    for quantity, face in product(range(1, len(own) + others + 2), range(1, faces + 1)):
        holds = sum(
            sum(die == face or (wild and die == 1) for die in (*own, *roll)) >= quantity
            for roll in rolls
        )
        found = chance((quantity, face), own, others, faces, wild=wild)
        assert found == pytest.approx(holds / len(rolls), abs=1e-12)


def test_able_stand_ins_beat_chance() -> None:
    won = 0
    for seed in range(400):
        state, rng = begun(seed), random.Random(seed)
        able = f"player_{1 + seed % 2}"
        while not state.over:
            state = state.apply(state.good(rng) if state.to_move == able else state.sample(rng))
        won += state.scores()[able] == 1
    assert won > 280  # half would be 200, give or take 10


def test_who_leaves_stands_behind_all_who_lost() -> None:
    state = GAME.new(1, players=4, rounds="elimination", dice=1)
    assert isinstance(state, Dice)
    while not state.places:
        state = state.apply("call" if state.bids else "bid 1 1")
    lost = f"player_{state.places[0] + 1}"
    leaver = next(role for role in state.roles if role != lost)
    left: State | None = state.without(leaver)
    assert left is not None
    while not left.over:
        left = left.apply(left.good(random.Random(1)))
    assert left.scores()[leaver] == -1.0 < left.scores()[lost]
