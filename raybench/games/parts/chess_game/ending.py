"""When a game of chess is over, and how it ended."""

from typing import NamedTuple

import chess

from raybench.games.parts.chess_game.settings import ROLES, SIDES, ChessRules
from raybench.statements import Statement

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
        return Statement("chess.threefold", "draw by threefold repetition")
    if board.halfmove_clock >= 100:
        return Statement("chess.fifty_moves", "draw by the fifty-move rule")
    return ""


def ended(board: chess.Board, times: int, made: int, rules: ChessRules) -> End | None:
    """Return how the game has ended, if it has.

    The position came up so many times; the players have made so many moves.
    """
    if not any(board.generate_legal_moves()):
        if not board.is_check():
            return End(Statement("chess.stalemate", "draw by stalemate"))
        winner = SIDES[not board.turn]
        how = Statement("chess.checkmate", "checkmate: {winner} won", winner=winner)
        return End(how, ROLES[board.turn])
    if board.is_insufficient_material():
        how = Statement("chess.no_material", "draw: neither side has what it takes to mate")
        return End(how)
    if times >= 5:
        return End(Statement("chess.fivefold", "draw by fivefold repetition"))
    if board.halfmove_clock >= 150:
        return End(Statement("chess.seventy_five_moves", "draw by the seventy-five-move rule"))
    if rules.claims == "automatic" and (claim := claimable(board, times)):
        return End(claim)
    if made >= rules.plies:
        cap = Statement("chess.cap", "draw at the cap of {plies} plies", plies=rules.plies)
        return End(cap, None, True)
    return None
