"""A match as chess players write it down."""

from collections.abc import Iterable

import chess
import chess.pgn

from raybench.games.parts.chess_game.settings import SIDES
from raybench.games.parts.contract import Written

_RESULTS = {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1"}


def pgn(
    match: Written, board: chess.Board, sans: Iterable[str], opening: str, *, capped: bool
) -> str:
    """Return the PGN of a match that began on this board, with all moves made on it."""
    game = chess.pgn.Game()
    game.setup(board)
    moves = []
    for san in sans:
        moves.append(board.parse_san(san))
        board.push(moves[-1])
    end = game.add_line(moves) if moves else game
    scored = match.scores.get("white")
    result = _RESULTS.get(scored, "*") if scored is not None else "*"
    game.headers.update(
        {
            "Event": _one_line(match.event),
            "Round": _one_line(match.round),
            "White": _one_line(match.players.get("white", "?")),
            "Black": _one_line(match.players.get("black", "?")),
            "Result": result,
            **({"Opening": opening} if opening else {}),
            "PlyCount": str(len(moves)),
            "Termination": _termination(match, result, capped=capped),
        }
    )
    left = [f"{SIDES[role == 'white']} forfeited" for role in match.forfeits]
    end.comment = "; ".join([*left, *([match.outcome] if match.outcome else [])])
    return str(game.accept(chess.pgn.StringExporter(columns=80))) + "\n"


def _termination(match: Written, result: str, *, capped: bool) -> str:
    """Return the standard's word for how the game ended."""
    if match.forfeits:
        return "rules infraction"
    if result == "*":
        return "unterminated"
    return "adjudication" if capped else "normal"


def _one_line(text: str) -> str:
    """Return a text that cannot be taken for another header; the library takes line ends as is."""
    return " ".join(text.replace("\\", "/").split())
