"""Poker by the rules: whose turn, which raises, who wins what, and what nobody may see."""

import copy
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from pokerkit import Card, Deck
from pokerkit.notation import PokerStarsParser
from refusals import Refusal, refused
from statements import code, values

from raybench import games
from raybench.games import InvalidMove, Written
from raybench.games.parts.conformance import play, replayed
from raybench.games.parts.poker.options import options
from raybench.games.parts.poker.story import Hand
from raybench.games.parts.poker.table import dealt
from raybench.games.poker import Poker

POKER = games.load("poker")


def _new(seed: int = 1, **rules: Any) -> Poker:
    state = POKER.new(seed, **rules)
    assert isinstance(state, Poker)
    return state


def _dealt(holes: str, board: str, stacks: tuple[int, ...], **rules: Any) -> Poker:
    """Return the first hand, with these cards for the seats from the left of the button."""
    state = _new(players=len(stacks), **rules)
    cards = list(Card.parse(holes))
    opened = list(Card.parse(board))
    rest = [card for card in Deck.STANDARD if card not in cards + opened]
    deck = (*cards, rest[0], *opened[:3], rest[1], opened[3], rest[2], opened[4], *rest[3:])
    blinds = (state.rules.small_blind, state.rules.big_blind)
    table = dealt([stacks[seat] for seat in state.order], blinds, deck)
    return replace(state, stacks=stacks, deck=deck, table=table)


def _played(state: Poker, *moves: str) -> Poker:
    for move in moves:
        state = state.apply(move)
    return state


def _refused(state: Poker, move: str) -> str:
    """Return the code of the reason why a move is refused, which says what is possible, too."""
    with pytest.raises(InvalidMove) as refused:
        state.apply(move)
    assert values(refused.value)["may"] == str(options(state.table))
    assert len(str(refused.value)) < 250 and str(refused.value).isprintable()
    return code(values(refused.value)["why"])


def _street(state: Poker) -> int:
    return sum(map(len, state.table.board_cards))


def _after(state: Poker) -> dict[int, int]:
    """Return the chips after the first hand, by seat."""
    return dict(zip(state.past[0].order, state.past[0].after, strict=True))


# Whose turn it is


def test_of_two_the_button_posts_the_small_blind_and_begins() -> None:
    state = _new()
    assert state.order == (1, 0)
    assert (state.to_move, list(state.table.bets)) == ("player_1", [2, 1])
    state = _played(state, "call", "check")
    assert (_street(state), state.to_move) == (3, "player_2")


@pytest.mark.parametrize("players", range(3, 11))
def test_of_more_the_third_after_the_button_begins(players: int) -> None:
    state = _new(players=players)
    assert state.to_move == "player_1"
    assert state.order[2 % players] == 0
    assert list(state.table.bets)[:3] == [1, 2, 0]


def test_the_big_blind_has_the_option() -> None:
    limped = _played(_new(players=3), "call", "call")
    assert (_street(limped), limped.to_move) == (0, "player_3")
    assert "check" in limped.legal() and "raise to 4" in limped.legal()
    assert _street(limped.apply("check")) == 3
    raised = limped.apply("raise to 6")
    assert (_street(raised), raised.to_move) == (0, "player_1")


def test_a_round_ends_only_when_everybody_has_answered_the_last_raise() -> None:
    state = _played(_new(players=4), "call", "call", "call", "raise to 8")
    seen = []
    for move in ("call", "raise to 20", "fold", "call", "call"):
        assert _street(state) == 0
        seen.append(state.to_move)
        state = state.apply(move)
    assert seen == ["player_1", "player_2", "player_3", "player_4", "player_1"]
    assert (_street(state), state.to_move) == (3, "player_4")


def test_there_are_four_rounds_of_betting() -> None:
    state = _played(_new(), "call", "check")
    for shown in (3, 4, 5):
        assert _street(state) == shown
        state = _played(state, "check", "check")
    assert len(state.past) == 1 and state.to_move == "player_2"


def test_the_button_goes_round_the_seats_with_chips() -> None:
    state = _new(players=4, hands=5)
    buttons = [state.order[-1]]
    while not state.over:
        hand = len(state.past)
        state = state.apply("fold")
        if len(state.past) > hand and not state.over:
            buttons.append(state.order[-1])
    assert buttons == [1, 2, 3, 0, 1]


# What may be bet


def test_raises_are_as_large_as_the_last() -> None:
    state = _new(players=3)
    assert _refused(state, "raise to 3") == "poker.too_little"
    assert (options(state.table).lowest, options(state.table).most) == (4, 200)
    state = state.apply("raise to 10")
    assert _refused(state, "raise to 17") == "poker.too_little"
    assert (options(state.table).lowest, options(state.table).most) == (18, 200)
    assert state.apply("raise to 18").to_move == "player_3"


def test_a_short_all_in_does_not_open_the_betting_again() -> None:
    hands = "2c2d 3c3d 4c4d"
    state = _dealt(hands, "AhKhQs9s8d", (100, 26, 100))
    state = _played(state, "raise to 20", "all in", "call")  # 26: less than the 38 of a full raise
    assert state.to_move == "player_1"
    assert state.legal() == ("fold", "call")
    assert _refused(state, "raise to 60") == "poker.not_reopened"
    full = _dealt(hands, "AhKhQs9s8d", (100, 38, 100))
    full = _played(full, "raise to 20", "all in", "call")
    assert "raise to 56" in full.legal()


def test_a_short_all_in_over_the_big_blind_does_not_open_the_betting_again() -> None:
    state = _dealt("2c2d 3c3d 4c4d", "AhKhQs9s8d", (100, 3, 100))
    state = _played(state, "call", "all in")  # player_2 raises the 2 to 3
    assert (state.to_move, "raise to 5" in state.legal()) == ("player_3", True)
    limper = state.apply("call")
    assert (limper.to_move, limper.legal()) == ("player_1", ("fold", "call"))
    assert "raise to 13" in state.apply("raise to 8").legal()


def test_who_checked_cannot_raise_an_all_in_below_the_least_bet() -> None:
    state = _dealt("2c2d 3c3d 4c4d", "AhKhQs9s8d", (100, 100, 3))
    state = _played(state, "call", "call", "check", "check", "all in")  # player_3 bets 1
    assert (state.to_move, "raise to 3" in state.legal()) == ("player_1", True)
    state = state.apply("call")
    assert (state.to_move, state.legal()) == ("player_2", ("fold", "call"))


def test_short_all_ins_that_come_to_a_raise_open_the_betting_again() -> None:
    state = _dealt("2c2d 3c3d 4c4d 5c5d", "AhKhQs9s8d", (200, 200, 30, 45))
    # player_1 raises to 20; 30 and then 45 are short of 38 and 48, but 25 more in all.
    state = _played(state, "raise to 20", "fold", "all in", "all in")
    assert state.to_move == "player_1"
    assert _refused(state, "raise to 80") == "poker.no_caller"
    more = _dealt("2c2d 3c3d 4c4d 5c5d", "AhKhQs9s8d", (200, 200, 30, 45))
    more = _played(more, "raise to 20", "call", "all in", "all in")
    assert more.to_move == "player_1" and "raise to 63" in more.legal()


def test_who_has_not_acted_may_raise_over_a_short_all_in() -> None:
    state = _dealt("2c2d 3c3d 4c4d", "AhKhQs9s8d", (100, 26, 100))
    state = _played(state, "raise to 20", "all in")
    assert state.to_move == "player_3" and "raise to 44" in state.legal()


def test_all_chips_may_call_more_than_they_are() -> None:
    state = _dealt("AcAd KcKd", "2h3h4s9sJd", (30, 200))
    state = _played(state, "call", "raise to 150")
    assert state.legal() == ("fold", "call")
    assert _refused(state, "raise to 300") == "poker.call_is_all_in"
    done = state.apply("call")
    assert _after(done) == {0: 0, 1: 230}
    back = [(event.seat, event.chips) for event in done.past[0].events if event.what == "returned"]
    assert back == [(1, 120)]


def test_nobody_raises_those_who_are_all_in() -> None:
    state = _dealt("AcAd KcKd", "2h3h4s9sJd", (30, 200))
    state = state.apply("all in")
    assert state.legal() == ("fold", "call")
    assert _refused(state, "all in") == "poker.no_caller"


ACCEPTED = {
    "raise to 12": "12",
    "Raise to 12.": "12",
    "RAISE TO $12": "12",
    "raise 12": "12",
    "**raise to 12 chips**": "12",
    "I raise to 12": "12",
    "I'll raise it to 12": "12",
    "raise_to(12)": "12",
    "raise: 12": "12",
    "bet 12": "12",
    "raises 10 to 12": "12",
    "raise by 10": "12",
    "re-raise to 12.00": "12",
    "raise to 1_2": None,
    "raise to 1,2": None,
    "raise to 12,50": None,
    "raise to 0,012": None,
    "raise to 12.000": None,
    "raise to 1'2": None,
    "raise to 1*2": None,
    "raise to １２": "12",
    "raise to ١٢": "12",
    "raise to 0000000000012": "12",
    "raise to 12, please": None,
    "I call, 1": "call",
    "raise to 12.5": None,
    "raise to -12": None,
    "raise": None,
    "raise to": None,
    "raise a lot": None,
    "raise to 999999999999": None,
    "raise to 201": None,
    "raise to 200": "200",
    "raise to 200 (all in)": "200",
    "raise to 100 (all in)": None,
    "all in": "200",
    "All-in!": "200",
    "allin": "200",
    "I go all in": "200",
    "all-in for 200": "200",
    "all in 150": None,
    "I'm all in": "200",
    "I am all in.": "200",
    "all in, raise to 200": "200",
    "all in (raise to 200)": "200",
    "all in (raise to 100)": None,
    "shove": "200",
    "call": "call",
    "'call' (1 more)": "call",
    "call 2 more": None,
    "call all in": None,
    "call, all in": None,
    "Call 1": "call",
    "call 2": "call",
    "I call the bet": "call",
    "call 50": None,
    "`fold`": "fold",
    "Player_1 folds": "fold",
    "player_2 folds": None,
    "player_2: raise to 12": None,
    "fold my hand": "fold",
    "check": None,
    "check/fold": None,
    "fold or call": None,
}


def test_moves_are_read_as_people_write_them() -> None:
    state, found = _new(), dict[str, str | None]()
    for move, act in ACCEPTED.items():
        if act is None:
            assert _refused(state, move).startswith("poker."), move
            found[move] = None
        else:
            after = state.apply(move)
            found[move] = after.acts[-1] if not after.past else "fold"
    assert found == ACCEPTED


@examples(20)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_what_is_offered_can_be_copied(seed: int, players: int) -> None:
    """Each option is a move as it stands there, with its quotes and what is said behind it."""
    for state in play(POKER, seed, players=players, hands=3, stack=30).states[:-1]:
        task = state.observe(str(state.to_move)).task
        offered = re.findall(r"'[^'N]+'(?: \([^)]+\))?", task)
        assert len(offered) > 1 or offered == ["'check'"]
        for option in offered:
            for move in (option, option.replace("'", ""), option.split("'")[1]):
                state.apply(move)


def test_all_in_is_offered_with_what_it_comes_to() -> None:
    state = _dealt("2c2d 3c3d", "AhKhQs9s8d", (17, 200))
    state = _played(state, "call", "raise to 12")
    offered = state.observe("player_1").task
    assert "'call' (10 more)" in offered and "(raise to 17)" in offered
    assert "raise to N" not in offered
    assert _played(state, "all in (raise to 17)").acts[-1] == "17"
    assert _played(state, "call (10 more)").table.street_index == 1


def test_a_call_that_takes_all_chips_is_all_in() -> None:
    state = _played(_dealt("AcAd KcKd", "2h3h4s9sJd", (30, 200)), "call", "raise to 150")
    assert _after(state.apply("I call, all in")) == {0: 0, 1: 230}


def test_where_nothing_is_bet_one_checks() -> None:
    state = _played(_new(), "call")
    assert _refused(state, "call") == "poker.nothing_to_call"
    assert _refused(state, "fold") == "poker.free_check"


def test_thousands_are_written_with_commas() -> None:
    state = _new(stack=5000)
    for move in ("raise to 1,200", "raise to 1'200", "raise to $1,200!", "all in, 5,000"):
        assert state.apply(move).acts in (("1200",), ("5000",))
    for move in (
        "raise to 12,00",
        "raise to 1,2000",
        "raise to 1,200,0",
        "raise to 1.200",
        "raise to 20.000",
        "raise to 9,5",
        "raise to 1,200.50",
        "raise to 01,200",
    ):
        assert _refused(state, move) == "poker.no_move"


def test_a_long_text_is_no_move_however_it_begins() -> None:
    """Of 'fold' and 197 spaces before 'is wrong: call' only 'fold' was read."""
    for move in (f"fold{' ' * 197}is wrong: call", "raise to " + "9" * 10_000):
        assert _refused(_new(), move) == "poker.too_long"
    assert _new().apply("fold" + " " * 500).past


def test_reasons_hold_no_signs_that_nobody_sees() -> None:
    with pytest.raises(InvalidMove) as error:
        _new().apply("a\x00\u202eb\u2028\ud800\nc")
    assert values(values(error.value)["why"])["move"] == "a\\x00\\u202eb \\ud800 c"
    assert str(error.value).isprintable()


@examples(20)
@given(st.integers(0, 10_000), st.integers(2, 10))
def test_what_is_listed_is_what_is_allowed(seed: int, players: int) -> None:
    state = random.Random(seed).choice(play(POKER, seed, players=players, hands=2).states[:-1])
    listed = state.legal() or ()
    for move in ("fold", "check", "call", *(f"raise to {to}" for to in range(0, 420, 7))):
        canonical = move if move in listed else move.replace("raise to", "bet")
        if canonical in listed:
            state.apply(move)
        else:
            with pytest.raises(InvalidMove):
                state.apply(move)


# Who wins what


def test_side_pots_of_three_all_in() -> None:
    """The shortest has the best hand, the second the second best: each wins its own pot."""
    # From the left of the button: player_2 (50 chips), player_3 (120), player_1 (200).
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (200, 50, 120))
    state = _played(state, "all in", "all in")
    assert [pot.amount for pot in state.table.pots] == []  # the round is not over
    state = state.apply("all in")
    wins = [(e.seat, e.chips, e.to) for e in state.past[0].events if e.what == "wins"]
    assert wins == [(1, 150, 0), (2, 140, 1)]
    assert _after(state) == {0: 80, 1: 150, 2: 140}


def test_side_pots_are_seen_while_the_others_play_on() -> None:
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (200, 50, 120))
    state = _played(state, "raise to 50", "call", "call", "bet 30", "call")
    view = state.observe("player_3").view
    main, side = "main pot 150 for player_2, player_3, player_1", "side pot 60 for player_3, player"
    assert main in view and side in view
    (shown,) = (line for line in view.splitlines() if line.startswith("player_2 (small blind): "))
    assert "all in" in shown


def test_split_pots_give_the_odd_chip_to_the_left_of_the_button() -> None:
    # player_2 and player_3 hold the same; player_1's chips make the pot odd.
    state = _dealt("AcKd AdKc 2c7d", "QhJsTs3h4d", (200, 200, 200))
    state = _played(state, "raise to 5", "call", "call", "bet 5", "call", "fold", *["check"] * 4)
    assert _after(state) == {0: 195, 1: 203, 2: 202}


def test_all_split_what_the_board_plays() -> None:
    state = _dealt("2c2d 3c3d 4c4d", "AhKhQhJhTh", (200, 200, 200))
    state = _played(state, "call", "call", "check", *["check"] * 9)
    assert _after(state) == {0: 200, 1: 200, 2: 200}


def test_the_big_blind_wins_when_all_fold() -> None:
    state = _played(_new(players=3), "fold", "fold")
    assert _after(state) == {0: 200, 1: 199, 2: 201}
    assert "no showdown" in state.past[0].line


def test_a_big_blind_posted_short_is_called_in_full() -> None:
    # From the left of the button: player_2 (6 chips), player_3 (1, all of the blind), player_1.
    state = _dealt("7c2d AcAd KcKd", "2h3h4s9sJd", (200, 6, 1))
    assert (state.to_move, list(state.table.bets)) == ("player_1", [1, 1, 0])
    assert (options(state.table).cost, options(state.table).lowest) == (2, 4)
    assert str(options(state.table)) in state.observe("player_1").task
    called = state.apply("call")
    assert "'call' (1 more)" in called.observe("player_2").task
    called = called.apply("call")
    assert "player_1 calls 2, player_2 calls 1" in called.observe("player_1").view
    done = _played(called, *["check"] * 6)
    assert _after(done) == {0: 200, 1: 4, 2: 3}


def test_who_is_left_alone_with_a_short_blind_owes_it_nothing() -> None:
    state = _dealt("7c2d AcAd KcKd", "2h3h4s9sJd", (200, 200, 1)).apply("fold")
    assert state.legal() == ("check",)
    assert _after(state.apply("check")) == {0: 200, 1: 199, 2: 2}


def test_calls_shorter_than_the_big_blind_do_not_lower_it() -> None:
    state = _dealt("7c2d AcAd KcKd QcQd", "2h3h4s9sJd", (7, 200, 200, 1), big_blind=10)
    state = state.apply("call")
    assert (options(state.table).cost, options(state.table).lowest) == (10, 20)


def test_blinds_may_leave_nothing_to_decide() -> None:
    state = _new(players=2, hands=3, stack=2)
    assert state.to_move == "player_1"
    done = state.apply("call")
    assert done.past and {*_after(done).values()} in ({0, 4}, {2})


def _value(cards: tuple[Card, ...]) -> tuple[Any, ...]:
    """Rank five cards: written anew for this test, to hold against what pokerkit paid."""
    order = "23456789TJQKA"
    ranks = sorted((order.index(card.rank) for card in cards), reverse=True)
    counts = sorted(((n, rank) for rank, n in Counter(ranks).items()), reverse=True)
    shape, high = tuple(n for n, _ in counts), tuple(rank for _, rank in counts)
    flush = len({card.suit for card in cards}) == 1
    wheel = ranks == [12, 3, 2, 1, 0]
    if len(counts) == 5 and (ranks[0] - ranks[4] == 4 or wheel):
        return (8 if flush else 4, (3 if wheel else ranks[0],))
    if flush:
        return 5, high
    kinds = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}
    return kinds.get(shape, 0), high


def _payouts(hand: Hand) -> tuple[int, ...]:
    """Pay a hand out from what was put in, who folded and the cards."""
    put: Counter[int] = Counter()
    for event in hand.events:
        if event.what in ("posts", "calls", "bets", "raises"):
            put[event.seat] += event.chips
    folded = {event.seat for event in hand.events if event.what == "folds"}
    board = tuple(card for event in hand.events if event.what == "board" for card in event.cards)
    left = dict(zip(hand.order, hand.before, strict=True))
    for seat, chips in put.items():
        left[seat] -= chips
    levels = sorted({0, *put.values()})
    pots: list[tuple[int, tuple[int, ...]]] = []
    for low, level in pairwise(levels):
        chips = sum(min(each, level) - min(each, low) for each in put.values())
        able = tuple(it for it in hand.order if put[it] >= level and it not in folded)
        if not able:  # whoever put in more has folded
            able = pots[-1][1]
        pots.append((chips, able))
    holes = dict(zip(hand.order, hand.holes, strict=True))
    won: dict[tuple[int, ...], int] = {}
    for chips, able in pots:
        winners = able
        if len(able) > 1:
            worth = {
                seat: max(map(_value, combinations((*holes[seat], *board), 5))) for seat in able
            }
            winners = tuple(seat for seat in able if worth[seat] == max(worth.values()))
        won[winners] = won.get(winners, 0) + chips
    for winners, chips in won.items():
        for seat in winners:
            left[seat] += chips // len(winners)
        left[winners[0]] += chips % len(winners)
    return tuple(left[seat] for seat in hand.order)


@examples(25)
@given(st.integers(0, 10_000), st.integers(2, 10), st.booleans())
def test_chips_go_where_an_independent_count_has_them(seed: int, players: int, good: bool) -> None:
    last = play(POKER, seed, good=good, players=players, hands=6, stack=40).states[-1]
    assert isinstance(last, Poker) and last.past
    for hand in last.past:
        assert hand.after == _payouts(hand), hand.line


@examples(15)
@given(st.integers(0, 10_000), st.integers(2, 10), st.integers(2, 200))
def test_chips_are_conserved(seed: int, players: int, stack: int) -> None:
    for state in play(POKER, seed, players=players, hands=4, stack=stack).states:
        assert isinstance(state, Poker)
        assert sum(state.stacks) == players * stack
        inside = [state.stacks[seat] for seat in state.order]
        if not state.over:
            table = state.table
            pots = sum(pot.amount for pot in table.pots)
            assert sum(table.stacks) + sum(table.bets) + pots == sum(inside)
            assert min((*table.stacks, *table.bets)) >= 0
    assert sum(state.scores().values()) == 0


# What nobody may see


def test_decks_never_repeat_within_a_match() -> None:
    states = play(POKER, 3, players=3, hands=40, stack=2000).states
    decks = {state.deck for state in states if isinstance(state, Poker)}
    last = states[-1]
    assert isinstance(last, Poker) and len(decks) == len(last.past) > 10
    assert all(sorted(map(repr, deck)) == sorted(map(repr, Deck.STANDARD)) for deck in decks)


def test_the_same_cards_fall_whatever_is_played() -> None:
    """Two matches of one seed, the seats exchanged, share their luck."""
    folded, called = _played(_new(), "fold"), _played(_new(), "call", *["check"] * 7)
    assert len(folded.past) == len(called.past) == 1
    assert folded.deck == called.deck and folded.past[0].holes == called.past[0].holes


def test_others_cards_are_not_seen() -> None:
    for state in play(POKER, 5, players=4, hands=1).states[:-1]:
        assert isinstance(state, Poker)
        for role in state.roles:
            view = state.observe(role).view
            own = state.hole(int(role[-1]) - 1)
            board = [card for cards in state.table.board_cards for card in cards]
            seen = {repr(card) for card in Deck.STANDARD if repr(card) in view}
            assert seen == {repr(card) for card in (*own, *board)}


def test_beaten_hands_are_mucked_and_never_seen() -> None:
    state = _dealt("AcAd KcKd", "2h3h4s9sJd", (200, 200), hands=1)
    state = _played(state, "call", *["check"] * 7)
    # player_2 was first to act, shows, and is not beaten by player_1.
    ends = [it for it in state.past[0].events if it.what in ("shows", "mucks")]
    assert [(it.what, it.seat) for it in ends] == [("shows", 1), ("mucks", 0)]
    assert "(one pair)" in state.past[0].line
    assert "Kc" not in state.observe("player_2").view
    assert "Kc Kd" in state.observe("player_1").view


def test_all_show_when_somebody_is_all_in() -> None:
    state = _dealt("AcAd KcKd", "2h3h4s9sJd", (200, 200))
    state = _played(state, "all in", "call")
    assert state.over and state.to_move is None
    assert "Kc Kd" in state.observe("player_2").view


def test_the_last_to_bet_shows_first() -> None:
    state = _dealt("AcAd KcKd", "2h3h4s9sJd", (200, 200))
    state = _played(state, "call", *["check"] * 6, "bet 4", "call")
    shown = [event.seat for event in state.past[0].events if event.what == "shows"]
    assert shown == [0, 1]


def test_what_is_drawn_anew_agrees_with_what_was_seen() -> None:
    states = play(POKER, 8, players=5, hands=4).states
    rng = random.Random(2)
    changed = 0
    for state in states:
        for role in state.roles:
            other = state.redrawn(role, rng)
            assert isinstance(state, Poker) and isinstance(other, Poker)
            assert other.observe(role) == state.observe(role)
            assert other.legal() == state.legal()
            changed += other.deck != state.deck
            assert len({*other.deck}) == 52
            for hand in other.past:
                flat = [card for hole in hand.holes for card in hole]
                opened = [card for e in hand.events if e.what == "board" for card in e.cards]
                assert len({*flat, *opened}) == len(flat) + len(opened)
    assert changed


def test_a_move_leaves_the_state_as_it_was() -> None:
    rng = random.Random(4)
    for state in play(POKER, 4, players=6, hands=2).states[:-1]:
        assert isinstance(state, Poker)
        before = copy.deepcopy(state.table)
        for _ in range(3):
            state.apply(state.sample(rng))
        assert state.table == before


def test_the_view_tells_what_a_player_at_the_table_sees() -> None:
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (200, 200, 200))
    state = _played(state, "raise to 6", "call", "call", "bet 10", "fold")
    seen = state.observe("player_1")
    lines = seen.view.splitlines()
    numbers = [list(map(int, re.findall(r"\b\d+\b", line))) for line in lines]
    assert numbers == [
        [1, 6], [], [], [],  # hand, cards, board
        [184, 10], [194], [194, 0], [28, 10],  # seats and pot
        [1, 2, 6, 5, 4], [10],  # bets by round
    ]  # fmt: skip
    assert "player_1" in lines[0] and "Qc Qd" in lines[1] and "2h 3h 4s" in lines[2]
    places = (
        "player_2 (small blind): ",
        "player_3 (big blind): folded",
        "player_1 (button, you): ",
    )
    assert all(line.startswith(place) for line, place in zip(lines[4:7], places, strict=True))
    assert "player_3 calls 4" in lines[8] and lines[9].endswith(
        ": player_2 bets 10, player_3 folds"
    )
    may = options(state.table)
    assert (may.cost, may.lowest, may.most) == (10, 20, 194) and str(may) in seen.task


# The match


def test_who_has_no_chips_is_out_and_the_last_one_ends_it() -> None:
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (50, 200, 60))
    state = _played(state, "all in", "fold", "call")
    assert "player_1 lost 50" in state.past[0].line and _after(state)[0] == 0
    assert sorted(state.order) == [1, 2] and "Out: player_1" in state.observe("player_1").view
    assert "not in" in state.observe("player_1").view
    # The button, which now posts the small blind, is player_3, who had the big one.
    assert (state.order, state.to_move) == ((1, 2), "player_3")


def test_leaving_is_worse_than_losing_everything() -> None:
    state = _new(players=3).apply("raise to 10")
    left = state.without("player_2")
    assert isinstance(left, Poker) and left.to_move == "player_3"
    view = left.observe("player_3").view
    (line,) = (line for line in view.splitlines() if line.startswith("player_2 ("))
    assert " left " in line and "folded" in line
    while not left.over:
        left = left.apply("check" if "check" in left.legal() else "fold")
        assert 1 not in left.order or not left.past
    scores = left.scores()
    assert scores["player_2"] == -201 and min(scores["player_1"], scores["player_3"]) > -201
    assert sum(scores.values()) == 0
    assert "player_2 left with 199" in left.outcome


def test_who_leaves_folds_even_where_checking_is_free() -> None:
    state = _played(_new(players=3), "call", "call", "check")
    left = state.without("player_3")
    assert isinstance(left, Poker) and left.to_move == "player_2"
    left = left.apply("check")
    assert left.to_move == "player_1" and left.acts[-1] == "leave"


def test_the_last_one_left_has_no_more_to_play() -> None:
    state = _new(players=3).without("player_2")
    assert state is not None
    state = state.without("player_1")
    assert state is not None and state.over
    assert state.scores() == {"player_1": -201, "player_2": -201, "player_3": 402}
    assert state.without("player_3") == state
    assert _new().without("player_1") is None


def test_where_a_leaver_wins_all_the_others_share_what_it_loses() -> None:
    """Who was all in and left won the hand: nobody else had chips, and 60 were nobody's."""
    state = _dealt("2c3d 4c5d AcAd", "AhKhKs9s9d", (20, 20, 20), stack=20, hands=1)
    left = state.apply("all in").without("player_1")
    assert isinstance(left, Poker)
    left = _played(left, "call", "call")
    assert left.stacks == (60, 0, 0)
    assert left.scores() == {"player_1": -21, "player_2": 10.5, "player_3": 10.5}


def test_who_is_bust_has_nothing_to_leave() -> None:
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (50, 200, 60))
    state = _played(state, "all in", "fold", "call")
    assert state.stacks[0] == 0 and state.without("player_1") == state


def test_nobody_has_won_anything_before_the_end() -> None:
    state = _new(players=3, hands=2).apply("fold").apply("fold")
    assert state.past and not state.over
    assert state.scores() == dict.fromkeys(state.roles, 0)


def test_pots_that_the_same_hands_win_are_split_as_one() -> None:
    """As pokerkit does; apart, 55 and 20 would be split 19/18/18 and 8/6/6."""
    holes, board = "2c2d 4c4d Kc3d Kd3c Kh3s", "AhQsJdTc9c"
    order = _new(players=5).order
    stacks = tuple(11 if seat == order[0] else 16 for seat in range(5))
    state = _dealt(holes, board, stacks).apply("all in")
    while not state.past:
        state = state.apply("call")
    assert state.past[0].after == _payouts(state.past[0]) == (0, 0, 25, 25, 25)


@examples(15)
@given(st.integers(0, 10_000), st.integers(3, 6))
def test_tables_go_on_whoever_leaves(seed: int, players: int) -> None:
    rng = random.Random(seed)
    state: games.State = _new(seed, players=players)
    while state.to_move is not None:
        if rng.random() < 0.1:
            state = state.without(rng.choice(state.roles)) or state
        else:
            state = state.apply(state.sample(rng))
    assert abs(sum(state.scores().values())) < 1e-9


def test_good_play_wins() -> None:
    won = 0.0
    for seed in range(25):
        for own in ("player_1", "player_2"):
            rng = random.Random(f"{seed}/{own}")
            state: games.State = _new(seed)
            while (role := state.to_move) is not None:
                state = state.apply(state.good(rng) if role == own else state.sample(rng))
            won += state.scores()[own]
    assert won / 50 > 10


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"players": 11}, ("setting.range", "players")),
        ({"hands": 0}, ("setting.range", "hands")),
        ({"small_blind": 3}, ("setting.range", None)),
        ({"stack": 1}, ("setting.range", "stack")),
    ],
)
def test_wrong_settings_are_named(rules: dict[str, Any], reason: Refusal) -> None:
    with refused(*reason):
        _new(**rules)


# The hand history


def _history(state: Poker, moves: list[tuple[str, str]], *forfeits: str) -> str:
    names = {role: f"model {role[-1]}" for role in state.roles}
    last = replayed(POKER, state.seed, [move for _, move in moves], players=len(state.roles))
    scores = last.scores() if last.over else {}
    assert POKER.written is not None
    return POKER.written(
        Written(state, tuple(moves), names, scores, last.outcome, forfeits=forfeits)
    )


def test_matches_are_written_as_hand_histories() -> None:
    state = _dealt("AcAd KcKd QcQd", "2h3h4s9sJd", (200, 50, 120), hands=1)
    moves = [("player_1", "raise to 50"), ("player_2", "call"), ("player_3", "call")]
    moves += [("player_3", "bet 30"), ("player_1", "all in"), ("player_3", "call")]
    assert POKER.written is not None
    scores = {"player_1": -120.0, "player_2": 100.0, "player_3": 20.0}
    names = {"player_1": "ann", "player_2": "bob", "player_3": "bob"}
    text = POKER.written(Written(state, tuple(moves), names, scores, ""))
    assert text == HISTORY


HISTORY = """\
PokerStars Hand #1: Hold'em No Limit (1/2)
Table 'raybench ?' 3-max Seat #1 is the button
Seat 1: ann (200 in chips)
Seat 2: bob (player_2) (50 in chips)
Seat 3: bob (player_3) (120 in chips)
bob (player_2): posts small blind 1
bob (player_3): posts big blind 2
*** HOLE CARDS ***
Dealt to bob (player_2) [Ac Ad]
Dealt to bob (player_3) [Kc Kd]
Dealt to ann [Qc Qd]
ann: raises 48 to 50
bob (player_2): calls 49 and is all-in
bob (player_3): calls 48
*** FLOP *** [2h 3h 4s]
bob (player_3): bets 30
ann: raises 120 to 150 and is all-in
bob (player_3): calls 40 and is all-in
Uncalled bet (80) returned to ann
*** SHOW DOWN ***
ann: shows [Qc Qd] (one pair)
bob (player_2): shows [Ac Ad] (one pair)
bob (player_3): shows [Kc Kd] (one pair)
*** TURN *** [2h 3h 4s] [9s]
*** RIVER *** [2h 3h 4s 9s] [Jd]
bob (player_2) collected 150 from main pot
bob (player_3) collected 140 from side pot-1
*** SUMMARY ***
Total pot 290 Main pot 150. Side pot-1 140. | Rake 0
Board [2h 3h 4s 9s Jd]
Seat 1: ann showed [Qc Qd] and lost with one pair
Seat 2: bob (player_2) showed [Ac Ad] and won (150) with one pair
Seat 3: bob (player_3) showed [Kc Kd] and won (140) with one pair


Chips won and lost: ann -120, bob (player_2) +100, bob (player_3) +20
"""


@pytest.mark.parametrize("good", [False, True])
def test_histories_hold_every_chip(good: bool) -> None:
    played = play(POKER, 6, good=good, players=5)
    last = played.states[-1]
    assert isinstance(last, Poker)
    text = _history(_new(6, players=5), list(played.moves))
    assert text.count("*** SUMMARY ***") == len(last.past)
    assert text.count("Dealt to") == sum(len(hand.order) for hand in last.past)
    collected = sum(e.chips for h in last.past for e in h.events if e.what == "wins")
    totals = [line.split()[2] for line in text.splitlines() if line.startswith("Total pot")]
    assert sum(map(int, totals)) == collected


def test_histories_of_forfeits_tell_who_left() -> None:
    two = _history(_new(), [("player_1", "call")], "player_2")
    assert "*** NOT FINISHED ***" in two and "Forfeited: model 2" in two
    state = _new(players=3)
    after = state.apply("call").without("player_2")
    assert after is not None and after.to_move == "player_3"
    assert POKER.written is not None
    moves = (("player_1", "call"), ("player_3", "check"), ("player_3", "check"))
    text = POKER.written(
        Written(state, moves, {}, {}, "", forfeits=("player_2",), left={1: ("player_2",)})
    )
    assert "player_2: folds" in text and "player_3: checks" in text


def _loaded(text: str) -> list[dict[int, int]]:
    """Return everybody's chips after each hand, by number of the seat, as pokerkit replays it."""
    hands = PokerStarsParser()(text, error_status=True)
    ends = [(hand.seats or (), (*hand,)[-1].stacks) for hand in hands]
    return [dict(zip(seats, map(int, chips), strict=True)) for seats, chips in ends]


def test_files_of_matches_are_loaded_as_others_write_them() -> None:
    """Matches are put behind each other as files have them; one of them was forfeited."""
    texts, hands = [], list[Hand]()
    for players, seed in [(2, 1), (3, 2), (6, 3), (10, 4)]:
        played = play(POKER, seed, good=seed % 2 == 0, players=players, stack=20)
        last = played.states[-1]
        assert isinstance(last, Poker) and POKER.written is not None
        names = {role: f"model {role}" for role in last.roles}
        match = Written(played.states[0], played.moves, names, last.scores(), last.outcome)
        texts.append(POKER.written(replace(match, round=str(seed))))
        hands += last.past
    texts.insert(1, _history(_new(), [("player_1", "call")], "player_2"))
    expected = [
        {seat + 1: chips for seat, chips in zip(hand.order, hand.after, strict=True)}
        for hand in hands
    ]
    assert _loaded("\n\n".join(texts)) == expected
    assert len(expected) > 10


def test_parsers_pass_over_what_they_cannot_replay() -> None:
    """They take a big blind that was too short to be posted for the size of all bets."""
    state = _dealt("2c2d 3c3d 4c4d", "AhKhQs9s8d", (200, 200, 1), hands=1)
    moves = [("player_1", "raise to 4"), ("player_2", "fold")]
    assert POKER.written is not None
    text = POKER.written(Written(state, tuple(moves), {}, {}, ""))
    assert ": PokerStars Hand #1: " in text.splitlines()[0]
    assert _loaded(text) == []


def test_histories_of_forfeits_tell_chips_from_scores() -> None:
    """Whoever leaves has the chips that it had: scores count it as worse than losing all."""
    first = _new(players=3, hands=1)
    left = _played(first, "call").without("player_2")
    assert isinstance(left, Poker)
    left = _played(left, "check", "check", "bet 2", "fold")
    assert left.over and (left.stacks, left.gone) == ((203, 199, 198), (1,))
    assert re.findall(r"\b\d+", left.outcome) == ["1", "203", "199", "198"]
    moves = (
        ("player_1", "call"),
        ("player_3", "check"),
        ("player_3", "check"),
        ("player_1", "bet 2"),
        ("player_3", "fold"),
    )
    assert POKER.written is not None
    names = {"player_1": "ann", "player_2": "bob", "player_3": "cid"}
    match = Written(
        first, moves, names, left.scores(), left.outcome,
        forfeits=("player_2",), left={1: ("player_2",)},
    )  # fmt: skip
    chips, forfeited, scores = POKER.written(match).rpartition("\n\n\n")[2].splitlines()
    assert re.findall(r"(\w+) ([+-]\d+)", chips) == [("ann", "+3"), ("bob", "-1"), ("cid", "-2")]
    assert forfeited.endswith(": bob")
    assert re.findall(r"[+-]\d+", scores) == ["+103", "-201", "+98"]


def test_nobody_posts_the_big_blind_twice_in_a_row_when_two_are_left() -> None:
    """The button is bust: the last big blind takes it, and posts the small blind next."""
    state = _dealt("AcAd 7h2c KcKd", "AhQsJs9s8d", (50, 200, 200), hands=3)
    assert state.order == (1, 2, 0)
    state = _played(state, "all in", "call", "fold")
    assert state.stacks == (0, 252, 198)
    assert state.order == (1, 2), "seat 2 had the big blind, and has the button now"


def test_where_the_big_blind_is_bust_the_button_goes_on() -> None:
    state = _dealt("AcAd 7h2c KcKd", "AhQsJs9s8d", (200, 200, 2), hands=3)
    state = _played(state, "fold", "call")
    assert state.stacks[2] == 0
    assert state.order[-1] == 1
