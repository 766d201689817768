"""A script in a seat of a match: an anchor of the ratings, which asks nobody."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from raybench.games import Script, State
from raybench.players.parts.contract import Try
from raybench.tournament.match import Heard
from raybench.types import Observation


@dataclass
class Scripted:
    """One role of one match."""

    model: str
    """What it is called among the models."""
    script: Script
    seed: str
    """What tells the match, and how often it has been begun, from others, in this run."""
    made: int = 0
    """Moves so far, with those before the match was cut off."""

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        """Return its move, made of what the role sees: all else is drawn anew before."""
        await asyncio.sleep(0)  # a match of scripts alone would hold all others up to its end
        rng = random.Random(f"{self.seed}/{seen.role}/{self.made}")
        self.made += 1
        move = self.script(state.redrawn(seen.role, rng), rng)
        return Heard(move, move, calls=0)
