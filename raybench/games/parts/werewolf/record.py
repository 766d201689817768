"""What happened, who knows of it, and what one player sees of the whole."""

from collections.abc import Iterable
from typing import NamedTuple

from raybench.games.parts.werewolf.settings import VILLAGER, WOLF, WerewolfRules


class Event(NamedTuple):
    """Something that happened, told in a line that everybody who knows of it reads alike."""

    kind: str
    """kill, guard, look, speak, vote: what somebody did. dusk, dawn, tally, left, end: what came
    of it for everybody."""
    seat: str
    """Who did it; who is dead; who has won; '' for nobody."""
    text: str
    move: str = ""
    """What was named or said."""
    shown: str = ""
    """What the seer saw, and what the dead were, where that is told."""
    known_to: tuple[str, ...] | None = None
    """None: to everybody."""


DEATHS = ("dawn", "tally", "left")


class Sight(NamedTuple):
    """All that one player knows. Views and able stand-ins are made of this alone."""

    rules: WerewolfRules
    seat: str
    part: str
    fellows: tuple[str, ...]
    """The other werewolves, dead ones too, of whoever is one."""
    living: tuple[str, ...]
    now: str
    record: tuple[Event, ...]

    def told(self) -> str:
        """Return it as the player reads it."""
        fellows = ""
        if self.part == WOLF:
            fellows = f" Your fellow werewolves: {', '.join(self.fellows) or 'none'}."
        you = "" if self.seat in self.living else " You are dead."
        lines = "\n".join(event.text for event in self.record)
        who = f"You are {self.seat}, {one(self.part)}.{fellows}{you}"
        return f"{who}\nAlive: {', '.join(self.living)}\n\n{lines}\n\nNow: {self.now}"


def known(log: Iterable[Event], seat: str) -> tuple[Event, ...]:
    """Return what of the log a player knows."""
    return tuple(event for event in log if event.known_to is None or seat in event.known_to)


def since(log: tuple[Event, ...], mark: str, kind: str) -> list[Event]:
    """Return the events of a kind that came after the last one of another, in order."""
    found = []
    for event in reversed(log):
        if event.kind == mark:
            break
        if event.kind == kind:
            found.append(event)
    return found[::-1]


def votes(tally: str) -> dict[str, str]:
    """Return whom each voter voted for, of votes as they were shown."""
    return dict(vote.split(" for ") for vote in tally.split(", ") if vote)


def one(part: str) -> str:
    """Return a hidden role with its article."""
    return f"{'a' if part in (WOLF, VILLAGER) else 'the'} {part}"
