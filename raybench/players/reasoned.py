"""Reasoned: the model thinks in one reply, and moves in the next.

The thought has a reply of its own, with as many tokens as a move may take, so that it never cuts
the move off. It can also be had where moves are decoded from a list, which leaves `direct` no room
to think.
"""

from dataclasses import dataclass
from typing import ClassVar

from raybench.options import Options
from raybench.players.parts.asking import ONLY, prompt, said
from raybench.players.parts.contract import Decision, Made
from raybench.players.parts.reading import read
from raybench.types import Message

THINK = (
    "Before you answer, think it through: what matters here, what you could do, and what would "
    "come of each. Write down your thoughts only; you are asked for the answer after that."
)


@dataclass(frozen=True, slots=True)
class Reasoned(Options):
    """Asks for thoughts, then for the move."""

    varies: ClassVar[bool] = False

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        seen = decision.seen
        asked = prompt(seen, decision.tries, THINK)
        thought = await decision.ask(asked, thought=True)
        now = Message("user", f"Now decide. {ONLY[seen.form]}")
        reply = await decision.ask((*asked, said(thought.text), now))
        return read(reply, seen.form, decision.check)


STRATEGY = Reasoned
