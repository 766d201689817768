"""How stand-ins play: at random, or ably.

Ably is that the seer says what it saw, the village follows, and the wolves hunt it.
"""

import random
import re
from collections import Counter
from collections.abc import Sequence

from raybench.games.parts.werewolf.record import DEATHS, Sight, since, votes
from raybench.games.parts.werewolf.settings import GUARDIAN, NOBODY, SEER, WOLF

_CLAIM = re.compile(r"(player_\d+) is (not )?a werewolf")
_SUSPICION = re.compile(r"i suspect (player_\d+)")


def any_move(living: Sequence[str], legal: Sequence[str] | None, rng: random.Random) -> str:
    """Return a choice at random, or a word against somebody."""
    return rng.choice(legal or [f"I suspect {seat}." for seat in living])


def good_move(sight: Sight, action: str, legal: Sequence[str], rng: random.Random) -> str:
    """Return what a sensible player would do who knows this."""
    if action == "speak":
        return _speech(sight, rng)
    if action == "vote":
        return _vote(sight, legal, rng)
    if action == "look":
        return rng.choice([seat for seat in legal if seat not in _looked(sight)] or legal)
    seers = [seat for seat in _claimants(sight) if seat in legal]
    named = [event.move for event in since(sight.record, "dusk", action)]
    return rng.choice(seers or named or legal)


def _speech(sight: Sight, rng: random.Random) -> str:
    if sight.part == SEER and WOLF in (seen := _looked(sight)).values():
        found = [
            f"{seat} is {'' if what == WOLF else 'not '}a werewolf" for seat, what in seen.items()
        ]
        return f"I am the seer: {', '.join(found)}."
    if sight.part == WOLF:
        return f"I suspect {_prey(sight, rng)}."
    accused = [seat for seat in _accused(sight) if seat in sight.living]
    return f"I believe that {accused[0]} is one." if accused else "I have seen nothing yet."


def _vote(sight: Sight, legal: Sequence[str], rng: random.Random) -> str:
    if sight.part == WOLF:
        return _prey(sight, rng) if _decisive(sight) else _unsuspicious(sight, legal)
    seen = _looked(sight)
    if found := [seat for seat in legal if seen.get(seat) == WOLF]:
        return found[0]
    if accused := [seat for seat in _accused(sight) if seat in legal]:
        return accused[0]
    clear = {NOBODY, *_claimants(sight)}
    if suspects := [seat for seat in _suspects(sight) if seat in legal and seat not in clear]:
        return suspects[0]
    if sight.part in (SEER, GUARDIAN) or _seer_may_live(sight):
        return NOBODY
    return rng.choice([seat for seat in legal if seat not in clear] or legal)


def _decisive(sight: Sight) -> bool:
    """Whether the votes of the wolves together may win the game, so that they may show."""
    wolves = sum(seat in sight.living for seat in (sight.seat, *sight.fellows))
    return len(sight.living) - 1 <= 2 * wolves


def _unsuspicious(sight: Sight, legal: Sequence[str]) -> str:
    """Return a vote as a villager would cast it, as long as no wolf is hurt by it."""
    for seat in (*_accused(sight), *_suspects(sight)):
        if seat in legal and seat not in sight.fellows:
            return seat
    return NOBODY


def _prey(sight: Sight, rng: random.Random) -> str:
    """Return whom the wolves want dead by day: the seer, or whom one of them spoke against."""
    pack = (sight.seat, *sight.fellows)
    others = [seat for seat in sight.living if seat not in pack]
    if seers := [seat for seat in _claimants(sight) if seat in others]:
        return seers[0]
    said = [event.move for event in since(sight.record, "dawn", "speak") if event.seat in pack]
    named = [seat for text in said for seat in _SUSPICION.findall(text.lower()) if seat in others]
    return named[0] if named else rng.choice(others)


def _claimants(sight: Sight) -> list[str]:
    """Return who says to be the seer, but for those who are known to have been something else."""
    known = {event.seat: event.shown for event in sight.record if event.kind in DEATHS}
    said = [event for event in sight.record if event.kind == "speak"]
    claims = [event.seat for event in said if "i am the seer" in event.move.lower()]
    return [seat for seat in dict.fromkeys(claims) if known.get(seat, "") in ("", SEER)]


def _accused(sight: Sight) -> list[str]:
    """Return whom those seers call werewolves, most often accused first."""
    seers = _claimants(sight)
    counts: Counter[str] = Counter()
    for event in sight.record:
        if event.kind == "speak" and event.seat in seers and event.seat != sight.seat:
            said = _CLAIM.findall(event.move.lower())
            counts.update({seat: 1 for seat, is_not in said if not is_not})
    return [seat for seat, _ in counts.most_common() if seat != sight.seat]


def _suspects(sight: Sight) -> list[str]:
    """Return who voted for players that turned out to be no werewolves, most often in front."""
    shown = {event.seat: event.shown for event in sight.record if event.kind in DEATHS}
    counts = Counter(
        voter
        for event in sight.record
        for voter, seat in votes(event.move if event.kind == "tally" else "").items()
        if shown.get(seat, WOLF) not in ("", WOLF)
    )
    return [seat for seat, _ in counts.most_common()]


def _looked(sight: Sight) -> dict[str, str]:
    return {event.move: event.shown for event in sight.record if event.kind == "look"}


def _seer_may_live(sight: Sight) -> bool:
    died = [event.shown for event in sight.record if event.kind in DEATHS]
    return sight.rules.seer and SEER not in died
