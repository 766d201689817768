"""The seats of games whose players have numbers for names: player_1, player_2 and so on."""

from functools import cache


@cache
def seats(players: int) -> tuple[str, ...]:
    """Return the roles of so many players."""
    return tuple(named(seat) for seat in range(players))


def named(seat: int) -> str:
    """Return the role of a seat; the first one is 0."""
    return f"player_{seat + 1}"


def seat_of(role: str) -> int:
    """Return the seat of a role."""
    return int(role.removeprefix("player_")) - 1
