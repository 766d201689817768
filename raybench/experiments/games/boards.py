"""A match of chess as positions on a board, for the report's reader."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from raybench import games
from raybench.games import InvalidMove
from raybench.games.parts.chess_game.settings import board_of
from raybench.tracking.report import Ply

if TYPE_CHECKING:
    from raybench.games.chess import Chess

_SET = "the opening, which was set"


def plies(record: Mapping[str, Any], rules: Mapping[str, Any]) -> list[Ply]:
    """Return the positions of a match, those of its opening in front.

    There are none of one that today's rules cannot replay: what its models saw stands beside.
    """
    try:
        return list(_plies(record, rules))
    except InvalidMove:
        return []


def _plies(record: Mapping[str, Any], rules: Mapping[str, Any]) -> Iterator[Ply]:
    state = cast("Chess", games.load("chess").new(record["seed"], **rules))
    board = board_of(state.rules.start)
    yield Ply(board.board_fen(), "start")
    for said in state.moves:
        move = board.parse_san(said.rpartition(" ")[2])
        board.push(move)
        yield Ply(board.board_fen(), said, _SET, _squares(move))
    for number, turn in enumerate(record["turns"]):
        if turn["error"] is None:
            before, state = state, state.apply(turn["move"])
            by = f"{turn['role']}, {turn['model']}"
            if len(state.moves) > len(before.moves):
                squares = _squares(state.last)
                yield Ply(state.board.board_fen(), state.moves[-1], by, squares, number)
            else:  # who resigns or claims a draw moves nothing
                yield Ply(state.board.board_fen(), turn["move"], by, (), number)


def _squares(move: Any) -> tuple[str, ...]:
    import chess

    return (chess.square_name(move.from_square), chess.square_name(move.to_square))
