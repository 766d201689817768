"""The role that no model takes: it asks a jury, and has programs run in the sandbox."""

import asyncio
import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal

from raybench.arena.chair import Decoding, Put
from raybench.games import Jury, Need, Program
from raybench.games.parts import programs
from raybench.sandbox import Outcome, SandboxFaultError
from raybench.tournament.match import SANDBOX, Void
from raybench.types import Completion, Message, Request

_SOON_S = 1.0
"""What has not ended by then lets others begin."""
_BESIDE = 3
"""So many programs of each core that take long may run beside those that do not: all four take no
more memory than one program of a benchmark, and each has its share of the core in time."""
_VOTE_TOKENS = 512


def programs_at_once(sharing: int = 1) -> int:
    """Return how many programs each of so many processes that share this machine runs at once."""
    return max(1, ((os.cpu_count() or 2) - 1) // sharing)


class Programs:
    """Runs programs, some at once: each has a core, until it turns out to take long.

    Those that take long share cores with the others: else a few jails that sleep, or loop, would
    hold up all other matches.
    """

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots or programs_at_once()
        self._room = asyncio.Semaphore(self._slots)
        self._beside = asyncio.Semaphore(self._slots * _BESIDE)
        self._alone = asyncio.Lock()
        # Not the loop's own: others' calls are not to wait behind programs.
        self._threads = ThreadPoolExecutor(self._slots * (1 + _BESIDE), "programs")

    async def run(self, program: Program) -> str:
        """Return the outcome as the manager's move. Raises Void where the sandbox fails."""
        program = programs.sealed(program)
        outcome = await self._run(program)
        if outcome.crowded:  # others kept it from the processor: alone it shows
            every = [self._room] * self._slots + [self._beside] * self._slots * _BESIDE
            async with self._alone, AsyncExitStack() as places:
                for place in every:
                    await places.enter_async_context(place)
                outcome = await self._call(program)
        return programs.brought(program, outcome)

    async def close(self) -> None:
        """Begin no other program, and wait for those that run: their limits end them."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)

    async def _run(self, program: Program) -> Outcome:
        async with AsyncExitStack() as later:
            async with self._room:
                running = asyncio.create_task(self._call(program))
                later.callback(running.cancel)
                await asyncio.wait({running}, timeout=_SOON_S)
                if not running.done():
                    beside = asyncio.create_task(self._beside.acquire())
                    later.callback(_given_back, self._beside, beside)
                    await asyncio.wait({running, beside}, return_when=asyncio.FIRST_COMPLETED)
            return await running

    async def _call(self, program: Program) -> Outcome:
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._threads, programs.run, program
            )
        except SandboxFaultError as fault:
            raise Void(f"{SANDBOX} failed: {fault}", SANDBOX) from fault


def _given_back(places: asyncio.Semaphore, taken: "asyncio.Task[Literal[True]]") -> None:
    """Give a place back that was asked for, whether or not it has been had."""
    if taken.done():
        places.release()
    else:
        taken.cancel()


@dataclass
class Manager:
    """The manager of one match."""

    put: Put
    programs: Programs
    decoding: Decoding
    match: str
    jurors: Sequence[str]
    """Models that may be asked for an opinion of this match."""
    asked: int = 0
    """What it has been asked so far, with all before the match was cut off: seeds come from it."""

    async def bring(self, need: Need) -> str:
        """Return what the game needs, as the manager's move. Raises Void where it cannot be had."""
        self.asked += 1
        if isinstance(need, Program):
            return await self.programs.run(need)
        if not self.jurors:
            raise Void("nobody is left to judge: all jurors play")
        cast = await asyncio.gather(*(self._vote(juror, need) for juror in self.jurors))
        failed = [[reply for reply in of if reply.finish == "error"] for of in cast]
        if all(failed):  # a vote takes all its replies, and nobody could give a whole one
            names, why = ", ".join(self.jurors), failed[0][0].error
            raise Void(f"no juror gave a vote ({names}): {why}", self.jurors[0])
        votes = [_voted(juror, of) for juror, of in zip(self.jurors, cast, strict=True)]
        return json.dumps({"votes": votes}, ensure_ascii=False)

    async def _vote(self, juror: str, need: Jury) -> list[Completion]:
        requests = (
            Request(
                (Message("user", prompt, foreign=True),),
                seed=self.decoding.drawn(f"{self.match}/jury/{self.asked}/{juror}/{place}"),
                max_tokens=_VOTE_TOKENS,
                json_schema=need.schema,
            )
            for place, prompt in enumerate(need.prompts)
        )
        return await asyncio.gather(*(self.put(juror, request) for request in requests))


def _voted(juror: str, replies: Sequence[Completion]) -> dict[str, object]:
    """Return a juror's replies, and why one is missing or not whole."""
    why = [_why(reply) for reply in replies]
    said: dict[str, object] = {"juror": juror, "replies": [_said(reply) for reply in replies]}
    return said | ({"why": why} if any(why) else {})


def _why(reply: Completion) -> str | None:
    if reply.finish == "stop":
        return None
    if reply.finish == "length":
        return f"cut off after {reply.output_tokens} tokens"
    return f"{reply.finish}: {reply.error}" if reply.error else reply.finish


def _said(reply: Completion) -> str | None:
    """Return a juror's reply; None where it gave none."""
    return reply.text if reply.finish in ("stop", "length") else None
