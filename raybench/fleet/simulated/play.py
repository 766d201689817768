"""Players of games: able ones play well, others any move that the rules allow, or none.

A stand-in cannot read a position. Whoever asks it hands it a good move and any other; how often it
plays the good one is its ability.
"""

import json
import random

from raybench.fleet.simulated.ability import Ability

_MARK = '{"good": '
_BABBLE = "I am not sure what to do here."


def is_play(gold: str) -> bool:
    """Tell whether a right reply is a move of a game."""
    return gold.startswith(_MARK)


def reply(gold: str, name: str, ability: Ability, rng: random.Random) -> str:
    """Return a player's reply."""
    moves = json.loads(gold)
    if rng.random() < ability.unparsed:
        return _BABBLE
    if ability.wording or ability.learns:
        wording = random.Random(f"{name}/{moves.get('rules', '')}").gauss()
        ability = ability.taught(wording, moves.get("examples", 0))
    return str(moves["good"] if rng.random() < ability.quality(rng) else moves["any"])
