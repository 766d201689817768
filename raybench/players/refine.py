"""Refine: the model writes a draft, and looks at it again before it is played.

A draft that the game would refuse comes back with the reason, as an invalid move does; but it was
not played, so that it is none of the tries of the turn. A valid one comes back too, to be kept or
replaced by a better one. After so many `reviews`, or when a draft is kept, the last valid one is
played.
"""

from dataclasses import dataclass
from typing import ClassVar

from raybench.options import Options
from raybench.players.parts.asking import HOW, prompt, refused, said
from raybench.players.parts.contract import Decision, Made, NoMove, Try
from raybench.players.parts.reading import valid
from raybench.types import Message

REVIEW = (
    "That is a draft, and the rules allow it. Look at it once more: what does it cost you, what "
    "does it give away, is there something better? Then give it again, or something better in its "
    "place."
)


@dataclass(frozen=True, slots=True)
class Refine(Options):
    """Asks for a draft, and for a better one."""

    reviews: int = 1
    """How often a draft is looked at."""

    varies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self.within(reviews=(1, 10))

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        asked = [*prompt(decision.seen, decision.tries)]
        best: tuple[Made, object] | None = None
        for left in reversed(range(self.reviews + 1)):
            reply = await decision.ask(tuple(asked))
            try:
                draft = valid(reply, decision)
            except NoMove as why:
                if best is None and not left:
                    raise
                asked += refused(Try(reply.text, str(why)))
                continue
            if best is not None and best[1] == draft[1]:
                break
            best = draft
            again = Message("user", f"{REVIEW} {HOW[decision.seen.form]}")
            asked += said(reply.text), again
        assert best is not None  # else the last refusal was raised
        return best[0]


STRATEGY = Refine
