"""Chess: how games begin and end, who has won, and what stand-ins can do."""

import pickle
import random

import chess
import pytest
from examples import examples
from games.boards import GAME, after, begun
from hypothesis import given
from hypothesis import strategies as st
from refusals import Refusal, refused
from statements import code, values

from raybench.games import InvalidMove, State
from raybench.games.parts.chess_game import standins
from raybench.games.parts.chess_game.openings import BOOK
from raybench.games.parts.conformance import play

SHUFFLE = ("Nf3", "Nf6", "Ng1", "Ng8")


def _refused(state: State, move: str) -> InvalidMove:
    with pytest.raises(InvalidMove) as error:
        state.apply(move)
    return error.value


def _claimed(state: State) -> tuple[str, str]:
    """Return which draw was claimed, and by whom."""
    return code(values(state.outcome)["draw"]), values(state.outcome)["side"]


def test_the_side_that_mates_has_won() -> None:
    state = after("f3 e5 g4 Qh4#")
    assert (state.over, state.to_move) == (True, None)
    assert code(state.outcome) == "chess.checkmate" and values(state.outcome)["winner"] == "Black"
    assert state.scores() == {"white": -1.0, "black": 1.0}
    assert state.legal() == ()
    assert code(_refused(state, "a3")) == "move.game_over"
    mated = after("e4 e5 Qh5 Nc6 Bc4 Nf6 Qxf7#")
    assert mated.scores() == {"white": 1.0, "black": -1.0}


@pytest.mark.parametrize(
    ("start", "move", "outcome"),
    [
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "Qf7", "chess.stalemate"),
        ("7k/8/8/8/8/3n4/2B5/K7 w - - 0 1", "Bxd3", "chess.no_material"),
        ("7k/8/8/8/8/3p4/4N3/K7 b - - 0 1", "dxe2", ""),
    ],
)
def test_draws_by_rule(start: str, move: str, outcome: str) -> None:
    state = after(move, start=start)
    assert (state.outcome and code(state.outcome)) == outcome
    assert state.scores() == {"white": 0.0, "black": 0.0}


def test_the_third_repetition_ends_the_game_where_claims_are_automatic() -> None:
    state = after(" ".join(SHUFFLE * 2)[: -len(" Ng8")])
    assert not state.over
    assert code(state.apply("Ng8").outcome) == "chess.threefold"
    assert code(_refused(state, "draw")) == "chess.no_claims"


def test_claimed_repetition() -> None:
    state = after("Nf3 Nf6 Ng1", claims="players")
    assert values(_refused(state, "Ng8, draw"))["move"] == "Ng8"
    state = after(" ".join(SHUFFLE * 2)[: -len(" Ng8")], claims="players")
    assert code(_refused(state, "draw")) == "chess.no_draw"
    legal = state.legal()
    assert legal is not None and "Ng8 draw" in legal and "draw" not in legal
    for words in ("Ng8 draw", "Ng8, I claim a draw", "f6g8 (claim draw)", "Ng8 and claim a draw."):
        claimed = state.apply(words)
        assert _claimed(claimed) == ("chess.threefold", "Black")
        assert claimed.scores() == {"white": 0.0, "black": 0.0}
    unclaimed = state.apply("Ng8")
    assert not unclaimed.over
    assert "claim a draw" in unclaimed.observe("white").view
    assert "claim" not in unclaimed.observe("black").view
    assert "draw" in (unclaimed.legal() or ())
    for words in ("draw", "Draw!", "claim draw", "I claim the draw", "draw claim"):
        assert _claimed(unclaimed.apply(words)) == ("chess.threefold", "White")
    assert values(_refused(unclaimed, "e4 draw"))["claimable"]


def test_the_fifth_repetition_ends_it_unclaimed() -> None:
    state = after(" ".join(SHUFFLE * 4)[: -len(" Ng8")], claims="players")
    assert not state.over
    assert code(state.apply("Ng8").outcome) == "chess.fivefold"


def test_positions_with_other_rights_are_no_repetition() -> None:
    start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    shuffled = after("Rb1 Rb8 Ra1 Ra8 Rb1 Rb8 Ra1 Ra8", start=start)
    assert not shuffled.over  # the first time they could still castle there
    assert code(shuffled.apply("Rb1").apply("Rb8").outcome) == "chess.threefold"


def test_a_position_in_which_a_pawn_may_be_taken_in_passing_is_another_one() -> None:
    start = "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"
    shuffled = after("Kd8 Kd1 Ke8 Ke1 Kd8 Kd1 Ke8 Ke1", start=start)
    assert not shuffled.over  # the first time the pawn on e4 could be taken
    assert code(shuffled.apply("Kd8").outcome) == "chess.threefold"
    # That pawn had no neighbour: the same position from the first time on.
    alone = "4k3/3p4/8/8/4P3/8/8/4K3 b - e3 0 1"
    shuffled = after("Kd8 Kd1 Ke8 Ke1 Kd8 Kd1 Ke8 Ke1", start=alone)
    assert code(shuffled.outcome) == "chess.threefold"


@pytest.mark.parametrize(
    ("claims", "clock", "outcome"),
    [
        ("automatic", 99, "chess.fifty_moves"),
        ("automatic", 98, ""),
        ("players", 149, "chess.seventy_five_moves"),
        ("players", 148, ""),
    ],
)
def test_moves_without_progress_are_counted(claims: str, clock: int, outcome: str) -> None:
    start = f"7k/8/8/8/8/8/R7/K7 w - - {clock} 90"
    ended = after("Rb2", start=start, claims=claims).outcome
    assert (ended and code(ended)) == outcome


def test_claimed_fifty_moves() -> None:
    start = "7k/8/8/8/8/8/R7/K7 w - - 99 90"
    state = begun(start=start, claims="players")
    assert "Rb2 draw" in (state.legal() or ())
    assert _claimed(state.apply("Rb2 draw")) == ("chess.fifty_moves", "White")
    later = state.apply("Rb2")
    assert _claimed(later.apply("draw")) == ("chess.fifty_moves", "Black")


def test_mate_on_the_hundredth_ply_without_progress_wins() -> None:
    start = "7k/R7/6K1/8/8/8/8/8 w - - 99 90"
    assert code(after("Ra8#", start=start).outcome) == "chess.checkmate"


def test_the_cap_is_exact_and_mate_on_it_wins() -> None:
    assert not after("f3 e5 g4", plies=4).over
    capped = after("f3 e5 g4 a6", plies=4)
    assert code(capped.outcome) == "chess.cap" and values(capped.outcome) == {"plies": 4}
    assert capped.scores() == {"white": 0.0, "black": 0.0}
    assert code(after("f3 e5 g4 Qh4#", plies=4).outcome) == "chess.checkmate"
    booked = GAME.new(3, plies=1)
    assert booked.apply((booked.legal() or ())[0]).over  # the opening's moves are not counted


def test_resigning_where_it_is_allowed() -> None:
    state = after("e4", resign=True)
    assert "resign" in (state.legal() or ())
    assert state.apply("I resign.").scores() == {"white": 1.0, "black": -1.0}
    assert values(state.apply("resign").outcome) == {"loser": "Black", "winner": "White"}
    assert code(_refused(after("e4"), "resign")) == "chess.no_resigning"


def test_black_moves_first_where_the_start_says_so() -> None:
    state = begun(start="4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")
    assert (state.to_move, state.roles) == ("black", ("white", "black"))
    assert "1... Kd8 2. e4" in state.apply("Kd8").apply("e4").observe("black").view


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"start": "here"}, ("setting.range", "start")),
        ({"start": "8/8/8/8/8/8/8/K7 w - - 0 1"}, ("setting.range", "start")),
        ({"start": "7k/5KQ1/8/8/8/8/8/8 b - - 0 1"}, ("setting.range", "start")),
        ({"start": "7k/8/8/8/8/8/R7/K7 w - - 100 90"}, ("setting.range", "start")),
        ({"openings": "books"}, ("setting.choice", "openings")),
        ({"claims": "none"}, ("setting.choice", "claims")),
        ({"plies": 0}, ("setting.range", "plies")),
        ({"random_plies": 3}, ("setting.range", "random_plies")),
    ],
)
def test_rules_that_cannot_be_are_refused_with_the_mend(
    rules: dict[str, object], message: Refusal
) -> None:
    with refused(*message):
        GAME.new(0, **rules)


def test_the_book_is_legal_even_and_of_different_positions() -> None:
    ends = set()
    for opening in BOOK:
        board = chess.Board()
        for san in opening.moves:
            assert board.san_and_push(board.parse_san(san)) == san
        assert board.turn == chess.WHITE and len(opening.moves) <= 12
        ends.add(board.epd())
    assert len(ends) == len({it.name for it in BOOK}) == len(BOOK) >= 40


def test_seeds_draw_openings() -> None:
    views = {seed: GAME.new(seed).observe("white").view for seed in range(60)}
    assert len(set(views.values())) > 20
    assert GAME.new(7) == GAME.new(7) != GAME.new(8)
    assert "far: none" in begun().observe("white").view


@given(seed=st.integers(0, 999), plies=st.integers(1, 20), fen=st.booleans())
@examples(25)
def test_random_plies_leave_a_game_to_be_played(seed: int, plies: int, fen: bool) -> None:
    start = {"start": "7k/5K2/8/6Q1/8/8/8/8 w - - 80 1"} if fen else {}
    state = GAME.new(seed, random_plies=2 * plies, **start)
    assert state == GAME.new(seed, random_plies=2 * plies, **start)
    assert state.to_move == "white"


@pytest.mark.parametrize(
    ("start", "nodes"),
    [
        ("standard", (20, 400, 8902)),
        ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", (48, 2039)),
        ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", (14, 191, 2812)),
    ],
)
def test_as_many_positions_are_reached_as_are_known(start: str, nodes: tuple[int, ...]) -> None:
    states = [begun(start=start)]
    for count in nodes:
        states = [state.apply(move) for state in states for move in state.legal() or ()]
        assert len(states) == count


def test_a_state_never_changes() -> None:
    state = begun()
    before = state.observe("white")
    for move in state.legal() or ():
        state.apply(move)
    assert state.observe("white") == before == begun().observe("white")


def test_states_travel_between_processes() -> None:
    state = after("e4 e5 Nf3")
    sent = pickle.loads(pickle.dumps(state))
    assert sent == state and sent.apply("Nc6") == state.apply("Nc6")
    assert len(pickle.dumps(state)) < 10_000


def test_good_play_beats_play_at_random() -> None:
    won = 0.0
    for seed in range(10):
        rng, state, good = random.Random(seed), GAME.new(seed), ("white", "black")[seed % 2]
        while not state.over:
            state = state.apply(state.good(rng) if state.to_move == good else state.sample(rng))
        won += state.scores()[good]
    assert won >= 7


def test_good_play_sees_mate_and_does_not_hang_its_queen() -> None:
    rng = random.Random(0)
    assert after("f3 e5 g4").good(rng) == "Qh4#"
    hanging = begun(start="6k1/8/8/3p4/4Q3/8/8/4K3 w - - 0 1")
    for _ in range(20):
        board = chess.Board(hanging.observe("white").view.splitlines()[1].removeprefix("FEN: "))
        board.push_san(hanging.good(rng))
        queen = next(iter(board.pieces(chess.QUEEN, chess.WHITE)))
        assert not board.is_attacked_by(chess.BLACK, queen)


@given(st.integers(0, 10**6))
@examples(20)
def test_no_check_is_missed_where_moves_are_not_made_to_see_it(seed: int) -> None:
    rng = random.Random(seed)
    board = chess.Board.from_chess960_pos(rng.randrange(960))
    for _ in range(120):
        if board.is_game_over():
            return
        near, legal = standins._towards_king(board), list(board.legal_moves)
        may = [standins._may_check(board, move, near) for move in legal]
        assert all(it for it, move in zip(may, legal, strict=True) if board.gives_check(move))
        board.push(rng.choice(legal))


def test_games_at_random_end_within_the_cap() -> None:
    for seed in range(3):
        assert len(play(GAME, seed, plies=60).moves) <= 60
