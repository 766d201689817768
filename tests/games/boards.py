"""What tests of chess begin with."""

from games.moving import after as moved

from raybench import games
from raybench.games import State

GAME = games.load("chess")


def begun(**rules: object) -> State:
    """Return a game from the start position, unless the rules say otherwise."""
    return GAME.new(0, openings="none", **rules)


def after(moves: str, **rules: object) -> State:
    """Return it after these moves, with spaces between them."""
    return moved(begun(**rules), *moves.split())
