"""A match as chess players write it down."""

from typing import TYPE_CHECKING, cast

import chess.pgn

from raybench.games.parts.chess_game.ending import End
from raybench.games.parts.chess_game.settings import board_of
from raybench.games.parts.contract import InvalidMove, Written
from raybench.games.parts.transcript import ended, last, line, sentence

if TYPE_CHECKING:
    from raybench.games.chess import Chess

_RESULTS = {1.0: "1-0", 0.0: "1/2-1/2", -1.0: "0-1"}


def written(match: Written) -> str:
    """Return the PGN of a match, with the opening's moves in front and a comment where they end.

    One that cannot be replayed says so in a comment: readers take all else for moves.
    """
    game, moves = chess.pgn.Game(), []
    try:
        state = cast("Chess", last(match))
    except InvalidMove:  # an older version took moves that this one does not
        game.comment = "The match cannot be replayed by these rules; the journal has it."
        game.headers.update(_headers(match, None))
        return _exported(game)
    board = board_of(state.rules.start)
    game.setup(board)
    for numbered in state.moves:
        moves.append(board.parse_san(numbered.rpartition(" ")[2]))
        board.push(moves[-1])
    end = game.add_line(moves) if moves else game
    game.headers.update(_headers(match, state.end))
    if state.opening.name:
        game.headers["Opening"] = state.opening.name
    game.headers["PlyCount"] = str(len(moves))
    how = sentence(ended(match)) if match.forfeits else match.outcome
    if made := len(state.opening.moves):
        begin = [*game.mainline()][made - 1]
        begin.comment = f"The {made} plies so far were set: the players begin here."
    end.comment = " ".join(filter(None, (end.comment, how)))
    return _exported(game)


def _headers(match: Written, end: End | None) -> dict[str, str]:
    scored = match.scores.get("white")
    result = _RESULTS.get(scored, "*") if scored is not None else "*"
    return {
        "Event": _one_line(match.event),
        "Date": match.date or "????.??.??",
        "Round": _one_line(match.round),
        "White": _one_line(match.players.get("white", "?")),
        "Black": _one_line(match.players.get("black", "?")),
        "Result": result,
        "Termination": _termination(match, result, end),
    }


def _exported(game: chess.pgn.Game) -> str:
    return str(game.accept(chess.pgn.StringExporter(columns=80))) + "\n"


def _termination(match: Written, result: str, end: End | None) -> str:
    """Return the standard's word for how the game ended."""
    if match.forfeits:
        return "rules infraction"
    if result == "*":
        return "unterminated"
    return "adjudication" if end is not None and end.adjudicated else "normal"


def _one_line(text: str) -> str:
    """Return a text that cannot be taken for another header; the library takes line ends as is."""
    return line(text.replace("\\", "/"))
