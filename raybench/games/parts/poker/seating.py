"""Who plays a hand, in which order, and where the button lies."""

from collections.abc import Sequence

Order = tuple[int, ...]
"""The seats in a hand, from the left of the button, which is the last one."""


def playing(stacks: Sequence[int], gone: Sequence[int]) -> list[int]:
    """Return the seats that have chips and are still there."""
    return [seat for seat, chips in enumerate(stacks) if chips and seat not in gone]


def first(players: int) -> Order:
    """Return the order of the first hand, in which seat 0 begins."""
    # Before the flop the third seat after the button begins; of two players the button does.
    return _from([*range(players)], 0 if players == 2 else (players - 3) % players)


def following(order: Order, players: Sequence[int]) -> Order:
    """Return the order of the next hand, which these play."""
    if len(order) > 2 == len(players) and order[1] in players:
        # Of two the button posts the small blind: nobody posts the big one twice in a row.
        return _from(players, order[1])
    return _from(players, order[-1] + 1)


def _from(players: Sequence[int], button: int) -> Order:
    """Return the order with the button at this seat, or the next one in play."""
    at = next((place for place, seat in enumerate(players) if seat >= button), 0)
    return (*players[at + 1 :], *players[: at + 1])
