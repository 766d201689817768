"""A position in words, as a player of either side reads it."""

from collections.abc import Sequence
from functools import cache

import chess

from raybench.games.parts.chess_game.ending import End
from raybench.games.parts.chess_game.openings import Opening
from raybench.games.parts.chess_game.settings import SIDES

_SHOWN = 160
"""So many plies of the game so far are told; the position says the rest."""
_RUNS = [("." * length, str(length)) for length in range(8, 0, -1)]
_LETTERS = (("P", "p"), ("N", "n"), ("B", "b"), ("R", "r"), ("Q", "q"), ("K", "k"))
_FILES = "  a b c d e f g h"


def shown(
    role: str,
    board: chess.Board,
    moves: tuple[str, ...],
    opening: Opening,
    times: int,
    end: End | None,
    plies: int,
) -> str:
    """Return a game as a player sees it, whose position came up so often."""
    made, set_ = len(moves) - len(opening.moves), len(opening.moves)
    lines = [f"You play {side(role)}. Plies made: {made} of at most {plies}."]
    lines += [_drawn(board), _told(moves)]
    if set_:
        lines.append(f"The first {set_} plies were set ({opening.name}).")
    if times > 1:
        lines.append(f"This position has come up {times} times.")
    if end:
        lines.append(f"The game is over: {end.how}.")
    else:
        check = ", who is in check" if board.is_check() else ""
        lines.append(f"Move {board.fullmove_number}: {SIDES[board.turn]} is to move{check}.")
    return "\n".join(lines)


def choice(legal: Sequence[str], claim: str) -> str:
    """Return what whoever is to move may do, as far as it is shown."""
    moves = f"\nYour legal moves: {', '.join(legal)}" if legal else ""
    return moves + ("\nYou may claim a draw." if claim else "")


@cache
def task(role: str) -> str:
    """Return what is asked of whoever is to move."""
    return (
        f"Make your move as {side(role)}: one move in standard algebraic notation (Nf3, exd5, "
        "O-O, e8=Q) or as the squares from and to (g1f3, e7e8q)."
    )


def _drawn(board: chess.Board) -> str:
    """Return the position as FEN and as a board of letters, White below, as diagrams have it."""
    rows = _rows(board)
    placed = "/".join(rows)
    for dots, length in _RUNS:
        placed = placed.replace(dots, length)
    turn = "w" if board.turn else "b"
    passing = board.ep_square if board.has_legal_en_passant() else None
    square = "-" if passing is None else chess.square_name(passing)
    fen = (
        f"{placed} {turn} {board.castling_xfen()} {square} {board.halfmove_clock} "
        f"{board.fullmove_number}"
    )
    lines = [f"{8 - number} {' '.join(row)}" for number, row in enumerate(rows)]
    return (
        f"FEN: {fen}\nThe board, White's pieces in capitals, dots for empty squares:\n"
        + "\n".join(lines)
        + f"\n{_FILES}"
    )


def _rows(board: chess.Board) -> list[str]:
    """Return the board's rows from the eighth down.

    The library's own takes four times as long, which was a third of a move's time in all.
    """
    squares, white = ["."] * 64, board.occupied_co[chess.WHITE]
    kinds = board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings
    for (upper, lower), kind in zip(_LETTERS, kinds, strict=True):
        for square in chess.scan_forward(kind & white):
            squares[square] = upper
        for square in chess.scan_forward(kind & ~white):
            squares[square] = lower
    return ["".join(squares[first : first + 8]) for first in range(56, -1, -8)]


def number(board: chess.Board, *, first: bool) -> str:
    """Return what stands before the next move on a scoresheet: White's have numbers."""
    if board.turn:
        return f"{board.fullmove_number}. "
    return f"{board.fullmove_number}... " if first else ""


def _told(moves: tuple[str, ...]) -> str:
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
