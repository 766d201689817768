"""How a game begins: a short sound opening or random plies, drawn by the seed."""

import random
from dataclasses import dataclass

import chess

from raybench.games.parts.chess_game.ending import Key, key
from raybench.games.parts.chess_game.settings import ChessRules, board_of

_BOOK = """
Alapin Sicilian: e4 c5 c3 Nf6
Alekhine Defence: e4 Nf6 e5 Nd5 d4 d6
Bishop's Opening: e4 e5 Bc4 Nf6
Bogo-Indian Defence: d4 Nf6 c4 e6 Nf3 Bb4+
Caro-Kann, Advance: e4 c6 d4 d5 e5 Bf5
Caro-Kann, Classical: e4 c6 d4 d5 Nc3 dxe4 Nxe4 Bf5
Catalan Opening: d4 Nf6 c4 e6 g3 d5
Closed Sicilian: e4 c5 Nc3 Nc6
Dutch Defence: d4 f5 g3 Nf6
English, Reversed Sicilian: c4 e5 Nc3 Nf6
English, Symmetrical: c4 c5 Nc3 Nc6
Four Knights Game: e4 e5 Nf3 Nc6 Nc3 Nf6
French, Advance: e4 e6 d4 d5 e5 c5
French, Classical: e4 e6 d4 d5 Nc3 Nf6
French, Tarrasch: e4 e6 d4 d5 Nd2 c5
French, Winawer: e4 e6 d4 d5 Nc3 Bb4
Giuoco Piano: e4 e5 Nf3 Nc6 Bc4 Bc5
Grünfeld Defence: d4 Nf6 c4 g6 Nc3 d5
King's Indian Attack: Nf3 d5 g3 Nf6
King's Indian Defence: d4 Nf6 c4 g6 Nc3 Bg7
London System: d4 d5 Bf4 Nf6
Modern Benoni: d4 Nf6 c4 c5 d5 e6
Nimzo-Indian Defence: d4 Nf6 c4 e6 Nc3 Bb4
Petrov Defence: e4 e5 Nf3 Nf6
Pirc Defence: e4 d6 d4 Nf6 Nc3 g6
Queen's Gambit Accepted: d4 d5 c4 dxc4 Nf3 Nf6
Queen's Gambit Declined: d4 d5 c4 e6 Nc3 Nf6
Queen's Indian Defence: d4 Nf6 c4 e6 Nf3 b6
Réti Opening: Nf3 d5 c4 e6
Ruy Lopez, Berlin: e4 e5 Nf3 Nc6 Bb5 Nf6
Ruy Lopez, Morphy: e4 e5 Nf3 Nc6 Bb5 a6
Scandinavian Defence: e4 d5 exd5 Qxd5 Nc3 Qa5
Scotch Game: e4 e5 Nf3 Nc6 d4 exd4
Semi-Slav Defence: d4 d5 c4 c6 Nc3 Nf6 Nf3 e6
Sicilian Dragon: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 g6
Sicilian Najdorf: e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6
Sicilian Rossolimo: e4 c5 Nf3 Nc6 Bb5 g6
Sicilian Taimanov: e4 c5 Nf3 e6 d4 cxd4 Nxd4 Nc6
Slav Defence: d4 d5 c4 c6 Nf3 Nf6
Tarrasch Defence: d4 d5 c4 e6 Nc3 c5
Two Knights Defence: e4 e5 Nf3 Nc6 Bc4 Nf6
Vienna Game: e4 e5 Nc3 Nf6
"""


@dataclass(frozen=True, slots=True)
class Opening:
    """Moves that are set before the players begin, so that White is to move after them."""

    name: str
    moves: tuple[str, ...]
    """In SAN."""


BOOK = tuple(
    Opening(name, tuple(moves.split()))
    for name, moves in (line.split(": ") for line in _BOOK.strip().splitlines())
)

NOTHING = Opening("", ())


def drawn(seed: int, rules: ChessRules) -> Opening:
    """Return the opening of a seed: out of the book, at random or both, as the rules have it."""
    rng = random.Random(f"chess/{seed}")
    book = rules.openings == "book" and rules.start == "standard"
    opening = rng.choice(BOOK) if book else NOTHING
    return _continued(board_of(rules.start), opening, rules.random_plies, rng)


def _continued(board: chess.Board, opening: Opening, plies: int, rng: random.Random) -> Opening:
    """Return an opening with random moves after it, none of which ends the game.

    No position comes up twice. They are fewer where no such move is left, and always even, so that
    nobody's turn changes.
    """
    if not plies:
        return opening
    for san in opening.moves:
        board.push_san(san)
    seen, moves = {key(board)}, list[str]()
    while len(moves) < plies and (
        going := [it for it in board.legal_moves if _on(board, it, seen)]
    ):
        moves.append(board.san_and_push(rng.choice(going)))
        seen.add(key(board))
    added = tuple(moves[: len(moves) // 2 * 2])
    name = f"{opening.name}, then random" if opening.name else "random"
    return Opening(name, opening.moves + added)


def _on(board: chess.Board, move: chess.Move, seen: set[Key]) -> bool:
    """Whether the game goes on after a move."""
    after = board.copy(stack=False)
    after.push(move)
    over = not any(after.generate_legal_moves()) or after.is_insufficient_material()
    return not over and after.halfmove_clock < 100 and key(after) not in seen
