"""The plain strategy: one prompt a turn, and the reason where a move was refused."""

from collections.abc import Sequence

from raybench.players.contract import Ask, Try
from raybench.players.reading import HOW, read
from raybench.types import Message, Observation


class Direct:
    """Tells the model everything it may know, anew at every turn, and asks for the move."""

    async def move(self, seen: Observation, ask: Ask, tries: Sequence[Try]) -> str:
        """Return the move."""
        return read(await ask(prompt(seen, tries)), seen.form)


def prompt(seen: Observation, tries: Sequence[Try]) -> tuple[Message, ...]:
    """Return what a model is asked in a turn.

    What never changes stands first, so that an engine reads it once. Others' words are in it.
    """
    asked = Message("user", f"{seen}\n{HOW[seen.form]}", seen.images, foreign=True)
    return (asked, *(message for each in tries for message in _after(each)))


def _after(each: Try) -> tuple[Message, Message]:
    why = f"That is no valid move: {each.reason}. Try again."
    # An assistant's turn without a word is refused by some engines.
    # The reason may quote the reply, which is no more ours there than where it stood.
    return (
        Message("assistant", each.reply or "(no reply)", foreign=True),
        Message("user", why, foreign=True),
    )
