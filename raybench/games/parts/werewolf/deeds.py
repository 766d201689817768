"""What is done by night and by day: by whom, in which order, and who learns what of it."""

from collections.abc import Sequence

from raybench.games.parts.werewolf.record import Event
from raybench.games.parts.werewolf.settings import GUARDIAN, NOBODY, SEER, WOLF

Step = tuple[str, str]
"""What is to be done, by whom."""

NIGHT = {"kill": WOLF, "guard": GUARDIAN, "look": SEER}
"""What is done by night, in this order, and by whom."""
_TASKS = {
    "kill": "Name your victim of this night, as in 'player_3'.",
    "guard": "Name whom you protect this night, as in 'player_3'.",
    "look": "Name whom you look at this night, as in 'player_3'.",
    "vote": "Vote for who is to be put to death, as in 'player_3', or for 'nobody'.",
    "speak": "Speak to the village, in at most {} words. Everybody will read what you say.",
}


def night(parts: Sequence[Step], *, quiet: bool) -> tuple[Step, ...]:
    """Return the steps of a night of these living seats, given with what each is.

    In a quiet one nobody is killed, and so nobody protected.
    """
    return tuple(
        (action, seat)
        for action, doer in NIGHT.items()
        for part, seat in parts
        if part == doer and not (quiet and action != "look")
    )


def day(seats: tuple[str, ...], living: Sequence[str], number: int, rounds: int) -> list[Step]:
    """Return the steps of a day: who begins sits one seat later than the day before."""
    first = (number - 1) % len(seats)
    order = [seat for seat in (*seats[first:], *seats[:first]) if seat in living]
    return [("speak", seat) for seat in order] * rounds + [("vote", seat) for seat in order]


def choices(
    action: str, seat: str, living: Sequence[str], wolves: tuple[str, ...], log: Sequence[Event]
) -> tuple[str, ...] | None:
    """Return whom a seat may choose, after all that happened; None where it speaks."""
    if action == "speak":
        return None
    barred: tuple[str, ...] = (seat,)
    if action == "kill":
        barred = wolves
    elif action == "guard":
        barred = tuple(it.move for it in log if it.kind == "guard")[-1:]
    possible = tuple(each for each in living if each not in barred)
    return (*possible, NOBODY) if action == "vote" else possible


def now(steps: Sequence[Step], number: int) -> str:
    """Return what is going on, with these steps to come."""
    if not steps:
        return "the game is over."
    action = steps[0][0]
    if action in NIGHT:
        return f"night {number}."
    return f"day {number}, {'the players speak' if action == 'speak' else 'the vote'}."


def task(action: str, words: int) -> str:
    """Return what is asked of whoever is to do this; a speech may have so many words."""
    return _TASKS[action].format(words)


def done(action: str, seat: str, said: str, wolves: tuple[str, ...]) -> Event:
    """Return what it is that somebody has done, and who knows of it."""
    if action == "speak":
        return Event(action, seat, f'{seat} said: "{said}"', said)
    if action == "kill":
        return Event(action, seat, f"{seat} named {said}.", said, "", wolves)
    if action == "look":
        shown, it = (WOLF, "a werewolf") if said in wolves else ("no werewolf", "not a werewolf")
        return Event(action, seat, f"You looked at {said}: {it}.", said, shown, (seat,))
    did = "protected" if action == "guard" else "voted for"
    return Event(action, seat, f"You {did} {said}.", said, "", (seat,))
