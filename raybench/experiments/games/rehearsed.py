"""What a strategy sends for a decision, found by having it decide with nobody at the other end."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count

from raybench.players import Player
from raybench.players.parts.contract import Decision
from raybench.players.parts.reading import as_reply
from raybench.types import Completion, Message, Observation

REPLY = "(WHAT IT REPLIED)"
_MOST = 20


class _Enough(Exception):
    """As many calls have been made as are looked at."""


def rehearsed(player: Player, seen: Observation) -> list[str]:
    """Return the prompts of the calls, those that repeat the one before left out.

    Replies stand in them as `REPLY`. Of a prompt that goes on from the one before only what was
    added is returned.
    """
    # A loop of its own: whoever asks may be in one.
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(asyncio.run, _sent(player, seen)).result()
    found = list[str]()
    last: Sequence[Message] = ()
    for messages in sent:
        if messages == last:
            continue
        goes_on = last and [*messages[: len(last)]] == [*last]
        news = messages[len(last) :] if goes_on else messages
        found.append("\n\n".join(it.content for it in news if it.role != "assistant"))
        last = messages
    return found


async def _sent(player: Player, seen: Observation) -> list[Sequence[Message]]:
    sent, number = list[Sequence[Message]](), count(1)

    async def ask(
        messages: Sequence[Message],
        *,
        thought: bool = False,
        among: Sequence[str] = (),
        varied: bool = False,
    ) -> Completion:
        if len(sent) == _MOST:
            raise _Enough
        sent.append(messages)
        if among:
            return Completion(as_reply(among[0], "line"), "stop")
        # Each another one: strategies may look whether drafts are alike.
        move = REPLY + " " * next(number)
        return Completion(as_reply(move, seen.form), "stop")

    with suppress(Exception):  # one's own strategy may want a better game than this
        await player.move(Decision(seen, ask, lambda move: next(number)))
    return sent
