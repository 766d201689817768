"""A model in a seat of a match: its strategy asks, and what it asks for becomes requests."""

import hashlib
import json
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from raybench.arena.sitting import Late, Sitting, Wanted
from raybench.games import InvalidMove, State
from raybench.players.parts.asking import examples
from raybench.players.parts.contract import Decision, NoMove, Player, Try
from raybench.players.parts.reading import as_reply, as_schema
from raybench.statements import Statement
from raybench.tournament.match import Heard
from raybench.types import Completion, Form, Observation, Request

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
        sitting = Sitting(self.model, partial(self._sent, state, seen), left_s)
        decision = Decision(seen, sitting.ask, partial(_check, state), tries)
        try:
            made = await sitting.through(self.player, decision)
        except Late:
            late = sitting.heard(None, None, Statement("move.late", "its time was up"))
            return replace(late, late=True, truncated=True)
        except NoMove as why:
            return sitting.heard(why.reply, None, why.reason)
        return sitting.heard(made.reply, made.move, None)

    async def _sent(
        self, state: State, seen: Observation, wanted: Wanted, left_s: float | None
    ) -> tuple[Completion, bool]:
        """Return what came back, and whether the model may reply when it is shown no images."""
        request = self._request(state, seen, wanted, left_s)
        completion = await self.put(self.model, request)
        images = any(it.images for it in request.messages)
        if again := completion.finish == "unsupported" and images:
            self.shown = False  # the text has it all
        return completion, again

    def _request(
        self, state: State, seen: Observation, wanted: Wanted, left_s: float | None
    ) -> Request:
        decoding = self.decoding
        seed = decoding.drawn(f"{self.match}/{seen.role}/{self.asked}")
        self.asked += 1
        listed: Sequence[str] = ()
        if decoding.listed and not wanted.thought:  # all moves of a position are costly to list
            listed = wanted.among or state.legal() or ()
        form: Form = "text" if wanted.thought else "line" if wanted.among else seen.form
        return Request(
            tuple(it if self.shown else replace(it, images=()) for it in wanted.messages),
            seed=seed,
            max_tokens=decoding.tokens[form],
            temperature=VARIED if wanted.varied and self.greedy else decoding.temperature,
            regex=f"Move: ({'|'.join(map(re.escape, listed))})" if listed else None,
            json_schema=as_schema(listed) if listed else None,
            deadline_s=left_s,
            gold=_examples(state, seen, wanted, form, seed) if self.imitates else None,
        )


def _examples(state: State, seen: Observation, wanted: Wanted, form: Form, seed: int) -> str:
    """Return what a stand-in makes its reply from: a good one, and any."""
    rng = random.Random(seed)
    if wanted.thought:
        good = some = _THOUGHT
    elif wanted.among:
        good, some = rng.choice(wanted.among), rng.choice(wanted.among)
    else:
        good, some = state.good(rng), state.sample(rng)
    replies = {"good": as_reply(good, form), "any": as_reply(some, form)}
    return json.dumps({**replies, "rules": seen.rules, "examples": examples(wanted.messages)})


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What a move comes to, of which nothing can be seen but whether another comes to the same."""

    _state: State = field(repr=False)


def _check(state: State, move: str) -> object:
    try:
        return _Outcome(state.apply(move))
    except InvalidMove as refusal:
        raise NoMove(str(refusal)) from None
