"""What stand-ins say for or against a motion, and how stand-ins for jurors score it."""

import json
import random
from dataclasses import replace

from raybench.games.parts.debate.speeches import Speech
from raybench.games.parts.debate.verdict import CRITERIA, HIGHEST, LOWEST, SIDES

_REASONS = (
    "those who bear the cost should have a say in the matter",
    "what works in one place has been tried in others, with the same result",
    "the rule is simple enough for everybody to keep",
    "habits change slowly, and somebody has to begin",
    "a fair share for each is worth more than a large one for a few",
    "the money could be spent better than it is today",
)
_SPEECHES = {
    "opening": "I speak {role} the motion. First, {one}. Second, {two}.",
    "rebuttal": "The other side has not met the point that {one}. And even so, {two}.",
    "closing": "To close: {one}, and nothing we heard changes that {two}.",
}
_JURORS = ("juror_1", "juror_2", "juror_3")


def speech(rng: random.Random, role: str, part: str) -> str:
    """Return a speech of two reasons."""
    one, two = rng.sample(_REASONS, 2)
    return _SPEECHES[part].format(role=role, one=one, two=two)


def another(said: Speech, rng: random.Random) -> Speech:
    """Return a speech that somebody else might have held in this one's place."""
    return replace(said, text=speech(rng, said.role, said.part), cut=not said.cut)


def ballots(rng: random.Random, missing: float) -> str:
    """Return the manager's move of three jurors, with so many replies missing but the first's."""
    votes = [
        {"juror": juror, "replies": [_reply(rng, missing * (juror != _JURORS[0])) for _ in SIDES]}
        for juror in _JURORS
    ]
    return json.dumps({"votes": votes})


def _reply(rng: random.Random, missing: float) -> str | None:
    if rng.random() < missing:
        return None
    return json.dumps(
        {side: {name: rng.randint(LOWEST, HIGHEST) for name in CRITERIA} for side in SIDES}
    )
