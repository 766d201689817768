"""The engine itself, and whom it imitates for which request."""

import asyncio
import json
import math
import random
import re
from collections.abc import AsyncGenerator, Sequence

from raybench.engines.base import Placed
from raybench.fleet.simulated import exam, peers, play
from raybench.fleet.simulated.ability import Ability
from raybench.fleet.simulated.answers import spoilt
from raybench.fleet.simulated.instances import instance
from raybench.fleet.streams import Room
from raybench.types import Completion, ModelSpec, Request

_EXPRESSIONS = re.compile(r"YOUR TASK\s.*Expression 1: (.*)\n\s*Expression 2: (.*)", re.DOTALL)
_UNDER_WAY = 4096
"""While this many requests are under way, `wait_for_room` waits."""
_TOKENS_SPREAD = 1.0
"""Standard deviation of the logarithm: nineteen of twenty lie within a factor of seven."""

INFRA_ERROR = "simulated infrastructure error"
"""The error of a reply that a simulated model fails to give."""


class SimulatedEngine:
    """Serves every simulated model of a roster."""

    def __init__(self) -> None:
        self._room = Room(_UNDER_WAY)

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Answer each request from the model's ability and the request's seed."""
        ability = Ability(**model.options)
        longest = max((_deadline(request) for request in requests), default=0.0)
        with self._room.taken(len(requests)):
            await asyncio.sleep(min(ability.latency_s, longest))
        return [_reply(model.name, ability, request) for request in requests]

    async def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Answer the batch like `complete`, a reply at a time."""
        for placed in enumerate(await self.complete(model, requests)):
            yield placed

    def expect(self, model: ModelSpec, requests: int) -> None:
        """Do nothing: nobody plans for what will come."""

    async def wait_for_room(self) -> None:
        """Wait until few enough requests are under way."""
        await self._room.wait()


def _deadline(request: Request) -> float:
    return math.inf if request.deadline_s is None else request.deadline_s


def _reply(name: str, ability: Ability, request: Request) -> Completion:
    if ability.latency_s > (deadline := _deadline(request)):
        return Completion.late(seconds=deadline)
    rng = random.Random(f"{request.seed}/{name}")
    prompt = request.messages[-1].content
    if rng.random() < ability.infra_error:
        return Completion.failed(INFRA_ERROR)
    if request.json_schema is not None and request.regex is None:
        found = instance(request.json_schema, rng)
        if exam.is_judged(prompt):
            found = exam.fitted(exam.verdict(prompt, ability, rng), found, request.json_schema)
        text = json.dumps(found)
    elif request.gold is not None and exam.is_exam(request.gold):
        text = exam.answer(request.gold, ability, rng)
    elif request.gold is not None and play.is_play(request.gold):
        text = play.reply(request.gold, name, ability, rng)
    elif request.gold is not None:
        knows = rng.random() < ability.quality(rng)
        text = request.gold if knows else spoilt(request.gold, rng)
    elif pair := _EXPRESSIONS.search(prompt):
        text = "Yes" if pair[1].split() == pair[2].split() else "No"
    else:
        text = peers.reply(prompt, name, ability, rng, constrained=request.regex is not None)
    if request.regex is not None and not re.fullmatch(request.regex, text):
        return Completion.failed(f"no simulated reply matches the regex {request.regex!r}")
    return Completion(
        text=text,
        finish="stop",
        prompt_tokens=sum(len(message.content.split()) for message in request.messages),
        output_tokens=_tokens(text, ability, f"{request.seed}/{name}/tokens"),
        seconds=ability.latency_s,
    )


def _tokens(text: str, ability: Ability, seed: str) -> int:
    if ability.tokens is None:
        return len(text.split())
    # Of their own seed: the words of a reply do not depend on it.
    drawn = random.Random(seed).lognormvariate(math.log(ability.tokens), _TOKENS_SPREAD)
    return max(1, round(drawn))
