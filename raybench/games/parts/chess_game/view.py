"""A position in words, as a player of either side reads it."""

import chess

from raybench.games.parts.chess_game.settings import SIDES

_SHOWN = 160
"""So many plies of the game so far are told; the position says the rest."""
_EMPTY = str.maketrans({str(n): "." * n for n in range(1, 9)})
_FILES = "  a b c d e f g h"


def drawn(board: chess.Board) -> str:
    """Return the position as FEN and as a board of letters, White below, as diagrams have it."""
    placed = board.board_fen()
    turn = "w" if board.turn else "b"
    passing = board.ep_square if board.has_legal_en_passant() else None
    square = "-" if passing is None else chess.square_name(passing)
    fen = (
        f"{placed} {turn} {board.castling_xfen()} {square} {board.halfmove_clock} "
        f"{board.fullmove_number}"
    )
    rows = placed.translate(_EMPTY).split("/")
    lines = [f"{8 - number} {' '.join(row)}" for number, row in enumerate(rows)]
    return (
        f"FEN: {fen}\nThe board, White's pieces in capitals, dots for empty squares:\n"
        + "\n".join(lines)
        + f"\n{_FILES}"
    )


def number(board: chess.Board, *, first: bool) -> str:
    """Return what stands before the next move on a scoresheet: White's have numbers."""
    if board.turn:
        return f"{board.fullmove_number}. "
    return f"{board.fullmove_number}... " if first else ""


def told(moves: tuple[str, ...]) -> str:
    """Return the game so far, which begins later where it is long."""
    if not moves:
        return "Moves so far: none"
    left = max(0, len(moves) - _SHOWN)
    if left and not moves[left][0].isdigit():
        left += 1
    return f"Moves so far: {'… ' * bool(left)}{' '.join(moves[left:])}"


def side(role: str) -> str:
    """Return what a role's side is called."""
    return SIDES[role == "white"]
