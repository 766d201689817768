"""An engine without a model that behaves from outside like vLLM 0.29.

It takes time and memory as `EngineProfile` says, on any asyncio clock: in a `VirtualLoop` an hour
of work takes as long as its events. What it does and says in each case is vLLM's, and
tests/rig/test_engine.py names the place in vLLM's source. Paths in comments are below vllm/.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from perf.rig.batch import Batch, EngineRequest
from perf.rig.devices import DeviceMemory, OutOfDeviceMemoryError
from perf.rig.engine_memory import NOT_FREED, TAGS, EngineMemory
from perf.rig.faults import FaultList, Faults, Kind
from perf.rig.prefixes import PrefixCache
from perf.rig.profile import EngineProfile, tokens_of

PROMPT_TOO_LONG = (
    "The {kind} prompt (length {length}) is longer than the maximum model length of {most}. "
    "Make sure that `max_model_len` is no smaller than the number of text tokens."
)
NO_ROOM_FOR_A_REPLY = (
    "The {kind} prompt (length {length}) plus the number of requested output tokens (at least 1) "
    "is longer than the maximum model length of {most}. Make sure that `max_model_len` is no "
    "smaller than the number of text tokens (prompt + requested output tokens)."
)
NO_WEIGHTS = "Cannot find any model weights with `{folder}`"
DIED_AT_START = (
    "Engine core initialization failed. See root cause above. Failed core proc(s): {processes}"
)
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
GARBAGE = "!" * 24
"""What an engine writes whose weights are gone."""
_AFTER_REPLIES: tuple[Kind, ...] = ("silent_after", "die_after")


class EngineDeadError(RuntimeError):
    """The engine is dead, and stays so."""

    def __init__(self) -> None:
        super().__init__(DEAD)


@dataclass(frozen=True, slots=True)
class Output:
    """What the engine says of a request, once: when it is done or aborted."""

    request_id: str
    text: str
    finish_reason: str
    """'stop', 'length' or 'abort'."""
    prompt_tokens: int
    output_tokens: int
    num_cached_tokens: int
    scheduled_ts: float
    """When its first step began; 0.0 where there was none."""
    last_token_ts: float


@dataclass(slots=True)
class _Pending:
    """A request that is not answered."""

    answer: asyncio.Future[Output]
    text: str
    finish_reason: str


class VirtualEngine:
    """One engine on some devices of a node."""

    def __init__(
        self,
        profile: EngineProfile,
        memory: DeviceMemory,
        devices: Sequence[str],
        *,
        name: str,
        faults: Faults | None = None,
    ) -> None:
        """Make an engine that has not started. Its name is that of its memory: one at a time."""
        self.profile, self.name = profile, name
        self._memory = EngineMemory(profile, memory, devices, name)
        self._faults = faults or FaultList()
        self._prefixes = PrefixCache(profile.cache_tokens)
        self._batch: Batch[_Pending] = Batch(profile, self._prefixes)
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._level = 0
        self._asleep: set[str] = set()
        """Tags of the memory that sleeps."""
        self._has_weights = True
        self._writes_garbage = False
        """Whether its weights are wrong for good."""
        self._lost_memory = False
        """Whether a sleep failed half-way: the next step reads memory that is gone."""
        self._dead = False
        self._replies = 0
        self._ends: dict[Kind, float] = {}
        """Faults that happen at a number of replies."""
        self._silent_since: float | None = None

    @property
    def running(self) -> int:
        """Return the number of requests in the batch."""
        return len(self._batch.running)

    @property
    def waiting(self) -> int:
        """Return the number of requests that wait to get into it."""
        return len(self._batch.waiting)

    @property
    def tokens(self) -> int:
        """Return how many tokens were made since the start."""
        return self._batch.tokens(self._now())

    @property
    def last_token_ts(self) -> float:
        """Return when the last of them was; 0.0 before the first."""
        return self._batch.last_token(self._now())

    @property
    def is_sleeping(self) -> bool:
        """Tell whether the engine sleeps, at any level (v1/engine/core.py:943)."""
        return self._batch.paused

    async def start(self) -> None:
        """Load the weights and take a KV cache; on failure, nothing is left on the devices."""
        try:
            await self._load()
        except BaseException:
            self.stop()
            raise

    async def generate(
        self,
        prompt: str,
        request_id: str,
        *,
        seed: int | None = None,
        max_tokens: int | None = None,
    ) -> AsyncGenerator[Output]:
        """Yield one output: the whole reply. Requests that nobody waits for are aborted."""
        yield await self.complete(prompt, request_id, seed=seed, max_tokens=max_tokens)

    async def complete(
        self,
        prompt: str,
        request_id: str,
        *,
        seed: int | None = None,
        max_tokens: int | None = None,
    ) -> Output:
        """Return the reply to a prompt; without a seed, the most probable one."""
        pending = self._submit(prompt, request_id, seed, max_tokens)
        try:
            return await pending.answer
        finally:
            if not pending.answer.done() or pending.answer.cancelled():
                await self.abort(request_id)

    async def abort(self, request_id: str) -> None:
        """End a request; whoever waits for it gets what there is of it.

        (v1/engine/output_processor.py:541)
        """
        self._advance()
        if (found := self._batch.remove(request_id, self._now())) is not None:
            self._answer_aborted(*found)
            self._advance()

    def worked(self, request_id: str) -> float:
        """Return the seconds since the engine's first step for a request; 0.0 before that."""
        request = self._batch.running.get(request_id)
        return self._now() - request.scheduled_at if request is not None else 0.0

    async def sleep(self, level: int = 1) -> None:
        """Abort all requests and leave the devices, but for a rest (v1/engine/core.py:887).

        Level 0 only pauses; 1 takes the weights to the host's memory; 2 drops them. Requests that
        come meanwhile wait.
        """
        self._alive()
        self._advance()
        self._batch.pause(self._now())
        for name in [*self._batch.running, *self._batch.waiting]:
            await self.abort(name)
        if level < 1:
            return
        self._prefixes.clear()
        if self._asleep:  # v1/executor/abstract.py:338
            return
        before = self._memory.free()
        if level == 1:
            self._pin()
        await self._work(self.profile.sleep_s)
        self._memory.leave(self._ordered("leak_gib") or 0.0)
        after = self._memory.free()
        self._has_weights &= level == 1
        if any(now < then for then, now in zip(before, after, strict=True)):
            self._lost_memory = True
            raise AssertionError(NOT_FREED)  # v1/worker/gpu_worker.py:265
        self._level, self._asleep = level, set(TAGS)

    async def wake_up(self, tags: Sequence[str] | None = None) -> None:
        """Take memory again, all of it or that of some tags (v1/engine/core.py:925).

        Requests are worked on once all of it is back. After level 2 it has to be told to
        `reload_weights`, else its replies are garbage.
        """
        self._alive()
        wanted = set(self._asleep if tags is None else tags) - {"scheduling"}
        if wanted and self._ordered("hang_in_wake") is not None:
            await asyncio.Event().wait()
        if wanted <= self._asleep:  # else nothing happens: v1/executor/abstract.py:350
            await self._wake(wanted)
        if not self._asleep:
            self._batch.resume(self._now())
            self._advance()

    async def collective_rpc(self, method: str) -> None:
        """Have the workers run a method. The only one here is `reload_weights`."""
        self._alive()
        if method != "reload_weights":
            raise NotImplementedError(method)
        if "weights" in self._asleep:
            self.die()  # it writes where no memory is
            raise EngineDeadError
        await self._work(self.profile.reload_s)
        self._has_weights = True

    async def check_health(self) -> None:
        """Raise where the engine is dead (v1/engine/async_llm.py:1015)."""
        self._alive()

    async def reset_prefix_cache(self) -> bool:
        """Forget the prompts that were read; False while requests run, which need theirs."""
        self._alive()
        if self._batch.running:
            return False
        self._prefixes.clear()
        return True

    def die(self) -> None:
        """End as by a fault: every request fails, and all memory is given back."""
        self._dead = True
        lost = [*self._batch.running.values(), *self._batch.waiting.values()]
        self._batch = Batch(self.profile, self._prefixes)
        for request in lost:
            if not request.owner.answer.done():
                request.owner.answer.set_exception(EngineDeadError())
        self.stop()

    def stop(self) -> None:
        """End the process: give all memory back, and do nothing any more."""
        self._dead = True
        if self._timer is not None:
            self._timer.cancel()
        self._memory.end()

    async def _load(self) -> None:
        profile = self.profile
        measured_s = min(profile.profile_s, profile.load_s)
        loaded_s = profile.load_s - measured_s
        self._memory.begin()
        if self._ordered("missing_weights") is not None:
            raise RuntimeError(NO_WEIGHTS.format(folder=profile.model))
        self._memory.load_weights()
        await self._work(loaded_s / 2)
        if self._ordered("oom_at_load") is not None:
            raise self._memory.out_of_memory()
        if self._ordered("die_at_load") is not None:  # v1/engine/utils.py:1321
            raise RuntimeError(DIED_AT_START.format(processes={"EngineCore": -9}))
        await self._work(loaded_s / 2 + (self._ordered("slow_load") or 0.0))
        self._memory.begin_profile()
        await self._work(measured_s)
        self._memory.end_profile()

    def _pin(self) -> None:
        try:
            self._memory.pin()
        except OutOfDeviceMemoryError:  # the kernel ends the process
            self.die()
            raise EngineDeadError from None

    async def _wake(self, tags: set[str]) -> None:
        self._memory.take_back(tags)
        if "weights" in tags and self._level == 1:
            await self._work(self.profile.wake_s)
            self._memory.unpin()
        self._asleep -= tags
        if "weights" in tags and self._ordered("garbage_after_wake", self._level) is not None:
            self._writes_garbage = True
        if tags and not self._asleep:
            self._memory.end_sleep()

    def _submit(
        self, prompt: str, request_id: str, seed: int | None, max_tokens: int | None
    ) -> _Pending:
        self._alive()
        length, most = tokens_of(prompt), self.profile.max_model_len
        if length >= most:  # v1/engine/input_processor.py:452
            reason = PROMPT_TOO_LONG if length > most else NO_ROOM_FOR_A_REPLY
            raise ValueError(reason.format(kind="decoder", length=length, most=most))
        limit = min(max_tokens or most, most - length)
        if request_id in self._batch.running or request_id in self._batch.waiting:
            raise ValueError(f"request {request_id} has not ended yet")
        text, tokens = self.profile.reply_to(prompt, seed, limit)
        pending = _Pending(
            asyncio.get_running_loop().create_future(),
            text,
            "length" if tokens == limit else "stop",
        )
        now = self._now()
        if (change := self._batch.next_change()) is not None and change < now:
            self._advance()
        self._batch.add(EngineRequest(request_id, prompt, length, tokens, pending), now)
        for kind in _AFTER_REPLIES:
            if kind not in self._ends and (replies := self._ordered(kind)) is not None:
                self._ends[kind] = self._replies + replies
        self._fail_after_replies()
        self._set_timer()
        return pending

    def _alive(self) -> None:
        if self._dead:
            raise EngineDeadError

    async def _work(self, seconds: float) -> None:
        """Let time pass, without end for an engine that fell silent; raise where it died."""
        if self._silent_since is not None:
            await asyncio.Event().wait()
        await asyncio.sleep(seconds)
        self._alive()

    def _now(self) -> float:
        """Return the time, which stands still for an engine that fell silent."""
        if self._silent_since is not None:
            return self._silent_since
        return asyncio.get_running_loop().time()

    def _ordered(self, kind: Kind, value: float | None = None) -> float | None:
        return self._faults.take(self.name, kind, value)

    def _advance(self) -> None:
        """Do the steps that are over by now, and set the timer for the next change."""
        if self._lost_memory and self._batch.waiting and not self._batch.paused:
            self.die()
            return
        if self._silent_since is not None:
            return
        for request, at in self._batch.advance(self._now()):
            self._replies += 1
            if not request.owner.answer.done():
                is_right = self._has_weights and not self._writes_garbage
                ended = request.owner if is_right else replace(request.owner, text=GARBAGE)
                ended.answer.set_result(_output(request, ended, request.length, at))
        self._fail_after_replies()
        self._set_timer()

    def _fail_after_replies(self) -> None:
        """Die or fall silent, at the step of the reply after which that was ordered."""
        due = [kind for kind, replies in self._ends.items() if self._replies >= replies]
        if "silent_after" in due:
            self._silent_since = self._now()
        if "die_after" in due:
            self.die()

    def _set_timer(self) -> None:
        at = self._batch.next_change()
        if self._timer is not None:
            if at is not None and self._timer_at <= at:
                return  # it comes early, and sets the next one
            self._timer.cancel()
        self._timer = None
        if at is not None and not self._dead and self._silent_since is None:
            self._timer_at = at
            self._timer = asyncio.get_running_loop().call_at(at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._advance()

    def _answer_aborted(self, request: EngineRequest[_Pending], tokens: int) -> None:
        if not request.owner.answer.done():
            ended = replace(request.owner, text="", finish_reason="abort")
            request.owner.answer.set_result(_output(request, ended, tokens, self._now()))


def _output(
    request: EngineRequest[_Pending], ended: _Pending, tokens: int, last_token_ts: float
) -> Output:
    return Output(
        request.name,
        ended.text,
        ended.finish_reason,
        prompt_tokens=request.prompt_tokens,
        output_tokens=tokens,
        num_cached_tokens=request.cached_tokens,
        scheduled_ts=request.scheduled_at,
        last_token_ts=last_token_ts if request.scheduled_at else 0.0,
    )
