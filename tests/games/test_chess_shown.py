"""What chess players see, and how a match of theirs is written down."""

import base64
import io
import re
from typing import Any

import chess
import chess.pgn
import pytest
from games.boards import GAME, after, begun
from PIL import Image

from raybench.games import State, Written
from raybench.games.parts.chess_game.picture import picture
from raybench.games.parts.conformance import play
from raybench.games.parts.transcript import sentence


def test_whoever_is_to_move_sees_position_moves_and_check() -> None:
    seen = after("1.e4 f5 Qh5").observe("black")
    lines = seen.view.splitlines()
    assert "Black" in lines[0] and re.findall(r"\d+", lines[0]) == ["3", "200"]
    assert lines[1] == "FEN: rnbqkbnr/ppppp1pp/8/5p1Q/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 1 2"
    assert lines[3:12] == [
        "8 r n b q k b n r",
        "7 p p p p p . p p",
        "6 . . . . . . . .",
        "5 . . . . . p . Q",
        "4 . . . . P . . .",
        "3 . . . . . . . .",
        "2 P P P P . P P P",
        "1 R N B . K B N R",
        "  a b c d e f g h",
    ]
    assert lines[12].endswith(": 1. e4 f5 2. Qh5+")
    assert "Black" in lines[13] and "check" in lines[13]
    assert (seen.action, seen.form, seen.images) == ("move", "line", ())
    assert "as Black" in seen.rules and "as Black" in seen.task
    other = after("1.e4 f5 Qh5").observe("white")
    assert (other.action, other.task) == ("", "")
    assert "play White" in other.view and "as White" in other.rules


def test_openings_and_repetitions_are_told() -> None:
    seen = GAME.new(3).observe("white").view
    assert "first 6 plies" in seen
    assert "up 2 times" in after("Nf3 Nf6 Ng1 Ng8").observe("white").view


def test_legal_moves_are_listed_where_the_rules_say_so() -> None:
    start = "7k/8/8/8/8/8/6PP/7K w - - 0 1"
    assert "legal" not in begun(start=start).observe("white").view
    shown = begun(start=start, show_legal=True)
    assert "moves: Kg1, h3, g3, h4, g4" in shown.observe("white").view
    assert "legal moves" not in shown.observe("black").view


def test_long_games_are_told_from_later_on() -> None:
    states = play(GAME, 2, plies=400, claims="players", openings="none").states
    texts = [state.observe("white").view for state in states]
    told = [text.split("Moves so far: ")[1].split("\n")[0] for text in texts]
    assert not told[160].startswith("…") and told[161].startswith("… 2. ")
    assert told[162].startswith("… 2. ") and told[163].startswith("… 3. ")
    assert max(map(len, texts)) < 2500


def test_rules_say_how_games_end() -> None:
    by_itself = begun(plies=80).observe("white").rules
    assert "After 80 plies" in by_itself and "third time" in by_itself
    assert "'draw'" not in by_itself and "'resign'" not in by_itself
    claimed = begun(claims="players", resign=True).observe("white").rules
    assert "'Nf3 draw'" in claimed and "'resign'" in claimed and "fifth time" in claimed


def _picture(state: State) -> Image.Image:
    (uri,) = state.observe("white").images
    kind, _, data = uri.partition(",")
    assert kind == "data:image/png;base64"
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def _square(image: Image.Image, square: int) -> Image.Image:
    left, top = 22 + 48 * chess.square_file(square), 22 + 48 * (7 - chess.square_rank(square))
    return image.crop((left, top, left + 48, top + 48))


def _looks(symbol: str, square: int) -> bytes:
    board = chess.Board("k7/8/8/8/8/8/8/6K1 w - - 0 1")
    board.set_piece_at(square, chess.Piece.from_symbol(symbol) if symbol else None)
    data = base64.b64decode(picture(board.board_fen()).partition(",")[2])
    return _square(Image.open(io.BytesIO(data)).convert("RGB"), square).tobytes()


@pytest.mark.parametrize("square", [chess.D4, chess.D5], ids=["dark", "light"])
def test_pictures_show_every_piece_as_no_other(square: int) -> None:
    looks = {symbol: _looks(symbol, square) for symbol in ("", *"kqrbnpKQRBNP")}
    assert len(set(looks.values())) == 13
    for symbol in "kqrbnp":
        assert _bright(looks[symbol]) < 300 and _bright(looks[symbol.upper()]) > 500


def _bright(square: bytes) -> float:
    """How bright the middle of a square is, of 765."""
    middle = [48 * row + column for row in range(20, 36) for column in range(18, 30)]
    return sum(sum(square[3 * at : 3 * at + 3]) for at in middle) / len(middle)


def test_pictures_follow_the_game() -> None:
    state = begun(picture=True)
    first, then = _picture(state), _picture(state.apply("e4"))
    assert first.size == then.size == (428, 428)
    changed = {
        square
        for square in chess.SQUARES
        if _square(first, square).tobytes() != _square(then, square).tobytes()
    }
    assert changed == {chess.E2, chess.E4}
    assert len(state.observe("white").images[0]) < 40_000


def _written(first: State, moves: str, **more: object) -> chess.pgn.Game:
    last, made = first, []
    for move in moves.split():
        made.append((str(last.to_move), move))
        last = last.apply(move)
    scores = more.pop("scores", last.scores())
    match = Written(
        first,
        tuple(made),
        {"white": 'Model "A"', "black": "B"},
        scores,  # type: ignore[arg-type]
        str(more.pop("outcome", last.outcome)),
        event="a run",
        round="7",
        **more,  # type: ignore[arg-type]
    )
    assert GAME.written is not None
    text = GAME.written(match)
    read = chess.pgn.read_game(io.StringIO(text))
    assert read is not None and not read.errors
    return read


def test_a_match_is_written_as_pgn() -> None:
    game = _written(begun(), "1.f3 e7e5 g4 Qh4#")
    assert [move.uci() for move in game.mainline_moves()] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert game.end().comment == after("f3 e5 g4 Qh4#").outcome
    headers = {**game.headers}
    assert headers.pop("Result") == "0-1" and headers.pop("Termination") == "normal"
    assert (headers["White"], headers["Black"], headers["Event"], headers["Round"]) == (
        'Model "A"',
        "B",
        "a run",
        "7",
    )
    assert headers["PlyCount"] == "4" and "FEN" not in headers and "Opening" not in headers


def test_pgn_holds_opening_and_start() -> None:
    first = GAME.new(3, plies=1)
    game = _written(first, (first.legal() or ())[0])
    assert game.headers["Opening"] in first.observe("white").view
    assert game.headers["PlyCount"] == "7" == str(game.end().ply())
    assert (game.headers["Result"], game.headers["Termination"]) == ("1/2-1/2", "adjudication")
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    game = _written(begun(start=start), "Kd8 e4", scores={}, outcome="")
    assert (game.headers["SetUp"], game.headers["FEN"]) == ("1", start)
    assert [node.san() for node in game.mainline()] == ["Kd8", "e4"]
    assert (game.headers["Result"], game.headers["Termination"]) == ("*", "unterminated")


@pytest.mark.parametrize(
    "rules", [{}, {"random_plies": 4}, {"openings": "none", "random_plies": 2}]
)
def test_pgn_says_where_the_players_begin(rules: dict[str, Any]) -> None:
    first = GAME.new(3, **rules)
    game = _written(first, (first.legal() or ())[0])
    made = game.end().ply() - 1
    assert f"first {made} plies" in first.observe("white").view
    said = [(node.ply(), node.comment) for node in game.mainline() if node.comment]
    assert [ply for ply, _ in said] == [made] and str(made) in said[0][1]
    lost = _written(first, "", outcome="white forfeited (time)", forfeits=("white",))
    assert lost.end().comment.startswith(said[0][1])
    assert lost.end().comment.endswith("forfeited (time)")


def test_pgn_says_who_forfeited() -> None:
    score = {"white": -1.0, "black": 1.0}
    for moves in ("e4 e5", ""):
        game = _written(begun(), moves, scores=score, outcome="too slow", forfeits=("white",))
        assert (game.headers["Result"], game.headers["Termination"]) == ("0-1", "rules infraction")
        assert game.end().comment.startswith("Too slow; ")
        assert game.end().comment.count("white") == 1


def test_pgn_says_a_forfeit_once_and_when_it_was() -> None:
    said = {"outcome": "black forfeited (invalid moves)", "forfeits": ("black",)}
    game = _written(begun(), "e4", scores={"white": 1.0}, date="2026.01.31", **said)
    assert game.end().comment == sentence(str(said["outcome"]))
    assert game.headers["Date"] == "2026.01.31"
    assert _written(begun(), "e4").headers["Date"] == "????.??.??"


def test_a_match_that_cannot_be_replayed_has_no_moves_in_its_pgn() -> None:
    """A plain sentence stood there, whose words readers took for moves."""
    match = Written(
        begun(), (("white", "no e4 move"),), {"white": "a", "black": "b"}, {"white": 1.0}, "1. e4"
    )
    assert GAME.written is not None
    text = GAME.written(match)
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and not game.errors and not [*game.mainline_moves()]
    assert (game.headers["White"], game.headers["Result"]) == ("a", "1-0")
    said = " ".join(game.comment.split())
    assert said and f"{{ {said} }}" in " ".join(text.split())


def test_names_cannot_pass_for_other_headers() -> None:
    first = begun().apply("e4")
    names = {"white": 'a"]\n[Result "1-0"]\n\n1. d4 \\', "black": "b"}
    match = Written(first, (), names, {}, "left } 1. d4 {")
    assert GAME.written is not None
    game = chess.pgn.read_game(io.StringIO(GAME.written(match)))
    assert game is not None and game.headers["Result"] == "*"
    assert [move.uci() for move in game.mainline_moves()] == ["e2e4"]
    assert game.headers["White"] == 'a"] [Result "1-0"] 1. d4 /'


def test_claims_and_resignations_are_written_with_their_result() -> None:
    first = begun(claims="players", resign=True)
    last = first.apply("e4").apply("resign")
    match = Written(first, (("white", "e4"), ("black", "resign")), {}, last.scores(), last.outcome)
    assert GAME.written is not None
    text = GAME.written(match)
    assert f"1. e4 {{ {last.outcome} }} 1-0" in text
    assert '[White "?"]' in text


@pytest.mark.parametrize("seed", range(3))
def test_pgn_read_again_has_the_same_moves_and_result(seed: int) -> None:
    played = play(GAME, seed, plies=120, good=bool(seed))
    first, last = played.states[0], played.states[-1]
    match = Written(first, played.moves, {}, last.scores(), last.outcome)
    assert GAME.written is not None
    game = chess.pgn.read_game(io.StringIO(GAME.written(match)))
    assert game is not None and not game.errors
    fen = last.observe("white").view.splitlines()[1].removeprefix("FEN: ")
    assert game.end().board().fen() == fen
    result = {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1"}[last.scores()["white"]]
    assert game.headers["Result"] == result
