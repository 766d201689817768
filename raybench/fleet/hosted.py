"""An engine in Ray Serve as its clients see it: each request goes to one of its replicas."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence

from raybench.config import FleetConf
from raybench.fleet.keeper import handle
from raybench.fleet.leases import Leases
from raybench.fleet.reasons import last_line, mended
from raybench.fleet.streams import Placed, merged, unbroken
from raybench.types import Completion, ModelSpec, Request

_RETRY_WAIT_S = 5.0
_LOOK_S = 1.0
_SILENCE_S = 60.0
"""A replica sends a sign of life every ten seconds."""


class HostedEngine:
    """One engine. What breaks a replica costs the requests that were with it, and no others."""

    def __init__(
        self, name: str, leases: Leases, conf: FleetConf, replicas: Sequence[str] = ()
    ) -> None:
        """Send requests to these replicas; an engine with a single one is named like it."""
        self._name = name
        self._leases = leases
        self._conf = conf
        self._outstanding = dict.fromkeys(replicas or [name], 0)
        """Requests of this process, by the replica that has them."""
        self._refused: dict[str, str] = {}
        """Replicas that will never be up, and why."""
        self._restarting: dict[str, asyncio.Task[None]] = {}
        """Replicas that broke a call; the task ends when they answer again."""

    async def close(self) -> None:
        """Look after replicas that broke no longer."""
        for task in self._restarting.values():
            task.cancel()

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Answer the batch; the replies come in the order of its requests."""
        found: dict[int, Completion] = {}
        async with contextlib.aclosing(self.stream(model, requests)) as replies:
            async for place, completion in replies:
                found[place] = completion
        return [found[place] for place in range(len(requests))]

    async def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Answer the batch, each reply as soon as it is there.

        Neighbours in the batch, whose prompts begin alike, go to the same replica.
        """
        parts, begin = [], 0
        for replica, size in self._shares(len(requests)).items():
            parts.append(self._part(model, requests[begin : begin + size], begin, replica))
            begin += size
        async with contextlib.aclosing(merged(parts)) as replies:
            async for placed in replies:
                yield placed

    def _shares(self, requests: int) -> Counter[str]:
        """Distribute requests over replicas, so that all have about the same number."""
        loads = {replica: self._outstanding[replica] for replica in self._available()}
        shares: Counter[str] = Counter()
        for _ in range(requests):
            replica = min(loads, key=loads.__getitem__)
            loads[replica] += 1
            shares[replica] += 1
        return shares

    def _available(self) -> list[str]:
        """Return the replicas that answer; where none does, those that will."""
        possible = [it for it in self._outstanding if it not in self._refused]
        up = [it for it in possible if it not in self._restarting]
        return up or possible or [*self._outstanding]

    async def _part(
        self, model: ModelSpec, requests: Sequence[Request], begin: int, replica: str
    ) -> AsyncGenerator[Placed]:
        """Answer a part of a batch; where its replica dies, send the rest to another."""
        left = 0

        @contextlib.asynccontextmanager
        async def turn(work: int) -> AsyncIterator[str]:
            nonlocal left, replica
            while True:
                available = self._available()
                if replica not in available:
                    replica = min(available, key=self._outstanding.__getitem__)
                left = work
                self._outstanding[replica] += left
                try:
                    async with self._turn(replica, model, work) as refusal:
                        if refusal:
                            self._refused[replica] = refusal
                        else:
                            self._refused.pop(replica, None)
                        if not refusal or {*self._refused} == {*self._outstanding}:
                            yield refusal
                            return
                finally:
                    self._outstanding[replica] -= left
                    left = 0

        def told(error: Exception) -> str:
            self._avoid(replica)
            return self._told(error)

        replies = unbroken(
            lambda asked: self._stream_once(replica, asked),
            requests,
            turn=turn,
            attempts=self._conf.attempts,
            wait_s=_RETRY_WAIT_S,
            told=told,
        )
        async with contextlib.aclosing(replies):
            async for place, completion in replies:
                if left:
                    left -= 1
                    self._outstanding[replica] -= 1
                yield begin + place, completion

    @contextlib.asynccontextmanager
    async def _turn(self, replica: str, model: ModelSpec, work: int) -> AsyncIterator[str]:
        """Wait for the replica's turn and keep it awake; yields '', or why it will not come."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                lease = self._leases.hold(replica, work, model.name)
                refusal = await stack.enter_async_context(lease)
            except Exception as error:  # the keeper's end is data too
                refusal = self._told(error)
            yield refusal

    def _avoid(self, replica: str) -> None:
        """Send nothing to a replica that broke a call before it answers again."""
        if len(self._outstanding) > 1 and replica not in self._restarting:
            self._restarting[replica] = asyncio.create_task(self._wait_for(replica))

    async def _wait_for(self, replica: str) -> None:
        while True:
            with contextlib.suppress(Exception):  # it is still dying
                await handle(replica).check_health.remote()
                break
            await asyncio.sleep(_LOOK_S)
        del self._restarting[replica]

    async def _stream_once(self, replica: str, requests: list[Request]) -> AsyncGenerator[Placed]:
        """Send requests to a replica; a reply may take as long as the replica gives signs of life.

        Whether its engine works, the replica itself watches (`engines/replica_server.py`).
        """
        call = handle(replica).options(stream=True).stream.remote(requests)
        # Serve holds a call back while its replica starts again.
        patience = self._conf.start_deadline_s
        try:
            while True:
                async with asyncio.timeout(patience):
                    group = await anext(call, None)
                if group is None:
                    return
                patience = _SILENCE_S
                for event in group:
                    if isinstance(event, tuple):
                        yield event
        except TimeoutError as error:
            call.cancel()
            raise TimeoutError(f"no sign of life for {patience:g} s") from error
        except (GeneratorExit, asyncio.CancelledError):
            call.cancel()  # nobody listens any more: the engine need not go on
            raise

    def _told(self, error: Exception) -> str:
        reason = last_line(str(error)) or type(error).__name__
        return f"engine {self._name}: {mended(reason)}"
