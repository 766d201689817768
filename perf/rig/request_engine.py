"""A virtual engine as raybench asks it: a `Request` in, a `Completion` out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from uuid import uuid4

from perf.rig.engine import Output, VirtualEngine
from raybench.engines.replica_server import Fingerprint
from raybench.fleet.chat import NO_IMAGES, answered, shows, turned_down
from raybench.types import Completion, Request

_STEP_S, _LOOK_S = 0.05, 1.0


class RequestEngine:
    """Answers requests as `BatchServer` does (raybench/fleet/replica.py)."""

    def __init__(self, engine: VirtualEngine) -> None:
        """Ask an engine that has started."""
        self._engine = engine
        self._noise = Random(0)

    @property
    def max_num_seqs(self) -> int:
        """Return how many requests it works on at once."""
        return self._engine.profile.max_num_seqs

    @property
    def last_progress(self) -> float:
        """Return when it last made a token, by the clock of the loop."""
        return self._engine.last_token_ts

    async def generate(self, request: Request) -> Completion:
        """Answer one request; a refusal is data. Raises EngineDeadError."""
        begun, name = self._now(), uuid4().hex
        if shows(request):
            return Completion.failed(NO_IMAGES, finish="unsupported")
        prompt = "\n".join(f"{message.role}: {message.content}" for message in request.messages)
        seed = request.seed if request.temperature else None
        try:
            async with self._ended_in_time(name, request.deadline_s):
                output = await self._engine.complete(
                    prompt, name, seed=seed, max_tokens=request.max_tokens
                )
        except ValueError as refusal:
            seconds = self._now() - begun
            finish = turned_down(str(refusal)) or "error"
            return Completion.failed(str(refusal), finish=finish, seconds=seconds, waited=seconds)
        return _completion(output, request, self._now() - begun)

    async def generate_greedily(self, prompt: str, tokens: int) -> Fingerprint:
        """Continue a text with the likeliest tokens, with no prefix from the cache."""
        await self._engine.reset_prefix_cache()
        output = await self._engine.complete(prompt, uuid4().hex, max_tokens=tokens)
        profile = self._engine.profile
        return Fingerprint(*profile.greedy_tokens(prompt, output.text, tokens, self._noise))

    async def sleep(self, level: int) -> None:
        """Leave the devices."""
        await self._engine.sleep(level)

    async def wake(self, level: int) -> None:
        """Come back from a sleep of this level, with the weights."""
        if level == 1:
            await self._engine.wake_up()
            return
        await self._engine.wake_up(["weights"])
        await self._engine.collective_rpc("reload_weights")
        await self._engine.wake_up(["kv_cache"])

    @asynccontextmanager
    async def _ended_in_time(self, name: str, deadline_s: float | None) -> AsyncIterator[None]:
        """Have a request aborted once the engine has worked on it for so long."""
        if deadline_s is None:
            yield
            return
        watch = asyncio.create_task(self._end(name, deadline_s))
        try:
            yield
        finally:
            watch.cancel()

    async def _end(self, name: str, deadline_s: float) -> None:
        while (left := deadline_s - self._engine.worked(name)) > 0:
            await asyncio.sleep(max(_STEP_S, min(left, _LOOK_S)))
        await self._engine.abort(name)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()


def _completion(output: Output, request: Request, seconds: float) -> Completion:
    own = max(0.0, output.last_token_ts - output.scheduled_ts)
    late = request.deadline_s is not None and own >= request.deadline_s
    if output.finish_reason == "abort" and not late:
        reason = "the engine broke the reply off (abort)"
        return Completion.failed(reason, seconds=seconds, waited=seconds - own)
    completion = answered(
        output.text,
        output.finish_reason,
        prompt_tokens=output.prompt_tokens,
        output_tokens=output.output_tokens,
        cached_tokens=output.num_cached_tokens,
        seconds=seconds,
        waited=seconds - own,
    )
    return completion.cut() if output.finish_reason == "abort" else completion
