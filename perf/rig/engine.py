"""An engine without a model that behaves from outside like vLLM 0.29.

It takes time and memory as `EngineProfile` says, on any asyncio clock: in a `VirtualLoop` an hour
of work takes as long as its events. What it does and says in each case is vLLM's, and
tests/rig/test_engine.py names the place in vLLM's source. Paths in comments are below vllm/.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from perf.rig.batch import Batch
from perf.rig.batch import Sequence as Sample
from perf.rig.devices import (
    GIB,
    HOST,
    DeviceMemory,
    OutOfDeviceMemoryError,
    format_gib,
    out_of_memory,
)
from perf.rig.faults import FaultList, Faults, Kind
from perf.rig.prefixes import PrefixCache
from perf.rig.profile import EngineProfile, tokens_of

TOO_LITTLE_FREE = (
    "Free memory on device {device} ({free}/{total} GiB) on startup is less than desired GPU "
    "memory utilization ({share}, {wanted} GiB). Decrease GPU memory utilization or reduce GPU "
    "memory used by other processes."
)
MEMORY_WAS_FREED = (
    "Error in memory profiling. Initial free memory {before} GiB, current free memory {now} GiB. "
    "This happens when other processes sharing the same container release GPU memory while vLLM "
    "is profiling during initialization. To fix this, ensure consistent GPU memory allocation or "
    "isolate vLLM in its own container."
)
NO_CACHE_MEMORY = (
    "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when "
    "initializing the engine (this flag also controls CPU memory reservation on the CPU backend, "
    "despite its name). See https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for "
    "more details."
)
NOT_FREED = "Memory usage increased after sleeping."
PROMPT_TOO_LONG = (
    "The {kind} prompt (length {length}) is longer than the maximum model length of {most}. "
    "Make sure that `max_model_len` is no smaller than the number of text tokens."
)
NO_ROOM_FOR_A_REPLY = (
    "The {kind} prompt (length {length}) plus the number of requested output tokens (at least 1) "
    "is longer than the maximum model length of {most}. Make sure that `max_model_len` is no "
    "smaller than the number of text tokens (prompt + requested output tokens)."
)
DIED_AT_START = (
    "Engine core initialization failed. See root cause above. Failed core proc(s): {processes}"
)
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."
# Raised by csrc/cumem_allocator.cpp, which is not installed: https://github.com/vllm-project/vllm/issues/13941
NO_MEMORY_TO_WAKE = "CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62"
GARBAGE = "!" * 24
"""What an engine writes whose weights are gone."""
_AFTER_REPLIES: tuple[Kind, ...] = ("silent_after", "die_after")
_TAGS = frozenset({"weights", "kv_cache"})


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
        self.profile, self.memory, self.devices, self.name = profile, memory, devices, name
        self._faults = faults or FaultList()
        self._prefixes = PrefixCache(profile.cache_tokens)
        self._batch: Batch[_Pending] = Batch(profile, self._prefixes)
        self._timer: asyncio.TimerHandle | None = None
        self._kv = 0
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
        before = [self.memory.free(device) for device in self.devices]
        if level == 1:
            self._pin()
        await self._work(self.profile.sleep_s)
        for device in self.devices:
            self._leave(device)
        self._leak()
        after = [self.memory.free(device) for device in self.devices]
        self._has_weights &= level == 1
        if any(now < then for then, now in zip(before, after, strict=True)):
            self._lost_memory = True
            raise AssertionError(NOT_FREED)  # v1/worker/gpu_worker.py:265
        self._level, self._asleep = level, set(_TAGS)

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
            await self._take_back(wanted)
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
        for sample in lost:
            if not sample.owner.answer.done():
                sample.owner.answer.set_exception(EngineDeadError())
        self.stop()

    def stop(self) -> None:
        """End the process: give all memory back, and do nothing any more."""
        self._dead = True
        if self._timer is not None:
            self._timer.cancel()
        self.memory.end(self.name)

    async def _load(self) -> None:
        profile, memory = self.profile, self.memory
        several = len(self.devices) > 1
        for device in self.devices:  # before the snapshot: v1/worker/gpu_worker.py:414
            self._take(device, "context", profile.context_gib)
            self._take(device, "communication", profile.communication_gib if several else 0.0)
        before = {device: memory.free(device) for device in self.devices}
        requested = {device: self._requested(device, before[device]) for device in self.devices}
        for device in self.devices:
            memory.take(self.name, device, "weights", self._weights())
        await self._work(max(0.0, profile.load_s - profile.profile_s) / 2)
        self._fail_at_load()
        await self._work(max(0.0, profile.load_s - profile.profile_s) / 2)
        await self._work(self._ordered("slow_load") or 0.0)
        for device in self.devices:
            self._take(device, "activations", profile.activation_gib)
        await self._work(min(profile.profile_s, profile.load_s))
        for device in self.devices:
            memory.give_back(self.name, device, "activations")
        if profile.kv_gib is not None:  # v1/worker/gpu_worker.py:527
            self._kv = round(profile.kv_gib * GIB)
        else:
            self._kv = min(
                requested[device] - self._consumed(device, before[device])
                for device in self.devices
            )
        if self._kv <= 0:  # v1/core/kv_cache_utils.py:858
            raise ValueError(NO_CACHE_MEMORY)
        for device in self.devices:
            memory.take(self.name, device, "kv_cache", self._kv)
            self._take(device, "graphs", profile.graphs_gib)
            self._take(device, "activations", profile.activation_gib)

    def _fail_at_load(self) -> None:
        if self._ordered("oom_at_load") is not None:
            device = self.devices[0]
            raise out_of_memory(device, self._weights(), 0, self.memory.total(device))
        if self._ordered("die_at_load") is not None:  # v1/engine/utils.py:1321
            raise RuntimeError(DIED_AT_START.format(processes={"EngineCore": -9}))

    def _requested(self, device: str, free: int) -> int:
        """Return the memory that vLLM allows itself (v1/worker/utils.py:516)."""
        total, share = self.memory.total(device), self.profile.gpu_memory_utilization
        requested = math.ceil(total * share)
        if free < requested:
            sizes = {"free": free, "total": total, "wanted": requested}
            given = {name: format_gib(size) for name, size in sizes.items()}
            raise ValueError(
                TOO_LITTLE_FREE.format(
                    device=f"cuda:{self.devices.index(device)}", share=share, **given
                )
            )
        return requested

    def _consumed(self, device: str, before: int) -> int:
        """Return what vLLM takes to be its own besides the KV cache.

        It is what the whole device has less than at the start: also what others took meanwhile
        (utils/mem_utils.py:317).
        """
        now = self.memory.free(device)
        if now > before:  # v1/worker/gpu_worker.py:585
            sizes = {"before": format_gib(before), "now": format_gib(now)}
            raise AssertionError(MEMORY_WAS_FREED.format(**sizes))
        own = self.profile.activation_gib + self.profile.graphs_gib
        return before - now + round(own * GIB)

    def _weights(self) -> int:
        """Return the bytes of weights on each device."""
        return round(self.profile.weights_gib * GIB / len(self.devices))

    def _take(self, device: str, part: str, gib: float) -> None:
        self.memory.take(self.name, device, part, round(gib * GIB))

    def _pin(self) -> None:
        """Copy the weights to the host's memory; too little of it ends the process."""
        pinned = round(self.profile.weights_gib * self.profile.pinned_factor * GIB)
        pinned -= self.memory.held(self.name, HOST).get("pinned", 0)  # kept since the last time
        try:
            self.memory.take(self.name, HOST, "pinned", pinned)
        except OutOfDeviceMemoryError:
            self.die()
            raise EngineDeadError from None

    def _leave(self, device: str) -> None:
        """Give a device back, but for what vLLM does not free."""
        for part in ("weights", "kv_cache", "graphs", "activations"):
            self.memory.give_back(self.name, device, part)
        left = round(self.profile.left_asleep_gib * GIB)
        parts = self.memory.held(self.name, device)
        held = parts["context"] + parts["communication"]
        self.memory.take(self.name, device, "asleep", max(0, left - held))

    def _leak(self) -> None:
        if leaked := self._ordered("leak_gib"):
            for device in self.devices:
                self._take(device, "leaked", leaked)

    async def _take_back(self, tags: set[str]) -> None:
        sizes = {"weights": self._weights(), "kv_cache": self._kv}
        wanted = sum(sizes[tag] for tag in tags)
        if any(self.memory.free(device) < wanted for device in self.devices):
            raise RuntimeError(NO_MEMORY_TO_WAKE)
        for device in self.devices:
            for tag in tags:
                self.memory.take(self.name, device, tag, sizes[tag])
        if "weights" in tags and self._level == 1:
            await self._work(self.profile.wake_s)
            if not self.profile.keeps_pinned:
                self.memory.give_back(self.name, HOST, "pinned")
        self._asleep -= tags
        if "weights" in tags and self._ordered("garbage_after_wake", self._level) is not None:
            self._writes_garbage = True
        if tags and not self._asleep:
            for device in self.devices:
                self.memory.give_back(self.name, device, "asleep")
                self._take(device, "graphs", self.profile.graphs_gib)
                self._take(device, "activations", self.profile.activation_gib)

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
        self._batch.add(Sample(request_id, prompt, length, tokens, pending), now)
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
        for sample, at in self._batch.advance(self._now()):
            self._replies += 1
            if not sample.owner.answer.done():
                is_right = self._has_weights and not self._writes_garbage
                text = sample.owner.text if is_right else GARBAGE
                reason = sample.owner.finish_reason
                sample.owner.answer.set_result(
                    self._output(sample, sample.length, reason, text, at)
                )
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
            if at is not None and self._timer.when() <= at:
                return  # it comes early, and sets the next one
            self._timer.cancel()
        self._timer = None
        if at is not None and not self._dead and self._silent_since is None:
            self._timer = asyncio.get_running_loop().call_at(at, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._advance()

    def _answer_aborted(self, sample: Sample[_Pending], tokens: int) -> None:
        if not sample.owner.answer.done():
            sample.owner.answer.set_result(self._output(sample, tokens, "abort", "", self._now()))

    def _output(
        self, sample: Sample[_Pending], tokens: int, finish_reason: str, text: str, at: float
    ) -> Output:
        return Output(
            sample.name,
            text,
            finish_reason,
            prompt_tokens=sample.prompt_tokens,
            output_tokens=tokens,
            num_cached_tokens=sample.cached_tokens,
            scheduled_ts=sample.scheduled_at,
            last_token_ts=at if tokens else 0.0,
        )
