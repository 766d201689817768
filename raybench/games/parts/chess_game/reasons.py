"""Why a move cannot be made, in words that whoever made it can use."""

from collections.abc import Iterable

import chess

from raybench.games.parts.chess_game.settings import SIDES
from raybench.statements import Statement

_SHOWN = 12
"""So many moves are named where those of a piece are."""


def unclear(board: chess.Board, text: str, moves: Iterable[chess.Move]) -> str:
    """Say which moves a text can mean."""
    return Statement(
        "chess.unclear",
        "'{move}' can mean {moves}: say which",
        move=text,
        moves=_listed(board, moves, "or"),
    )


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
        return Statement(
            "chess.castling_lost",
            "you may not castle {side}: your king or that rook has moved, or is not there",
            side=side,
        )
    if board.is_check():
        return Statement(
            "chess.castling_in_check",
            "you cannot castle while in check from {pieces}",
            pieces=_attackers(board, king),
        )
    if between := chess.SquareSet(chess.between(king, rook) & board.occupied):
        held = _and([chess.square_name(square) for square in between], "and")
        return Statement(
            "chess.castling_blocked",
            "you cannot castle {side}: there are pieces between king and rook, on {squares}",
            side=side,
            squares=held,
        )
    return Statement(
        "chess.castling_attacked",
        "you cannot castle {side}: a square that your king would cross or reach is attacked",
        side=side,
    )


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
        return Statement(
            "chess.own_piece",
            "{square} holds your own {piece}",
            square=chess.square_name(to),
            piece=_name(target.piece_type),
        )
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
            return Statement("chess.empty_square", "{square} is empty", square=name)
        if piece.color != board.turn:
            return Statement(
                "chess.others_piece",
                "the {piece} on {square} is {owner}'s, and you play {side}",
                piece=_name(piece.piece_type),
                square=name,
                owner=SIDES[piece.color],
                side=SIDES[board.turn],
            )
        return Statement(
            "chess.another_piece",
            "on {square} you have a {piece}, no {wanted}",
            square=name,
            piece=_name(piece.piece_type),
            wanted=_name(kind),
        )
    place = ""
    if where in chess.BB_FILES:
        place = f" on the {chess.FILE_NAMES[chess.BB_FILES.index(where)]}-file"
    elif where in chess.BB_RANKS:
        place = f" on rank {chess.BB_RANKS.index(where) + 1}"
    return Statement("chess.no_piece", "you have no {piece}{place}", piece=_name(kind), place=place)


def _promotion(text: str, moves: list[chess.Move]) -> str:
    if moves[0].promotion:
        return Statement(
            "chess.promotion_open",
            "a pawn that reaches the last rank becomes a queen, rook, bishop or knight: write "
            "which, as in {square}=Q",
            square=chess.square_name(moves[0].to_square),
        )
    return Statement(
        "chess.no_promotion",
        "'{move}' names a piece to become, and only a pawn on the last rank becomes one",
        move=text,
    )


def _exposed(board: chess.Board, move: chess.Move) -> str:
    after = board.copy(stack=False)
    after.push(move)
    king = after.king(board.turn)
    assert king is not None  # a start without kings is refused
    by = _attackers(after, king, by=not board.turn)
    if move.from_square == king or board.kings & chess.BB_SQUARES[move.from_square]:
        return Statement(
            "chess.king_attacked",
            "your king cannot go to {square}: it would be in check from {pieces}",
            square=chess.square_name(king),
            pieces=by,
        )
    if board.is_check():
        return Statement(
            "chess.in_check",
            "you are in check, and must end it: after that move your king on "
            "{king} would still be in check from {pieces}",
            king=chess.square_name(king),
            pieces=by,
        )
    piece = _name(board.piece_type_at(move.from_square))
    return Statement(
        "chess.pinned",
        "the {piece} on {square} is pinned: without it your king on "
        "{king} would be in check from {pieces}",
        piece=piece,
        square=chess.square_name(move.from_square),
        king=chess.square_name(king),
        pieces=by,
    )


def _out_of_reach(board: chess.Board, own: int, to: int) -> str:
    pieces, name = chess.SquareSet(own), chess.square_name(to)
    one = next(iter(pieces))
    kind = board.piece_type_at(one)
    if kind == chess.PAWN and len(pieces) == 1 and (said := _pawn(board, one, to)):
        return said
    if len(pieces) == 1:
        said, whose = f"your {_name(kind)} on {chess.square_name(one)} cannot go to {name}", "it"
    else:
        said, whose = f"no {_name(kind)} of yours can go to {name}", "they"
    can = [*board.generate_legal_moves(own)]
    moves = _listed(board, can, "or") if can else ""
    return Statement(
        "chess.out_of_reach",
        "{cannot_go}; {whose} {can}",
        cannot_go=said,
        whose=whose,
        can=f"can play {moves}" if can else "cannot move at all now",
        piece=_name(kind),
        to=name,
        moves=moves,
    )


def _pawn(board: chess.Board, square: int, to: int) -> str:
    ahead = 1 if board.turn else -1
    steps = (chess.square_rank(to) - chess.square_rank(square)) * ahead
    aside = abs(chess.square_file(to) - chess.square_file(square))
    if steps == 1 and aside == 1:
        return Statement(
            "chess.nothing_to_take",
            "there is nothing on {square} that your pawn could take",
            square=chess.square_name(to),
        )
    if steps in (1, 2) and aside == 0 and board.piece_at(square + 8 * ahead):
        blocked = chess.square_name(square + 8 * ahead)
        return Statement(
            "chess.pawn_blocked",
            "your pawn is blocked: {square} is occupied, and pawns take only diagonally",
            square=blocked,
        )
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
