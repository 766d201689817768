"""How stand-ins play: at random, or as somebody who looks one move ahead."""

import random

import chess

_WORTH = {
    chess.PAWN: 1.0,
    chess.KNIGHT: 3.0,
    chess.BISHOP: 3.0,
    chess.ROOK: 5.0,
    chess.QUEEN: 9.0,
    chess.KING: 100.0,
}


def any_move(board: chess.Board, rng: random.Random) -> chess.Move:
    """Return a legal move at random; by piece first, which is quicker than listing all moves."""
    squares = [*chess.scan_forward(board.occupied_co[board.turn])]
    begin = rng.randrange(len(squares))
    for square in squares[begin:] + squares[:begin]:
        if moves := [*board.generate_legal_moves(chess.BB_SQUARES[square])]:
            return rng.choice(moves)
    raise ValueError("no legal move: the game is over")


def greedy_move(board: chess.Board, rng: random.Random) -> chess.Move:
    """Return the move that takes or makes the most, whatever it costs, at random among equals."""
    gains = [(_gain(board, move), move) for move in board.legal_moves]
    most = max(gain for gain, _ in gains)
    return rng.choice([move for gain, move in gains if gain == most])


def good_move(board: chess.Board, rng: random.Random) -> chess.Move:
    """Return mate if there is one, else what wins most or loses least, at random among equals."""
    best, moves = float("-inf"), list[chess.Move]()
    board = board.copy(stack=False)  # whether a move gives check, it is made to see
    near = _towards_king(board)
    for move in board.legal_moves:
        value = _value(board, move)
        if _may_check(board, move, near) and board.gives_check(move):
            after = board.copy(stack=False)
            after.push(move)
            if not any(after.generate_legal_moves()):
                return move
        if value > best:
            best, moves = value, []
        if value == best:
            moves.append(move)
    return rng.choice(moves)


def _towards_king(board: chess.Board) -> int:
    """Return the squares from which something may see the other king, and those that hide it."""
    king = board.king(not board.turn)
    if king is None:
        return chess.BB_ALL
    straight = (
        chess.BB_DIAG_ATTACKS[king][chess.BB_DIAG_MASKS[king] & board.occupied]
        | chess.BB_RANK_ATTACKS[king][chess.BB_RANK_MASKS[king] & board.occupied]
        | chess.BB_FILE_ATTACKS[king][chess.BB_FILE_MASKS[king] & board.occupied]
    )
    return straight | chess.BB_KNIGHT_ATTACKS[king]


def _may_check(board: chess.Board, move: chess.Move, near: int) -> bool:
    """Return whether a move may give check: most cannot, which is seen without making them."""
    ends = chess.BB_SQUARES[move.from_square] | chess.BB_SQUARES[move.to_square]
    # These two change more squares than those.
    return bool(ends & near) or board.is_castling(move) or board.is_en_passant(move)


def _value(board: chess.Board, move: chess.Move) -> float:
    piece, won = _kind(board, move.from_square), _gain(board, move)
    if piece == chess.KING:
        return won
    placed = move.promotion or piece
    left = board.occupied & ~chess.BB_SQUARES[move.from_square]
    saved = _danger(board, move.from_square, piece, board.occupied)
    return won + saved - _danger(board, move.to_square, placed, left)


def _gain(board: chess.Board, move: chess.Move) -> float:
    """Return the worth of what a move takes, and of what a pawn becomes by it."""
    taken = board.piece_type_at(move.to_square)
    if taken is None and board.is_en_passant(move):
        taken = chess.PAWN
    won = _WORTH[taken] if taken else 0.0
    return won + (_WORTH[move.promotion] - _WORTH[chess.PAWN] if move.promotion else 0.0)


def _danger(board: chess.Board, square: int, piece: int, occupied: int) -> float:
    """Return what a piece of ours would lose on a square, as far as one exchange shows."""
    there = occupied | chess.BB_SQUARES[square]
    attackers = board.attackers_mask(not board.turn, square, there) & there
    if not attackers:
        return 0.0
    cheapest = min(_WORTH[_kind(board, it)] for it in chess.scan_forward(attackers))
    ours = board.attackers_mask(board.turn, square, there) & occupied & ~chess.BB_SQUARES[square]
    return max(0.0, _WORTH[piece] - cheapest) if ours else _WORTH[piece]


def _kind(board: chess.Board, square: int) -> int:
    kind = board.piece_type_at(square)
    assert kind is not None  # whoever moves or attacks is there
    return kind
