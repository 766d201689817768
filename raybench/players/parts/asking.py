"""How a model is told what it may know, and asked for its move."""

from collections.abc import Sequence
from itertools import pairwise

from raybench.players.parts.contract import Try
from raybench.types import Form, Message, Observation

HOW: dict[Form, str] = {
    "line": "Think first if you like. Then end your reply with one line that holds nothing but "
    "your move, as in:\nMove: YOUR MOVE",
    "text": "Reply with exactly what you say, and nothing else.",
    "code": "End your reply with it, and nothing else of yours, in one code block: between a line "
    "of ``` and another.",
}
"""What a player is told about the form of its reply."""
ONLY: dict[Form, str] = {
    "line": "Reply with one line that holds nothing but your move, as in:\nMove: YOUR MOVE",
    "text": HOW["text"],
    "code": "Reply with it alone, in one code block: between a line of ``` and another.",
}
"""The same, where the thinking is done."""
REFUSED = "That is no valid move"
"""What a reply that holds none is answered with begins so."""
NOTHING = "(no reply)"
"""Stands for a reply without a word: an assistant's turn without any is refused by some engines."""


def prompt(seen: Observation, tries: Sequence[Try], how: str | None = None) -> tuple[Message, ...]:
    """Return what a model is asked in a turn: for its move, unless `how` says something else.

    What never changes stands first, so that an engine reads it once. Others' words are in it.
    """
    how = HOW[seen.form] if how is None else how
    asked = Message("user", f"{seen}\n{how}", seen.images, foreign=True)
    return (asked, *(message for each in tries for message in refused(each)))


def refused(each: Try, then: str = "Try again.") -> tuple[Message, Message]:
    """Return a reply that holds no valid move, with the reason, as the model is told of it."""
    # The reason may quote the reply, which is no more ours there than where it stood.
    return said(each.reply), Message("user", f"{REFUSED}: {each.reason}. {then}", foreign=True)


def said(reply: str) -> Message:
    """Return what the model replied, as its own turn of the conversation."""
    return Message("assistant", reply or NOTHING, foreign=True)


def examples(messages: Sequence[Message]) -> int:
    """Return how many replies a prompt shows to be followed: those that were refused are none."""
    return sum(
        one.role == "assistant" and not then.content.startswith(REFUSED)
        for one, then in pairwise(messages)
    )
