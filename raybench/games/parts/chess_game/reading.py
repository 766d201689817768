"""What a player wrote, read as a move of the position: SAN, UCI, and how people write them."""

import re
from collections.abc import Iterator

import chess

from raybench.games.parts.chess_game.reasons import no_castling, taken, unclear, why
from raybench.games.parts.chess_game.settings import SIDES
from raybench.games.parts.chess_game.spoken import noted, unwrapped
from raybench.games.parts.contract import InvalidMove
from raybench.games.parts.quoting import echoed
from raybench.statements import Statement

_LONGEST = 80
_FIGURINES = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP", "\ufe0e\ufe0f")
_MARKUP = str.maketrans("", "", "*_`~\"'“”‘’$[]")
_NUMBER = re.compile(r"\A(?:[1-9]\d{0,2}\s*(?:[.…)]+|\s)\s*)?[.…\s]*")
_AFTER = re.compile(
    r"\s+[({].*|(?:\s*(?:e\.?\s?p\.?(?!\w)|en passant|\+|#|check(?:mate)?\b|mate\b|[!?]"
    r"|(?<=\s)\$\d+))*[\s.,;:]*$",
    re.IGNORECASE | re.DOTALL,
)
_TO = re.compile(r"\s*(?:->|→|⇒|–|—|‑|−|\bto\b)\s*", re.IGNORECASE)
_CASTLING = re.compile(r"[0o]-?[0o](-?[0o])?", re.IGNORECASE)
_IN_WORDS = re.compile(
    r"castl(?:es?|ing)-?(?:(king-?side|short)|(queen-?side|long))"
    r"|(?:(king-?side|short)|(queen-?side|long))-?castl(?:es?|ing)",
    re.IGNORECASE,
)
_CASTLES = re.compile(r"castl(?:es?|ing)", re.IGNORECASE)
_TWO = re.compile(r"([KQRBN]?)([a-h][1-8]) ([a-h][1-8])", re.IGNORECASE)
_REST = r"([a-h])?([1-8])?([x×:-]?)([a-h])([1-8])(?:[=/]?\(?([kqrbnp])\)?)?"
_SQUARES = re.compile(r"[A-H][1-8][X×:-]?[A-H][1-8].*")
_WITH_PIECE = re.compile(rf"([kqrbnp]){_REST}", re.IGNORECASE)
_WITHOUT = re.compile(rf"(){_REST}", re.IGNORECASE)
_DRAW = re.compile(
    r"(.*?)[\s,;(]*(?:\band\s+)?(?:\bi\s+)?(?:\bclaim(?:s|ing)?\s+)?(?:\b(?:a|the)\s+)?"
    r"\bdraw(?:\s+claim)?[)\s.!?]*",
    re.IGNORECASE | re.DOTALL,
)
_RESIGN = re.compile(r"(?:i\s+)?resigns?[.!]*", re.IGNORECASE)


def intent(text: str) -> tuple[str, str]:
    """Return whether a draw is claimed ('draw') or the game given up ('resign'), and the move."""
    text = text.strip()
    if len(text) > _LONGEST:
        raise InvalidMove(
            Statement(
                "chess.too_long",
                "'{move}…' is too long for a move: write one move, as in Nf3",
                move=echoed(text, 40),
            )
        )
    lower = text.lower()
    if "resign" in lower and _RESIGN.fullmatch(text.translate(_MARKUP).strip()):
        return "resign", ""
    if "draw" in lower and (claim := _DRAW.fullmatch(text.translate(_MARKUP).strip())):
        return "draw", claim[1].strip()
    return "", text


def read(board: chess.Board, text: str) -> chess.Move:
    """Return the legal move that a text stands for; raises InvalidMove with the reason."""
    side, bare = unwrapped(text)
    if side not in (None, board.turn):
        raise InvalidMove(
            Statement(
                "chess.other_side",
                "you play {side}: write your own next move",
                side=SIDES[board.turn],
            )
        )
    said, victim = noted(bare)
    move = _read(board, _plain(said), bare or text)
    if victim and victim != taken(board, move):
        raise InvalidMove(
            Statement(
                "chess.no_victim",
                "there is no {piece} on {square} to take",
                piece=victim,
                square=chess.square_name(move.to_square),
            )
        )
    return move


def _read(board: chess.Board, plain: str, text: str) -> chess.Move:
    if side := _castling(plain):
        return _castled(board, kingside=side == "king")
    if _CASTLES.fullmatch(plain):
        return _castled_anywhere(board, plain)
    first: InvalidMove | None = None
    for found in _readings(plain):
        try:
            return _found(board, found, plain)
        except InvalidMove as error:
            first = first or error
    if first and not _are_two(board, text):
        raise first
    raise InvalidMove(_no_move(text))


def _plain(text: str) -> str:
    """Return a move without the number, the marks and the markup that it may be written with."""
    text = text.translate(_FIGURINES).strip(" \t\r\n*_`~\"'“”‘’[]")
    text = _AFTER.sub("", _NUMBER.sub("", text, count=1), count=1).translate(_MARKUP)
    text = _AFTER.sub("", text, count=1)  # marks may stand within the markup, or outside it
    return "".join(_TO.sub("-", text).split())


def _castling(plain: str) -> str:
    if found := _CASTLING.fullmatch(plain):
        return "queen" if found[1] else "king"
    if found := _IN_WORDS.fullmatch(plain):
        return "king" if found[1] or found[3] else "queen"
    return ""


def _castled(board: chess.Board, *, kingside: bool) -> chess.Move:
    for move in board.generate_castling_moves():
        if board.is_kingside_castling(move) == kingside:
            return move
    raise InvalidMove(no_castling(board, kingside=kingside))


def _castled_anywhere(board: chess.Board, plain: str) -> chess.Move:
    moves = [*board.generate_castling_moves()]
    if len(moves) == 1:
        return moves[0]
    if moves:
        raise InvalidMove(unclear(board, plain, moves))
    king, queen = (no_castling(board, kingside=kingside) for kingside in (True, False))
    if king == queen:
        raise InvalidMove(king)
    raise InvalidMove(Statement("chess.no_castling", "{king}; {queen}", king=king, queen=queen))


def _readings(plain: str) -> Iterator[re.Match[str]]:
    """Yield what a text can mean, the likelier first: a 'b' is a bishop or the b-file."""
    ways = [_WITHOUT]
    if plain[:1] in "KQRNPkqrnp":
        ways = [_WITH_PIECE]
    elif plain[:1] == "b":
        ways = [_WITHOUT, _WITH_PIECE]
    elif plain[:1] == "B":
        ways = [_WITH_PIECE]
        if plain == plain.upper():  # shouted: a square's file may be meant
            ways.insert(not _SQUARES.fullmatch(plain), _WITHOUT)
    for way in ways:
        if found := way.fullmatch(plain):
            yield found


def _found(board: chess.Board, found: re.Match[str], plain: str) -> chess.Move:
    letter, file, rank, sign, to_file, to_rank, into = found.groups()
    to = chess.parse_square(to_file.lower() + to_rank)
    promotion = chess.PIECE_SYMBOLS.index(into.lower()) if into else None
    where = chess.BB_ALL
    if file:
        where &= chess.BB_FILES["abcdefgh".index(file.lower())]
    if rank:
        where &= chess.BB_RANKS[int(rank) - 1]
    kind = chess.PIECE_SYMBOLS.index(letter.lower()) if letter else None
    if not (letter or (file and rank)):
        kind = chess.PAWN
    if kind == chess.PAWN and not file:
        where &= _pawns(board, to, takes=bool(letter and sign.strip("-")), named=bool(letter))
    if kind in (None, chess.KING) and (side := _king_leaps(board, where, to)):
        return _castled(board, kingside=side == "king")
    mask = where if kind is None else where & board.pieces_mask(kind, board.turn)
    legal = board.generate_legal_moves(mask, chess.BB_SQUARES[to])
    moves = [move for move in legal if move.promotion == promotion]
    if len(moves) == 1:
        return moves[0]
    if moves:
        raise InvalidMove(unclear(board, plain, moves))
    raise InvalidMove(why(board, plain, where, kind, to, promotion))


def _pawns(board: chess.Board, to: int, *, takes: bool, named: bool) -> int:
    """Return where the pawns that may be meant stand: on the square's file, or aside to take.

    A pawn that is named need not say that it takes, where no other could be meant.
    """
    ahead = chess.BB_FILES[chess.square_file(to)]
    aside = board.pieces_mask(chess.PAWN, board.turn) & ~ahead
    if named and not takes:
        goes = (any(board.generate_legal_moves(it, chess.BB_SQUARES[to])) for it in (ahead, aside))
        takes = [*goes] == [False, True]
    return aside if takes and aside else ahead


def _king_leaps(board: chess.Board, where: int, to: int) -> str:
    """Return to which side castling is written as a move of the king; '' where it is not.

    It goes two files, or onto its own rook, as some programs have it.
    """
    home = chess.E1 if board.turn else chess.E8
    if board.king(board.turn) != home or not where & chess.BB_SQUARES[home]:
        return ""
    onto_rook = board.piece_at(to) == chess.Piece(chess.ROOK, board.turn)
    if to == home + 2 or (onto_rook and to == home + 3):
        return "king"
    return "queen" if to == home - 2 or (onto_rook and to == home - 4) else ""


def _are_two(board: chess.Board, text: str) -> bool:
    """Tell whether two squares are two moves rather than from where to where: 'e4 e5', 'Nf3 e5'.

    So are those of which the first holds nothing of one's own and one could be gone to.
    """
    found = _TWO.fullmatch(" ".join(_words(text)))
    if found is None:
        return False
    one, other = (chess.parse_square(each.lower()) for each in found.groups()[1:])
    movers = board.pawns
    if found[1]:
        movers |= board.pieces_mask(chess.PIECE_SYMBOLS.index(found[1].lower()), board.turn)
    goals = chess.BB_SQUARES[one] | chess.BB_SQUARES[other]
    return board.color_at(one) != board.turn and any(board.generate_legal_moves(movers, goals))


def _words(text: str) -> list[str]:
    words = _NUMBER.sub("", text.translate(_MARKUP), count=1).split()
    return [word for word in map(_plain, words) if word]


def _no_move(text: str) -> str:
    words = _words(text)
    if len(words) > 1 and all(_castling(it) or [*_readings(it)] for it in words):
        return Statement(
            "chess.several_moves",
            "'{move}' holds {moves} moves: write one, your own next one",
            move=echoed(text, 40),
            moves=len(words),
        )
    return Statement(
        "chess.no_move",
        "'{move}' is no move: write it in standard algebraic notation (Nf3, exd5, "
        "O-O, e8=Q) or as the squares from and to (g1f3)",
        move=echoed(text, 40),
    )
