"""What moves are worth in material, by a search of fixed depth: a move, the best reply, exchanges.

It is no strong player. It sees what is won or lost at once, and mates that come at once.
"""

from functools import lru_cache

import chess

MATE = 15.0
"""Pawns. More would make all moves alike that do not lose at once."""
_WORTH = {chess.PAWN: 1.0, chess.KNIGHT: 3.0, chess.BISHOP: 3.0, chess.ROOK: 5.0, chess.QUEEN: 9.0}
_EXCHANGES = 4
"""Captures in a row, behind the reply."""


def values(board: chess.Board) -> dict[str, float]:
    """Return what each legal move is worth to whoever makes it, in pawns, by its UCI."""
    return _values(board.fen())


@lru_cache(maxsize=4096)
def _values(fen: str) -> dict[str, float]:
    board, found = chess.Board(fen), dict[str, float]()
    for move in [*board.legal_moves]:
        board.push(move)
        found[move.uci()] = -_best(board)
        board.pop()
    return found


def _best(board: chess.Board) -> float:
    """Return what the position is worth to whoever is to move, who looks one move ahead."""
    best = -MATE
    moves = sorted(board.legal_moves, key=lambda it: not board.is_capture(it))
    if not moves:
        return -MATE if board.is_check() else 0.0
    for move in moves:
        board.push(move)
        best = max(best, -_settled(board, -MATE, -best, _EXCHANGES))
        board.pop()
    return best


def _settled(board: chess.Board, lower: float, upper: float, left: int) -> float:
    """Return what a position is worth to whoever is to move when exchanges are over."""
    if board.is_check() and not any(board.generate_legal_moves()):
        return -MATE
    best = _material(board)
    if not left or best >= upper:
        return best
    lower = max(lower, best)
    for move in board.generate_legal_captures():
        board.push(move)
        best = max(best, -_settled(board, -upper, -lower, left - 1))
        board.pop()
        lower = max(lower, best)
        if lower >= upper:
            break
    return best


def _material(board: chess.Board) -> float:
    """Return the worth of the pieces of whoever is to move, less the other side's."""
    ours, theirs = board.occupied_co[board.turn], board.occupied_co[not board.turn]
    found = 0.0
    for kind, worth in _WORTH.items():
        pieces = board.pieces_mask(kind, chess.WHITE) | board.pieces_mask(kind, chess.BLACK)
        found += worth * ((pieces & ours).bit_count() - (pieces & theirs).bit_count())
    return found
