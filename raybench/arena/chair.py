"""A model in a seat of a match: its strategy asks, and what it cost is counted."""

import asyncio
import hashlib
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from raybench import players
from raybench.errors import RaybenchError, RunFailed
from raybench.games import InvalidMove, State
from raybench.players.parts.contract import Decision, Made, NoMove, Player, Try
from raybench.players.parts.reading import as_reply, as_schema
from raybench.tournament.match import Heard, Void
from raybench.types import Completion, Form, Message, Observation, Request

Put = Callable[[str, Request], Awaitable[Completion]]
"""Puts a request to a model of that name."""
VARIED = 0.7
"""The temperature at which a model draws several replies to one prompt that has none of its own."""
_THOUGHT = "I weigh what I could do, and what would come of it."


@dataclass(frozen=True)
class Decoding:
    """How moves are drawn."""

    tokens: Mapping[Form, int]
    """Most tokens of a reply, by the form of the move."""
    temperature: float | None = None
    """Of every player; None leaves each model its own."""
    listed: bool = False
    """Where a game can list the moves, a reply is held to be one of them."""
    seed: int = 0

    def drawn(self, what: str) -> int:
        """Return the seed of one request, whenever it is sent; `what` names it."""
        digest = hashlib.blake2b(f"{self.seed}/{what}".encode(), digest_size=4)
        return int.from_bytes(digest.digest(), "big") >> 1


@dataclass
class Chair:
    """One role of one match."""

    model: str
    player: Player
    put: Put
    decoding: Decoding
    match: str
    """What tells the match, and how often it has been begun, from others: seeds come from it."""
    imitates: bool = False
    """The model is a stand-in, which has to be told what it could play."""
    greedy: bool = False
    """The model replies alike whenever it is asked alike."""
    asked: int = 0
    """Calls so far, with those before the match was cut off."""
    shown: bool = True
    """The model gets the images of what it sees, until it turns out that it takes none."""

    async def reply(
        self, state: State, seen: Observation, tries: Sequence[Try], left_s: float | None
    ) -> Heard:
        """Return what the model replies, in the time that is left for all calls together.

        Raises Void where it could not be reached.
        """
        sitting = _Sitting(self, state, seen, left_s)
        decision = Decision(seen, sitting.ask, partial(_check, state), tries)
        try:
            made = await sitting.through(self.player.move(decision))
        except _Late:
            late = sitting.heard(None, None, "its time was up")
            return replace(late, late=True, truncated=True)
        except NoMove as why:
            return sitting.heard(why.reply, None, str(why))
        return sitting.heard(made.reply, made.move, None)


class _Late(Exception):
    """The time of the turn is up."""


class _Sitting:
    """One try at one turn: what the model is asked for it, and what that takes."""

    def __init__(self, chair: Chair, state: State, seen: Observation, left_s: float | None) -> None:
        self._chair = chair
        self._state = state
        self._seen = seen
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

    async def through(self, move: Awaitable[Made]) -> Made:
        """Return the move when all that was asked for it has come to an end.

        A call that could not be had, or took too long, ends the try also where the strategy made
        something of it: no failure of an engine's is to be a model's move.
        """
        try:
            made: Made | Exception = await move
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
                f"the strategy {players.called(self._chair.player)} failed: "
                f"{type(made).__name__}: {made}"
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
            return await self._asked(messages, thought, among, varied)
        except (_Late, Void) as why:
            self._ended = self._ended or why
            raise
        finally:
            self._open -= 1
            if not self._open:
                self._none_open.set()

    async def _asked(
        self, messages: Sequence[Message], thought: bool, among: Sequence[str], varied: bool
    ) -> Completion:
        begun = self._seconds
        left = None if self._left_s is None else self._left_s - begun
        if left is not None and left <= 0:
            raise _Late
        place, self._calls = self._calls, self._calls + 1
        chair, request = self._chair, self._request(messages, thought, among, varied, left)
        completion = self._replies[place] = await chair.put(chair.model, request)
        if completion.finish == "error":
            raise Void(f"{chair.model} gave no reply: {completion.error}", chair.model)
        self._seconds = max(self._seconds, begun + completion.own_seconds)
        if completion.finish == "late":
            raise _Late
        if completion.finish == "unsupported" and any(it.images for it in request.messages):
            chair.shown = False  # the text has it all
            return await self._asked(messages, thought, among, varied)
        return completion

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

    def _request(
        self,
        messages: Sequence[Message],
        thought: bool,
        among: Sequence[str],
        varied: bool,
        left_s: float | None,
    ) -> Request:
        chair, decoding = self._chair, self._chair.decoding
        seed = decoding.drawn(f"{chair.match}/{self._seen.role}/{chair.asked}")
        chair.asked += 1
        listed: Sequence[str] = ()
        if decoding.listed and not thought:  # all moves of a position are costly to list
            listed = among or self._state.legal() or ()
        form: Form = "text" if thought else "line" if among else self._seen.form
        return Request(
            tuple(it if chair.shown else replace(it, images=()) for it in messages),
            seed=seed,
            max_tokens=decoding.tokens[form],
            temperature=VARIED if varied and chair.greedy else decoding.temperature,
            regex=f"Move: ({'|'.join(map(re.escape, listed))})" if listed else None,
            json_schema=as_schema(listed) if listed else None,
            deadline_s=left_s,
            gold=self._examples(form, thought, among, seed) if chair.imitates else None,
        )

    def _examples(self, form: Form, thought: bool, among: Sequence[str], seed: int) -> str:
        """Return what a stand-in makes its reply from: a good one, and any."""
        rng = random.Random(seed)
        if thought:
            good = some = _THOUGHT
        elif among:
            good, some = rng.choice(among), rng.choice(among)
        else:
            good, some = self._state.good(rng), self._state.sample(rng)
        replies = {"good": as_reply(good, form), "any": as_reply(some, form)}
        return json.dumps({**replies, "rules": self._seen.rules})


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a move comes to, of which nothing can be seen but whether another comes to the same."""

    _state: State = field(repr=False)


def _check(state: State, move: str) -> object:
    try:
        return _Outcome(state.apply(move))
    except InvalidMove as refusal:
        raise NoMove(str(refusal)) from None
