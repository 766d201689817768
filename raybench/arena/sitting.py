"""One try at one turn: what a strategy asks for, when all of it is over, and what that took."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from raybench import players
from raybench.errors import Problem, RaybenchError, RunFailed
from raybench.players.parts.contract import Decision, Made, NoMove, Player
from raybench.statements import Statement
from raybench.tournament.match import Heard, Void
from raybench.types import Completion, Message


class Wanted(NamedTuple):
    """What a strategy asks for, in the words of its contract."""

    messages: Sequence[Message]
    thought: bool
    among: Sequence[str]
    varied: bool


Send = Callable[[Wanted, float | None], Awaitable[tuple[Completion, bool]]]
"""Has a model asked in the seconds that are left; tells too whether another way may do better."""


class Late(Exception):
    """The time of the turn is up."""


class Sitting:
    """What one model is asked for one try."""

    def __init__(self, model: str, send: Send, left_s: float | None) -> None:
        """So many seconds of the model's own time are left for all calls together."""
        self._model = model
        self._send = send
        self._left_s = left_s
        self._replies: dict[int, Completion] = {}
        """By the order in which they were asked for."""
        self._calls = 0
        self._open = 0
        """Calls without a reply yet."""
        self._none_open = asyncio.Event()
        self._ended: Exception | None = None
        """What ended the try, whatever its strategy makes of that."""
        self._over = False
        self._seconds = 0.0
        """Of the model's own time. Of calls side by side the longest counts."""

    async def through(self, player: Player, decision: Decision) -> Made:
        """Return the player's move when all that it asked for has come to an end.

        A call that could not be had, or took too long, ends the try also where the strategy made
        something of it: no failure of an engine's is to be a model's move. Raises Void or Late
        then, and NoMove where the strategy does.
        """
        try:
            made: Made | Exception = await player.move(decision)
        except Exception as error:
            made = error
        self._over = True
        if self._open:
            await self._none_open.wait()
        if self._ended is not None:
            raise self._ended
        if isinstance(made, NoMove | RaybenchError):
            raise made
        if isinstance(made, Exception):
            raise RunFailed(
                Problem(
                    "extension.failed",
                    f"the strategy {players.called(player)} failed: {type(made).__name__}: {made}",
                    setting="games.strategy",
                    given=players.called(player),
                )
            ) from made
        return made

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        thought: bool = False,
        among: Sequence[str] = (),
        varied: bool = False,
    ) -> Completion:
        """Ask the model."""
        if self._over:
            raise RuntimeError("the turn is over: a strategy waits for all that it asks")
        self._open += 1
        self._none_open.clear()
        try:
            return await self._asked(Wanted(messages, thought, among, varied))
        except (Late, Void) as why:
            self._ended = self._ended or why
            raise
        finally:
            self._open -= 1
            if not self._open:
                self._none_open.set()

    async def _asked(self, wanted: Wanted) -> Completion:
        begun = self._seconds
        left = None if self._left_s is None else self._left_s - begun
        if left is not None and left <= 0:
            raise Late
        place, self._calls = self._calls, self._calls + 1
        completion, again = await self._send(wanted, left)
        self._replies[place] = completion
        if completion.finish == "error":
            why = Statement(
                "void.no_reply",
                "{model} gave no reply: {error}",
                model=self._model,
                error=completion.error,
            )
            raise Void(why, self._model)
        self._seconds = max(self._seconds, begun + completion.own_seconds)
        if completion.finish == "late":
            raise Late
        return await self._asked(wanted) if again else completion

    def heard(self, reply: str | None, move: str | None, error: str | None) -> Heard:
        """Return what came of the try: the reply that decided it, the last one where None did."""
        replies = [self._replies[place] for place in sorted(self._replies)]
        texts = [it.text for it in replies if it.text]
        if reply is None:
            reply = texts[-1] if texts else ""
        if reply in texts:
            texts.remove(reply)
        deciding = [it for it in replies if it.text == reply][-1:] or replies
        return Heard(
            reply=reply,
            move=move,
            error=error,
            seconds=self._seconds,
            tokens=sum([it.output_tokens for it in replies]),
            prompt_tokens=sum([it.prompt_tokens for it in replies]),
            calls=self._calls,
            truncated=any(it.finish in ("length", "late", "thinking") for it in deciding),
            asides=tuple(texts),
        )
