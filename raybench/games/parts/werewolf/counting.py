"""Who dies of what was chosen, and what is won by it; choices by or of the dead do not count."""

from collections import Counter
from collections.abc import Mapping, Sequence

from raybench.games.parts.werewolf.record import Event, since
from raybench.games.parts.werewolf.settings import NOBODY
from raybench.statements import Statement


def victim(log: tuple[Event, ...], living: Sequence[str]) -> str:
    """Return whom this night has killed; '' for nobody."""
    named = _choices(log, "dusk", "kill", living)
    counts = Counter(named)
    most = max(counts.values(), default=0)
    dead = next((seat for seat in reversed(named) if counts[seat] == most), "")
    return "" if dead in _choices(log, "dusk", "guard", living) else dead


def condemned(log: tuple[Event, ...], living: Sequence[str]) -> str:
    """Return whom this day's vote puts to death; '' for nobody."""
    counts = Counter(_choices(log, "dawn", "vote", living)).most_common()
    tied = len(counts) > 1 and counts[0][1] == counts[1][1]
    return "" if not counts or tied or counts[0][0] == NOBODY else counts[0][0]


def decided(wolves: Sequence[str], living: Sequence[str]) -> tuple[str, str] | None:
    """Return the side that has won as soon as only these live, and why; None for neither."""
    left = sum(seat in living for seat in wolves)
    if not left:
        why = Statement("werewolf.all_dead", "all werewolves are dead")
        return "village", why
    why = Statement("werewolf.as_many", "there are as many werewolves as others")
    return ("wolf", why) if 2 * left >= len(living) else None


def shares(sides: Mapping[str, str], winner: str) -> dict[str, float]:
    """Return what each seat has won: a side shares 1, or -1."""
    count = Counter(sides.values())
    return {seat: (1 if side == winner else -1) / count[side] for seat, side in sides.items()}


def shown(log: tuple[Event, ...], living: Sequence[str]) -> str:
    """Return this day's votes as everybody is shown them."""
    voted = (event for event in since(log, "dawn", "vote") if event.seat in living)
    return ", ".join(f"{event.seat} for {event.move}" for event in voted)


def _choices(log: tuple[Event, ...], mark: str, kind: str, living: Sequence[str]) -> list[str]:
    """Return what was chosen since: by those who are still there, of what is still there."""
    return [
        event.move
        for event in since(log, mark, kind)
        if event.seat in living and event.move in (*living, NOBODY)
    ]
