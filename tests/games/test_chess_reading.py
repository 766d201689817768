"""Chess moves as people write them; and what is said where there is no such move."""

import random
from collections.abc import Callable

import chess
import pytest
from games.boards import GAME
from hypothesis import given
from hypothesis import strategies as st
from statements import code, values

from raybench.games import InvalidMove, State
from raybench.games.parts.chess_game.reading import read
from raybench.games.parts.conformance import play

KINGS = "r3k2r/pppq1ppp/8/8/8/8/PPPQ1PPP/R3K2R w KQkq - 0 1"
PROMOTION = "3r3k/4P3/8/8/8/8/8/K7 w - - 0 1"
PASSING = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
PAIR = "4k3/8/8/3p4/2P1P3/8/8/4K3 w - - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
EITHER = "4k3/8/8/B7/8/2n5/1P2B3/4K3 w - - 0 1"
BISHOPS = "4k3/8/8/8/8/2p2p2/1P2B3/4K3 w - - 0 1"


def uci(text: str, start: str = "standard") -> str:
    return read(chess.Board() if start == "standard" else chess.Board(start), text).uci()


@pytest.mark.parametrize(
    ("text", "start", "move"),
    [
        *((it, "standard", "e2e4") for it in ("e4", "1. e4", "1.e4", "1 e4", "e2e4", "e2-e4")),
        *((it, "standard", "e2e4") for it in ("e2 e4", "E2E4", "e2 to e4", "e2→e4", "e2 -> e4")),
        *((it, "standard", "e2e4") for it in ("E4", "Pe4", "e4.", "**1. e4**", "1. **e4**", "e4!")),
        *((it, "standard", "e2e4") for it in ("`e4`", '"e4"', "$e4$", "♙e4", "[e4]", "e4 $1")),
        *((it, "standard", "e2e4") for it in ("e4 (the best by test)", "e4 {book}", " e4\n")),
        *(
            (it, "standard", "e2e4")
            for it in ("(e4)", "{e4}", "\\text{e4}", "$\\boxed{1. e4}$", "**(e4)**")
        ),
        *(
            (it, "standard", "e2e4")
            for it in ("play e4", "I play e4", "I'll play 1. e4!", "(e2e4)")
        ),
        *((it, "standard", "e2e4") for it in ("White: e4", "**White:** 1. e4", "White plays e4")),
        *((it, "standard", "e2e4") for it in ("My move is e4", "Move: e4", "I play pawn to e4")),
        *((it, "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1") for it in ("castles", "I castle.")),
        *((it, PROMOTION, "e7e8q") for it in ("e8=Queen", "play e8 = queen")),
        *((it, "standard", "g1f3") for it in ("Nf3", "nf3", "Nf3+", "Nf3!?", "**Nf3**!", "Ngf3")),
        *(
            (it, "standard", "g1f3")
            for it in ("Ng1f3", "Ng1-f3", "N1f3", "♘f3", "♞\ufe0ef3", "NF3")
        ),
        *(
            (it, "standard", "g1f3")
            for it in ("Nf3 check", "Nf3++", "12...Nf3", "...Nf3", "12… Nf3")
        ),
        *(
            (it, KINGS, "e1g1")
            for it in ("O-O", "0-0", "o-o", "O–O", "0 - 0", "OO", "O-O+", "e1g1")
        ),
        *(
            (it, KINGS, "e1g1")
            for it in ("Kg1", "e1h1", "1. 0-0!", "castle kingside", "short castling")
        ),
        *((it, KINGS, "e1c1") for it in ("O-O-O", "0-0-0", "o-o-o", "O—O—O", "e1c1", "e1a1")),
        *(
            (it, KINGS, "e1c1")
            for it in ("castles queenside", "castling long", "Queenside castling")
        ),
        *((it, PROMOTION, "e7e8q") for it in ("e8=Q", "e8Q", "e8=q", "e8(Q)", "e8/Q", "e7e8q")),
        *((it, PROMOTION, "e7e8n") for it in ("e8=N", "e7-e8=n", "e7e8N", "e8 = N")),
        *((it, PROMOTION, "e7d8q") for it in ("exd8=Q", "exd8=Q+", "exd8Q", "e7xd8=Q", "ed8=Q#")),
        *((it, PASSING, "e5d6") for it in ("exd6", "exd6 e.p.", "exd6ep", "ed6", "e5d6", "e5:d6")),
        *((it, PASSING, "e5d6") for it in ("exd6 e. p.", "exd6 en passant", "exd6 e.p.!", "e5×d6")),
        *(
            (it, "standard", "e2e4")
            for it in ("pawn to e4", "Pawn e2-e4", "the e pawn to e4", "e-pawn moves to e4")
        ),
        *(
            (it, "standard", "g1f3")
            for it in ("knight to f3", "1. Knight f3!", "**Knight g1 to f3**", "KNIGHT TO F3")
        ),
        *(
            (it, "standard", "g1f3")
            for it in ("I move my knight from g1 to f3", "the g1 knight goes to f3", "Nf3.")
        ),
        *(
            (it, KINGS, "e1g1")
            for it in (
                "castle on the king side",
                "I castle short",
                "king to g1",
                "Castles Kingside!",
            )
        ),
        *(
            (it, KINGS, "d2d7")
            for it in ("queen x d7 check", "queen takes d7 with check", "Queen takes queen on d7")
        ),
        *(
            (it, PROMOTION, "e7e8q")
            for it in ("pawn to e8, promoting to a queen", "e8 queen", "pawn e7 to e8 = queen")
        ),
        *(
            (it, PROMOTION, "e7d8n")
            for it in ("pawn takes rook on d8 and becomes a knight", "e7 takes d8 = knight")
        ),
        *(
            (it, PASSING, "e5d6")
            for it in ("pawn takes d6", "pawn to d6", "pawn takes pawn on d6 en passant")
        ),
        *((it, PAIR, "c4d5") for it in ("c pawn takes d5", "c-pawn captures pawn on d5")),
        ("bishop takes f3", BISHOPS, "e2f3"),
        *((it, EITHER, "a5c3") for it in ("B takes c3", "B captures knight on c3", "Bxc3")),
        *((it, EITHER, "b2c3") for it in ("b takes c3", "B PAWN TAKES C3", "bxc3")),
        ("BISHOP TO B5", BISHOPS, "e2b5"),
        ("B PAWN TAKES C3", BISHOPS, "b2c3"),
        ("pawn takes c3", BISHOPS, "b2c3"),
        ("bxc3", BISHOPS, "b2c3"),
        ("bxf3", BISHOPS, "e2f3"),  # no pawn of the b-file can, so that it is the bishop
        ("Bxf3", BISHOPS, "e2f3"),
        ("BXF3", BISHOPS, "e2f3"),
        ("BXC3", BISHOPS, "b2c3"),
        ("B2B4", BISHOPS, "b2b4"),
        ("b4", BISHOPS, "b2b4"),
        ("B4", BISHOPS, "b2b4"),
        ("Bb5", BISHOPS, "e2b5"),
        ("bb5", BISHOPS, "e2b5"),
    ],
)
def test_moves_as_people_write_them(text: str, start: str, move: str) -> None:
    assert uci(text, start) == move


@pytest.mark.parametrize(
    ("text", "start", "reason"),
    [
        *(
            (it, "standard", ("chess.several_moves", 2))
            for it in (
                "e4 e5",
                "1. e4 e5",
                "e4 d5",
                "1 e4 e5",
                "**1.e4 e5**",
                "I play e4 e5",
                "Nf3 e5",
            )
        ),
        ("e4 e5", AFTER_E4, ("chess.several_moves", 2)),
        ("N g1 e4", "standard", ("chess.out_of_reach", "knight", "e4")),
        ("g1 e4", "standard", ("chess.out_of_reach", "knight", "e4")),
        ("e6 e7", "standard", ("chess.empty_square", "e6")),
        ("Black: e5", "standard", ("chess.other_side", "White")),
        ("White plays e4", AFTER_E4, ("chess.other_side", "Black")),
        ("castles", KINGS, ("chess.unclear", "O-O or O-O-O")),
        ("I castle", "standard", ("chess.no_castling",)),
        (
            "castles",
            "4k3/8/8/8/4q3/8/8/R3K2R w KQ - 0 1",
            ("chess.castling_in_check", "the queen on e4"),
        ),
        ("()", "standard", ("chess.no_move", "()")),
        ("I play", "standard", ("chess.no_move", "I play")),
        ("horse f3", "standard", ("chess.no_move", "horse f3")),
        ("knight to f3 or e4", "standard", ("chess.no_move",)),
        ("the knight", "standard", ("chess.no_move",)),
        ("queen takes pawn", "standard", ("chess.no_move",)),
        ("queen's pawn to d4", "standard", ("chess.no_move",)),
        ("pawn to e5", "standard", ("chess.out_of_reach", "e5", "e3 or e4")),
        ("knight to d2", "standard", ("chess.own_piece", "d2", "pawn")),
        ("pawn takes d5", PAIR, ("chess.unclear", "Pxd5", "exd5 or cxd5")),
        ("pawn to d5", PAIR, ("chess.unclear", "exd5 or cxd5")),
        ("a pawn takes d5", PAIR, ("chess.unclear", "exd5 or cxd5")),
        ("c pawn takes knight on d5", PAIR, ("chess.no_victim", "knight", "d5")),
        ("pawn takes pawn on e3", KINGS, ("chess.out_of_reach", "pawn", "e3")),
        ("pawn to e8", PROMOTION, ("chess.promotion_open",)),
        ("pawn takes e4", "4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1", ("chess.pawn_blocked", "e4")),
        ("pawn to e4", "4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1", ("chess.pawn_blocked", "e4")),
        ("", "standard", ("chess.no_move",)),
        ("--", "standard", ("chess.no_move",)),
        ("0000", "standard", ("chess.no_move",)),
        ("1. e4 Nf6", "standard", ("chess.several_moves", 2)),
        ("Nf3 Nc6 Bb5", "standard", ("chess.several_moves", 3)),
        ("e5", "standard", ("chess.out_of_reach", "e5", "e3 or e4")),
        ("e2e5", "standard", ("chess.out_of_reach", "e5", "e3 or e4")),
        ("e3e4", "standard", ("chess.empty_square", "e3")),
        ("e7e5", "standard", ("chess.others_piece", "pawn", "e7", "Black", "White")),
        ("Ne2e4", "standard", ("chess.another_piece", "e2", "pawn", "knight")),
        ("Nd2", "standard", ("chess.own_piece", "d2", "pawn")),
        ("Nd4", "standard", ("chess.out_of_reach", "knight", "d4", "Nh3, Nf3, Nc3 or Na3")),
        ("Ra1a4", "standard", ("chess.out_of_reach", "rook", "a4", "")),
        ("exd3", "standard", ("chess.nothing_to_take", "d3")),
        ("bxf3", "standard", ("chess.out_of_reach", "pawn", "f3", "b3 or b4")),
        ("e8=Q", "standard", ("chess.out_of_reach", "pawn", "e8")),
        ("e4=Q", "standard", ("chess.no_promotion", "e4=Q")),
        ("e8", PROMOTION, ("chess.promotion_open", "e8")),
        ("e7e8", PROMOTION, ("chess.promotion_open",)),
        ("e8=K", PROMOTION, ("chess.promotion_open",)),
        ("Qe4", PROMOTION, ("chess.no_piece", "queen")),
        ("dxe4", PROMOTION, ("chess.no_piece", "pawn", " on the d-file")),
        ("R2d2", PROMOTION, ("chess.no_piece", "rook")),
        ("Bxc3", BISHOPS, ("chess.out_of_reach", "bishop", "c3")),
        ("Nd2", "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", ("chess.unclear", "Nfd2 or Nbd2")),
        ("Ra4", "4k3/8/8/R7/8/8/8/R3K3 w Q - 0 1", ("chess.unclear", "R5a4 or R1a4")),
        ("e4", "4k3/8/8/8/4p3/4P3/8/4K3 w - - 0 1", ("chess.pawn_blocked", "e4")),
        ("e4", "4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 1", ("chess.pawn_blocked", "e3")),
        (
            "Nd4",
            "4k3/8/8/8/1b6/2N5/8/4K3 w - - 0 1",
            ("chess.out_of_reach", "knight", "d4", ""),
        ),
        (
            "Ne4",
            "4k3/8/8/8/1b6/2N5/8/4K3 w - - 0 1",
            ("chess.pinned", "knight", "c3", "e1", "the bishop on b4"),
        ),
        (
            "a4",
            "4k3/8/8/8/4q3/8/P7/4K3 w - - 0 1",
            ("chess.in_check", "e1", "the queen on e4"),
        ),
        (
            "Ke2",
            "4k3/8/8/8/4q3/8/P7/4K3 w - - 0 1",
            ("chess.king_attacked", "e2", "the queen on e4"),
        ),
        ("O-O", "standard", ("chess.castling_blocked", "kingside", "f1 and g1")),
        ("O-O-O", "standard", ("chess.castling_blocked", "queenside", "b1, c1 and d1")),
        ("Kg1", "4k3/8/8/8/8/8/8/R3K2R w Q - 0 1", ("chess.castling_lost", "kingside")),
        ("0-0", "4k3/8/8/8/4q3/8/8/4K2R w K - 0 1", ("chess.castling_in_check", "the queen on e4")),
        ("0-0", "4k3/8/8/8/5q2/8/8/4K2R w K - 0 1", ("chess.castling_attacked", "kingside")),
        ("e1g1", "4k3/8/8/8/5q2/8/8/4K2R w K - 0 1", ("chess.castling_attacked", "kingside")),
        ("e1h1", "4k3/8/8/8/5q2/8/8/4K2R w K - 0 1", ("chess.castling_attacked", "kingside")),
    ],
)
def test_what_cannot_be_played_gets_a_reason(
    text: str, start: str, reason: tuple[str | int, ...]
) -> None:
    """The reason is a code, and what else it names."""
    with pytest.raises(InvalidMove) as refused:
        uci(text, start)
    assert code(refused.value) == reason[0]
    assert {*reason[1:]} <= {*values(refused.value).values()}


def test_long_texts_are_refused_and_not_repeated() -> None:
    state = GAME.new(0)
    for text in ("e4" * 1000, "e4" + "!" * 70 + "x", " " * 78 + "x", "draw" * 20):
        with pytest.raises(InvalidMove) as refused:
            state.apply(text)
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("text", ["a\x00\u202eb\u2028\ud800\nc", "e4\u202e Nf3", "\x00" * 79])
def test_reasons_hold_no_signs_that_nobody_sees(text: str) -> None:
    for said in (text, text + "x" * 80):
        with pytest.raises(InvalidMove) as refused:
            GAME.new(0).apply(said)
        assert str(refused.value).isprintable()


def test_a_claim_is_told_on_one_line() -> None:
    with pytest.raises(InvalidMove) as refused:
        GAME.new(0, openings="none", claims="players").apply("N\u2028f3 draw")
    assert (code(refused.value), values(refused.value)["move"]) == ("chess.no_draw", "N f3")
    assert "N f3" in str(refused.value)


def _positions() -> list[State]:
    """Positions of many kinds: those of games at random, and crowded ones."""
    played = [state for seed in range(4) for state in play(GAME, seed, plies=90).states[:-1]]
    starts = (
        KINGS,
        PROMOTION,
        PASSING,
        BISHOPS,
        "8/PPPPk3/8/8/8/8/4pppp/K7 b - - 0 1",
        "1n4n1/P1P2P1P/4k3/8/8/8/8/4K3 w - - 0 1",
        "Q5bk/6pp/8/8/8/4Q3/8/Q3K2Q w - - 0 1",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    )
    return [*played, *(GAME.new(0, start=start) for start in starts)]


POSITIONS = _positions()
DECORATED: tuple[Callable[[str], str], ...] = (
    lambda san: san.rstrip("+#"),
    lambda san: f"1. {san}",
    lambda san: f"37...{san}",
    lambda san: f"**{san}**",
    lambda san: f"`{san}`!?",
    lambda san: f"  {san}.",
    lambda san: f"{san} (my plan)",
    lambda san: san.replace("=", ""),
    lambda san: san.replace("x", ""),
    lambda san: san.replace("O", "0"),
    lambda san: f"({san})",
    lambda san: f"\\text{{{san}}}",
    lambda san: f"I play {san}",
)


@given(number=st.integers(0, len(POSITIONS) - 1), chance=st.randoms(use_true_random=False))
def test_every_notation_of_a_legal_move_leads_to_the_same_state(
    number: int, chance: random.Random
) -> None:
    state = POSITIONS[number]
    fen = state.observe("white").view.splitlines()[1].removeprefix("FEN: ")
    board = chess.Board(fen)
    assert board.fen() == fen
    move = chance.choice([*board.legal_moves])
    san = board.san(move)
    assert san in (state.legal() or ())
    reached = state.apply(san)
    plain = move.uci()
    texts = [plain, plain.upper(), f"{plain[:2]}-{plain[2:]}", board.lan(move)]
    for text in [*texts, *(decorate(san) for decorate in DECORATED)]:
        assert state.apply(text) == reached
    board.push(move)
    assert f"FEN: {board.fen()}\n" in reached.observe("black").view


def _in_words(board: chess.Board, move: chess.Move, *, whence: bool) -> str:
    piece, to = board.piece_type_at(move.from_square), chess.square_name(move.to_square)
    assert piece is not None
    said = chess.piece_name(piece)
    if whence:
        said += f" on {chess.square_name(move.from_square)}"
    said += f" {'takes' if board.is_capture(move) else 'to'} {to}"
    if move.promotion:
        said += f", promoting to a {chess.piece_name(move.promotion)}"
    return said


@given(number=st.integers(0, len(POSITIONS) - 1), chance=st.randoms(use_true_random=False))
def test_a_move_in_words_is_that_move_or_one_of_several(number: int, chance: random.Random) -> None:
    board = chess.Board(POSITIONS[number].observe("white").view.splitlines()[1][len("FEN: ") :])
    move = chance.choice([*board.legal_moves])
    assert read(board, _in_words(board, move, whence=True)) == move
    said = _in_words(board, move, whence=False)
    alike = [it for it in board.legal_moves if _in_words(board, it, whence=False) == said]
    if len(alike) == 1:
        assert read(board, said) == move
    else:
        with pytest.raises(InvalidMove) as refused:
            read(board, said)
        assert code(refused.value) == "chess.unclear"
        assert all(board.san(it) in values(refused.value)["moves"] for it in alike)


def _moves_or_says_why(state: State, text: str) -> None:
    try:
        reached = state.apply(text)
    except InvalidMove as error:
        assert str(error)
    else:
        assert reached in [state.apply(move) for move in state.legal() or ()]


@given(number=st.integers(0, len(POSITIONS) - 1), text=st.text(max_size=12))
def test_any_text_is_a_legal_move_or_refused_with_a_reason(number: int, text: str) -> None:
    _moves_or_says_why(POSITIONS[number], text)


@given(
    number=st.integers(0, len(POSITIONS) - 1),
    piece=st.sampled_from(["", *"KQRBNPb"]),
    squares=st.from_regex(r"\A[a-h]?[1-8]?x?[a-h][1-8](=[QNK])?\Z"),
)
def test_what_looks_like_a_move_is_one_or_gets_a_reason(
    number: int, piece: str, squares: str
) -> None:
    _moves_or_says_why(POSITIONS[number], piece + squares)
