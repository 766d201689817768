"""Why a move cannot be made, in words that whoever made it can use."""

from collections.abc import Iterable

import chess

from raybench.games.parts.chess_game.settings import SIDES

_SHOWN = 12
"""So many moves are named where those of a piece are."""


def unclear(board: chess.Board, text: str, moves: Iterable[chess.Move]) -> str:
    """Say which moves a text can mean."""
    return f"'{text}' can mean {_listed(board, moves, 'or')}: say which"


def taken(board: chess.Board, move: chess.Move) -> str:
    """Return what kind of piece a move takes; '' where it takes none."""
    if board.is_en_passant(move):
        return chess.piece_name(chess.PAWN)
    kind = None if board.is_castling(move) else board.piece_type_at(move.to_square)
    return chess.piece_name(kind) if kind is not None else ""


def no_castling(board: chess.Board, *, kingside: bool) -> str:
    """Say why the side to move cannot castle there."""
    side = "kingside" if kingside else "queenside"
    king, rank = board.king(board.turn), 0 if board.turn else 7
    rook = chess.square(7 if kingside else 0, rank)
    if king is None or not board.clean_castling_rights() & chess.BB_SQUARES[rook]:
        return f"you may not castle {side}: your king or that rook has moved, or is not there"
    if board.is_check():
        return f"you cannot castle while in check from {_attackers(board, king)}"
    if between := chess.SquareSet(chess.between(king, rook) & board.occupied):
        held = _and([chess.square_name(square) for square in between], "and")
        return f"you cannot castle {side}: there are pieces between king and rook, on {held}"
    return f"you cannot castle {side}: a square that your king would cross or reach is attacked"


def why(
    board: chess.Board, text: str, where: int, kind: int | None, to: int, promotion: int | None
) -> str:
    """Say why no legal move goes from these squares, by that kind of piece, to that square."""
    own = where & board.occupied_co[board.turn]
    if kind is not None:
        own &= board.pieces_mask(kind, board.turn)
    if not own:
        return _nothing_there(board, where, kind)
    target = board.piece_at(to)
    if target is not None and target.color == board.turn:
        return f"{chess.square_name(to)} holds your own {_name(target.piece_type)}"
    moves = [*board.generate_pseudo_legal_moves(own, chess.BB_SQUARES[to])]
    if any(board.is_legal(move) for move in moves):
        return _promotion(text, moves)
    return _exposed(board, moves[0]) if moves else _out_of_reach(board, own, to)


def _nothing_there(board: chess.Board, where: int, kind: int | None) -> str:
    squares = chess.SquareSet(where)
    if len(squares) == 1:
        square = squares.pop()
        piece, name = board.piece_at(square), chess.square_name(square)
        if piece is None:
            return f"{name} is empty"
        if piece.color != board.turn:
            return (
                f"the {_name(piece.piece_type)} on {name} is {SIDES[piece.color]}'s, and you play "
                f"{SIDES[board.turn]}"
            )
        return f"on {name} you have a {_name(piece.piece_type)}, no {_name(kind)}"
    place = ""
    if where in chess.BB_FILES:
        place = f" on the {chess.FILE_NAMES[chess.BB_FILES.index(where)]}-file"
    elif where in chess.BB_RANKS:
        place = f" on rank {chess.BB_RANKS.index(where) + 1}"
    return f"you have no {_name(kind)}{place}"


def _promotion(text: str, moves: list[chess.Move]) -> str:
    if moves[0].promotion:
        return (
            f"a pawn that reaches the last rank becomes a queen, rook, bishop or knight: write "
            f"which, as in {chess.square_name(moves[0].to_square)}=Q"
        )
    return f"'{text}' names a piece to become, and only a pawn on the last rank becomes one"


def _exposed(board: chess.Board, move: chess.Move) -> str:
    after = board.copy(stack=False)
    after.push(move)
    king = after.king(board.turn)
    assert king is not None  # a start without kings is refused
    by = _attackers(after, king, by=not board.turn)
    if move.from_square == king or board.kings & chess.BB_SQUARES[move.from_square]:
        return f"your king cannot go to {chess.square_name(king)}: it would be in check from {by}"
    if board.is_check():
        return (
            f"you are in check, and must end it: after that move your king on "
            f"{chess.square_name(king)} would still be in check from {by}"
        )
    piece = _name(board.piece_type_at(move.from_square))
    return (
        f"the {piece} on {chess.square_name(move.from_square)} is pinned: without it your king on "
        f"{chess.square_name(king)} would be in check from {by}"
    )


def _out_of_reach(board: chess.Board, own: int, to: int) -> str:
    pieces, name = chess.SquareSet(own), chess.square_name(to)
    one = next(iter(pieces))
    kind = board.piece_type_at(one)
    if kind == chess.PAWN and len(pieces) == 1 and (said := _pawn(board, one, to)):
        return said
    if len(pieces) == 1:
        said = f"your {_name(kind)} on {chess.square_name(one)} cannot go to {name}"
    else:
        said = f"no {_name(kind)} of yours can go to {name}"
    can = [*board.generate_legal_moves(own)]
    whose = "it" if len(pieces) == 1 else "they"
    return (
        f"{said}; {whose} can play " + _listed(board, can, "or")
        if can
        else (f"{said}; {whose} cannot move at all now")
    )


def _pawn(board: chess.Board, square: int, to: int) -> str:
    ahead = 1 if board.turn else -1
    steps = (chess.square_rank(to) - chess.square_rank(square)) * ahead
    aside = abs(chess.square_file(to) - chess.square_file(square))
    if steps == 1 and aside == 1:
        return f"there is nothing on {chess.square_name(to)} that your pawn could take"
    if steps in (1, 2) and aside == 0 and board.piece_at(square + 8 * ahead):
        blocked = chess.square_name(square + 8 * ahead)
        return f"your pawn is blocked: {blocked} is occupied, and pawns take only diagonally"
    return ""


def _attackers(board: chess.Board, square: int, by: bool | None = None) -> str:
    side = (not board.turn) if by is None else by
    found = board.attackers(side, square)
    return _and(
        [f"the {_name(board.piece_type_at(it))} on {chess.square_name(it)}" for it in found]
    )


def _listed(board: chess.Board, moves: Iterable[chess.Move], last: str) -> str:
    own = board.copy(stack=False)  # to write a move down makes it
    names = [own.san(move) for move in moves]
    return _and(names[:_SHOWN] + ["others"] * (len(names) > _SHOWN), last)


def _and(words: list[str], last: str = "and") -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _name(kind: int | None) -> str:
    return chess.piece_name(kind) if kind is not None else "piece"
