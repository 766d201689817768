"""Direct: one prompt a turn, and the reason where a move was refused.

The model is told everything it may know, anew at every turn, and asked for the move. It may think
before it writes it.
"""

from dataclasses import dataclass
from typing import ClassVar

from raybench.options import Options
from raybench.players.parts.asking import prompt
from raybench.players.parts.contract import Decision, Made
from raybench.players.parts.reading import read


@dataclass(frozen=True, slots=True)
class Direct(Options):
    """Asks once."""

    varies: ClassVar[bool] = False

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        seen = decision.seen
        reply = await decision.ask(prompt(seen, decision.tries))
        return read(reply, seen.form, decision.check)


STRATEGY = Direct
