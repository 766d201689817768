"""A model in a seat of a match: its strategy asks, and what it cost is counted."""

import hashlib
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from raybench.games import InvalidMove, State
from raybench.players.contract import NoMove, Player, Try, Unmarked
from raybench.players.reading import as_reply, as_schema
from raybench.tournament.match import Heard, Void
from raybench.types import Completion, Form, Message, Observation, Request

Put = Callable[[str, Request], Awaitable[Completion]]
"""Puts a request to a model of that name."""


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
        heard: list[Completion] = []

        async def ask(messages: Sequence[Message]) -> Completion:
            left = None if left_s is None else left_s - sum([it.own_seconds for it in heard])
            if left is not None and left <= 0:
                raise _Late
            completion = await self._ask(state, seen, messages, left)
            heard.append(completion)
            if completion.finish == "late":
                raise _Late
            return completion

        try:
            return _heard(heard, await self.player.move(seen, ask, tries), None)
        except _Late:
            return replace(_heard(heard, None, "its time was up"), late=True, truncated=True)
        except Unmarked as why:
            return _heard(heard, *_taken(state, why))
        except NoMove as why:
            return _heard(heard, None, str(why))

    async def _ask(
        self, state: State, seen: Observation, messages: Sequence[Message], left_s: float | None
    ) -> Completion:
        if not self.shown:
            messages = [replace(it, images=()) for it in messages]
        seed = self.decoding.drawn(f"{self.match}/{seen.role}/{self.asked}")
        self.asked += 1
        listed = (state.legal() or ()) if self.decoding.listed else ()
        request = Request(
            tuple(messages),
            seed=seed,
            max_tokens=self.decoding.tokens[seen.form],
            temperature=self.decoding.temperature,
            regex=f"Move: ({'|'.join(map(re.escape, listed))})" if listed else None,
            json_schema=as_schema(listed) if listed else None,
            deadline_s=left_s,
            gold=_examples(state, seen.form, seed) if self.imitates else None,
        )
        completion = await self.put(self.model, request)
        if completion.finish == "error":
            raise Void(f"{self.model} gave no reply: {completion.error}", self.model)
        if completion.finish == "unsupported" and any(it.images for it in messages):
            self.shown = False  # the text has it all
            if left_s is not None and (left_s := left_s - completion.own_seconds) <= 0:
                raise _Late
            return await self._ask(state, seen, messages, left_s)
        return completion


class _Late(Exception):
    """The time of the turn is up."""


def _taken(state: State, said: Unmarked) -> tuple[str | None, str | None]:
    """Return a line as the move that it is by the rules, or why it is none.

    Refused, it is talk: how many lines that takes says nothing of whether a move was meant.
    """
    try:
        state.apply(said.line)
    except InvalidMove as refusal:
        return None, f"{said}, and taken whole it is no move: {refusal}"
    return said.line, None


def _heard(replies: Sequence[Completion], move: str | None, error: str | None) -> Heard:
    """Return what came of a try, and what all its calls took."""
    return Heard(
        reply=replies[-1].text if replies else "",
        move=move,
        error=error,
        seconds=sum([it.own_seconds for it in replies]),
        tokens=sum([it.output_tokens for it in replies]),
        prompt_tokens=sum([it.prompt_tokens for it in replies]),
        calls=len(replies),
        truncated=any(it.finish in ("length", "late", "thinking") for it in replies),
    )


def _examples(state: State, form: Form, seed: int) -> str:
    """Return what a stand-in makes its reply from: a good move, and any."""
    rng = random.Random(seed)
    good, some = state.good(rng), state.sample(rng)
    return json.dumps({"good": as_reply(good, form), "any": as_reply(some, form)})
