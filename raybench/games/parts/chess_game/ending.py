"""When a game of chess is over, and how it ended."""

from typing import NamedTuple

import chess

from raybench.games.parts.chess_game.settings import ROLES, SIDES, ChessRules

Key = tuple[object, ...]
"""All that makes two positions the same for repetition."""


class End(NamedTuple):
    """How a game ended, and who won it; None at a draw."""

    how: str
    winner: str | None = None
    adjudicated: bool = False
    """Not by the rules of chess, but because it had to end."""


def key(board: chess.Board) -> Key:
    """Return what a position is compared by: pieces, turn, and what may still be done."""
    return (
        board.pawns,
        board.knights,
        board.bishops,
        board.rooks,
        board.queens,
        board.kings,
        board.occupied_co[chess.WHITE],
        board.turn,
        board.clean_castling_rights(),
        board.ep_square if board.has_legal_en_passant() else None,
    )


def claimable(board: chess.Board, times: int) -> str:
    """Return the draw that may be claimed where a position came up so often; '' for none."""
    if times >= 3:
        return "draw by threefold repetition"
    return "draw by the fifty-move rule" if board.halfmove_clock >= 100 else ""


def ended(board: chess.Board, times: int, made: int, rules: ChessRules) -> End | None:
    """Return how the game has ended, if it has.

    The position came up so many times; the players have made so many moves.
    """
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return End("draw by stalemate")
        return End(f"checkmate: {SIDES[not board.turn]} won", ROLES[board.turn])
    if board.is_insufficient_material():
        return End("draw: neither side has what it takes to mate")
    if times >= 5:
        return End("draw by fivefold repetition")
    if board.halfmove_clock >= 150:
        return End("draw by the seventy-five-move rule")
    if rules.claims == "automatic" and (how := claimable(board, times)):
        return End(how)
    return (
        End(f"draw at the cap of {rules.plies} plies", None, True) if made >= rules.plies else None
    )
