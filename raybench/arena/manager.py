"""The role that no model takes: it asks a jury, and has programs run in the sandbox."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass

from raybench import sandbox
from raybench.arena.chair import Decoding, Put
from raybench.games import Jury, Need, Program
from raybench.sandbox import Limits, Outcome, SandboxFaultError
from raybench.tournament.match import Void
from raybench.types import Completion, Message, Request

_CLOCK = 3.0
"""A program may take so much longer than its processor time: it is not alone on the machine."""
_VOTE_TOKENS = 512


class Programs:
    """Runs programs, some at once: each has a core."""

    def __init__(self, slots: int | None = None) -> None:
        self._slots = slots or max(1, (os.cpu_count() or 2) - 1)
        self._room = asyncio.Semaphore(self._slots)
        self._alone = asyncio.Lock()

    async def run(self, program: Program) -> str:
        """Return the outcome as the manager's move. Raises Void where the sandbox fails."""
        async with self._room:
            outcome = await _run(program)
        if outcome.crowded:  # others kept it from the processor, or it waits: alone it shows
            async with self._alone:
                for _ in range(self._slots):
                    await self._room.acquire()
                try:
                    outcome = await _run(program)
                finally:
                    for _ in range(self._slots):
                        self._room.release()
        return json.dumps(
            {
                "status": outcome.status,
                "stdout": outcome.stdout,
                "stderr": outcome.stderr,
                "exit_code": outcome.exit_code,
            }
        )


async def _run(program: Program) -> Outcome:
    limits = Limits(
        cpu_s=program.seconds,
        wall_s=_CLOCK * program.seconds,
        memory_mb=512,
        processes=16,
        output_kept_mb=0.05,
        output_killed_mb=4.0,
    )
    try:
        return await asyncio.to_thread(
            sandbox.run, program.source, stdin=program.stdin, limits=limits
        )
    except SandboxFaultError as fault:
        raise Void(f"the sandbox failed: {fault}", "the sandbox") from fault


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

    async def bring(self, need: Need) -> str:
        """Return what the game needs, as the manager's move. Raises Void where it cannot be had."""
        if isinstance(need, Program):
            return await self.programs.run(need)
        if not self.jurors:
            raise Void("nobody is left to judge: all jurors play")
        self.asked += 1
        cast = await asyncio.gather(*(self._vote(juror, need) for juror in self.jurors))
        replies = [reply for of in cast for reply in of]
        if all(reply.finish == "error" for reply in replies):
            names = ", ".join(self.jurors)
            why = replies[0].error
            raise Void(f"no juror gave a reply ({names}): {why}", self.jurors[0])
        votes = [
            {"juror": juror, "replies": [_said(reply) for reply in of]}
            for juror, of in zip(self.jurors, cast, strict=True)
        ]
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


def _said(reply: Completion) -> str | None:
    """Return a juror's reply; None where it gave none."""
    return reply.text if reply.finish in ("stop", "length") else None
