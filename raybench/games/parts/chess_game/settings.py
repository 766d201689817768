"""How chess is played where that can be chosen; and the rules in words."""

from dataclasses import dataclass
from functools import lru_cache

import chess

from raybench.games.parts.contract import Rules

ROLES = ("white", "black")
SIDES = {chess.WHITE: "White", chess.BLACK: "Black"}


@dataclass(frozen=True, slots=True)
class ChessRules(Rules):
    """From where a game is played, for how long, and what the players see."""

    start: str = "standard"
    """Or a FEN. The book begins at the standard position and is left out with a FEN."""
    openings: str = "book"
    """book: the seed draws one of the shipped openings; none: from the start itself."""
    random_plies: int = 0
    """So many random plies, drawn by the seed, come after that."""
    plies: int = 200
    """The game is a draw once both players together have made so many moves."""
    claims: str = "automatic"
    """automatic: what could be claimed as a draw is one; players: they have to claim it."""
    resign: bool = False
    show_legal: bool = False
    picture: bool = False

    def __post_init__(self) -> None:
        self.one_of(openings=("book", "none"), claims=("automatic", "players"))
        self.within(plies=(1, 1000))
        if not 0 <= self.random_plies <= 40 or self.random_plies % 2:
            raise ValueError(
                f"random_plies is {self.random_plies}: it is an even number, 0 to 40, so that "
                "nobody's turn changes"
            )
        if self.start != "standard":
            _check(self.start, self.claims == "automatic")


def board_of(start: str) -> chess.Board:
    """Return the board that a start names."""
    return chess.Board() if start == "standard" else chess.Board(start)


def _check(start: str, automatic: bool) -> None:
    mend = f"give 'standard' or a FEN such as '{chess.STARTING_FEN}'"
    try:
        board = chess.Board(start)
    except ValueError as error:
        raise ValueError(f"start is '{start}', which is no FEN ({error}): {mend}") from error
    if wrong := [str(it.name).lower().replace("_", " ") for it in board.status()]:
        raise ValueError(f"start is '{start}', which cannot be played ({', '.join(wrong)}): {mend}")
    drawn = board.halfmove_clock >= (100 if automatic else 150)
    if drawn or board.is_game_over():
        raise ValueError(f"start is '{start}', where the game is over: give one that can be played")


@lru_cache(maxsize=64)
def in_words(rules: ChessRules, role: str) -> str:
    """Return the rules as a player reads them."""
    draws = (
        "It is a draw by stalemate, when neither side has what it takes to mate, when a position "
        "comes up for the third time, and after 50 moves of each side without a capture or a pawn "
        "move."
        if rules.claims == "automatic"
        else "It is a draw by stalemate, when neither side has what it takes to mate, when a "
        "position comes up for the fifth time, and after 75 moves of each side without a capture "
        "or a pawn move. When a position has come up three times, or 50 moves of each side were "
        "made without a capture or a pawn move, whoever is to move may claim a draw with 'draw'; "
        "where a move would bring that about, its player may claim it with the move, as in "
        "'Nf3 draw'."
    )
    cap = (
        f" After {rules.plies} plies (moves of either side, set openings not counted) the game is "
        "a draw, whatever stands on the board."
    )
    resign = " You may resign with 'resign'." if rules.resign else ""
    return (
        f"You play chess by the usual rules, as {role.capitalize()}. Checkmate wins. "
        f"{draws}{cap}{resign} Draws are not offered."
    )
