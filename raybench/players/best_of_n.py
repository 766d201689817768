"""Best of n: several replies to the same prompt, and the move that most of them hold.

All are drawn at once, each anew. Those without a move that the game takes do not count. Of moves
on a line the commonest is played, however it is written, and the first of equals. Texts and
programs are hardly ever the same: of these the model says itself which is the best, and the first
one is taken where it does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from raybench.options import Options
from raybench.players.parts.asking import prompt
from raybench.players.parts.contract import Decision, Made, NoMove
from raybench.players.parts.reading import read, valid
from raybench.players.parts.together import together
from raybench.types import Completion, Message

MOST = 64


@dataclass(frozen=True, slots=True)
class BestOfN(Options):
    """Asks several times."""

    n: int = 5
    """Replies."""

    varies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.within(n=(2, MOST))

    async def move(self, decision: Decision) -> Made:
        """Return the move."""
        asked = prompt(decision.seen, decision.tries)
        replies = await together([decision.ask(asked, varied=True) for _ in range(self.n)])
        alike = _alike(replies, decision)
        if decision.seen.form == "line" or len(alike) == 1:
            return max(alike, key=len)[0]
        return await _best([each[0] for each in alike], decision)


def _alike(replies: Sequence[Completion], decision: Decision) -> list[list[Made]]:
    """Return the valid moves, those together that are the same; raise NoMove where none is."""
    found = list[tuple[object, list[Made]]]()
    refusal: NoMove | None = None
    for reply in replies:
        try:
            made, comes_to = valid(reply, decision)
        except NoMove as why:
            refusal = refusal or why
            continue
        same = next((moves for known, moves in found if known == comes_to), None)
        if same is None:
            found.append((comes_to, [made]))
        else:
            same.append(made)
    if not found:
        assert refusal is not None  # there are two replies or more
        raise refusal
    return [moves for _, moves in found]


async def _best(candidates: Sequence[Made], decision: Decision) -> Made:
    """Return the one that the model prefers."""
    listed = "\n\n".join(
        f"{number}.\n{each.move}" for number, each in enumerate(candidates, start=1)
    )
    asked = Message(
        "user",
        f"{decision.seen}\n\nThere are {len(candidates)} drafts of it:\n\n{listed}\n\nWhich one "
        "serves you best? Reply with one line that holds its number alone, as in:\nMove: 1",
        decision.seen.images,
        foreign=True,
    )
    numbers = [str(number) for number in range(1, len(candidates) + 1)]
    reply = await decision.ask([asked], among=numbers)

    def known(said: str) -> str:
        if (number := said.rstrip(".")) not in numbers:
            raise NoMove("there is no draft of that number")
        return number

    try:
        number = known(read(reply, "line", known).move)
    except NoMove:
        return candidates[0]
    return candidates[int(number) - 1]


STRATEGY = BestOfN
