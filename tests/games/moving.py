"""What tests of several games do: make moves, write matches down, let able stand-ins play."""

from typing import Any, TypeVar

from raybench.games import Game, State, Written
from raybench.games.parts.conformance import play

S = TypeVar("S", bound=State)


def after(state: S, *moves: str) -> S:
    """Return the state to which moves lead."""
    made: State = state
    for move in moves:
        made = made.apply(move)
    assert isinstance(made, type(state))
    return made


def written_down(game: Game[Any], first: State, *moves: tuple[str, str]) -> str:
    """Return a match of these moves, each with its role, as people read it: by players a and b."""
    last = after(first, *(move for _, move in moves))
    players = {role: chr(ord("a") + at) for at, role in enumerate(first.roles)}
    assert game.written is not None
    return game.written(Written(first, moves, players, last.scores(), last.outcome))


def able(game: Game[Any], matches: int = 200) -> list[State]:
    """Return how matches of able stand-ins end."""
    return [play(game, seed, good=True).states[-1] for seed in range(matches)]


def share_won(ends: list[State], role: str) -> float:
    """Return in what share of the matches a role has won."""
    return sum(end.scores()[role] > 0 for end in ends) / len(ends)
