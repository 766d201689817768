"""Replicas of engines in Ray Serve, one application each: how they are started, moved and ended.

Ray Serve supervises the process of a replica and starts it again where it dies. Where it goes, and
when it may load its engine, the controller decides (`raybench/engines/controller.py`).
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from raybench import ray_patches
from raybench.config import FleetConf
from raybench.engines.base import ReplicaClosed, ReplicaEvent
from raybench.engines.controller import MoveFailedError
from raybench.engines.failures import failure_kind
from raybench.engines.scheduler.messages import EngineNeed, SleepLevel
from raybench.errors import RunFailed
from raybench.fleet import reasons
from raybench.fleet.deployment import application, deployed_as
from raybench.fleet.engines import EngineSpec
from raybench.fleet.llm_config import Place, llm_config
from raybench.fleet.memory_meter import ReplicaMemory
from raybench.fleet.reservations import Reservations
from raybench.fleet.serve_calls import applications, deploy
from raybench.statements import Statement
from raybench.types import Request

_POLL_S = 0.5
_FAILED = ("DEPLOY_FAILED", "UNHEALTHY")
_START_FAILED = "failed to start"
"""What Serve says of a deployment whose constructor raised."""
_MEASURE_S = 30.0
_SEEN = 0.9
"""Share of an engine's weights that a measurement of host memory has to find, or it is no use: the
driver may hold them where nobody counts them as a process's."""


@dataclass(frozen=True, slots=True)
class Hosting:
    """What all replicas of a run have in common."""

    specs: Mapping[str, EngineSpec]
    """By engine, as the needs."""
    needs: Mapping[str, EngineNeed]
    conf: FleetConf
    gpu: bool
    """Engines run on GPUs."""


class ServeBackend:
    """Carries out the controller's moves with Ray Serve."""

    def __init__(
        self,
        hosting: Hosting,
        reservations: Reservations,
        controller: Any,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with no replica.

        controller: a handle of the controller, which replicas ask whether they may load.
        """
        self._hosting = hosting
        self._reservations = reservations
        self._controller = controller
        self._say = say
        self._clock = clock
        self._deploying = threading.Lock()
        """Serve pickles what it deploys, which two threads at once get wrong."""
        self._is_stopped = False
        self._engines: dict[str, str] = {}
        """The engine of each replica that is there, or may be."""
        self._places: dict[str, Place] = {}
        """Where each of them is deployed, or will be."""
        self._handles: dict[str, Any] = {}
        self._measured_gib: dict[str, float] = {}
        """What the last replica of an engine took of each device."""
        self._lent: dict[str, tuple[str, ...]] = {}
        """Devices that were given back to Ray, which gives them to a replica on several nodes."""

    async def load(
        self, replica: str, engine: str, devices: Sequence[str], *, has_process: bool
    ) -> float | None:
        """Wait until a replica is up; return what it takes of each device, if measured."""
        spec = self._hosting.specs[engine]
        if not has_process:
            self._engines[replica] = engine
            place = self._places[replica] = self._place(engine, devices)
            if place.bundles:
                self._lent[replica] = tuple(devices)
                await asyncio.to_thread(self._reservations.release, devices)
            try:
                await asyncio.to_thread(self._deploy, replica, spec, place)
            except RunFailed as error:  # the settings or the weights are wrong
                raise MoveFailedError(f"{_called(spec)}: {error}", "permanent") from error
        deadline_s = self._hosting.conf.start_deadline_s
        deadline = self._clock() + deadline_s
        was_there = has_process
        while self._clock() < deadline:
            await asyncio.sleep(_POLL_S)
            state = (await asyncio.to_thread(applications)).get(replica)
            if state is not None and state.status == "RUNNING":
                return await self._measure(replica, engine, devices)
            if state is None and was_there:
                raise MoveFailedError(
                    Statement(
                        "engine.application_deleted",
                        "{engine} did not start: its application was deleted from Ray Serve",
                        engine=_called(spec),
                    )
                )
            was_there = state is not None
            # After a death it is unhealthy until it is up again, or cannot start.
            is_over = not has_process or _START_FAILED in _told(state)
            if state is not None and state.status in _FAILED and is_over:
                reason = reasons.of_application(state)
                raise MoveFailedError(
                    Statement(
                        "engine.not_started",
                        "{engine} did not start: {reason}",
                        engine=_called(spec),
                        reason=reasons.mended(reason),
                    ),
                    failure_kind(reason),
                )
        raise MoveFailedError(
            Statement(
                "engine.start_deadline",
                "{engine} was not up within fleet.start_deadline_s={seconds:g} s. Give it more "
                "time, or look at Ray's logs in /tmp/ray/session_latest/logs/serve",
                engine=_called(spec),
                seconds=deadline_s,
            )
        )

    async def _measure(self, replica: str, engine: str, devices: Sequence[str]) -> float | None:
        """Return what a replica that is loaded takes of each device, with what a step takes."""
        if not self._hosting.gpu:
            return None
        measured: ReplicaMemory | None = None
        with suppress(Exception):  # it may just have died; then it is loaded again
            async with asyncio.timeout(_MEASURE_S):
                measured = await self._handle(replica).memory_after_load.remote()
        if measured is None:
            return None
        # vLLM gives the memory of the step that it tried back to the driver.
        gib = measured.device_gib + self._hosting.needs[engine].memory.activations
        self._measured_gib[engine] = min(gib, *map(self._reservations.memory_gib, devices))
        return self._measured_gib[engine]

    async def wake(self, replica: str, level: SleepLevel) -> bool:
        """Wake a replica; return False where it is not the model any more that went to sleep."""
        is_same = bool(await self._handle(replica).wake_and_compare.remote())
        if not is_same:
            self._say(
                Statement(
                    "engine.changed_in_sleep",
                    "{engine} gave other replies after its sleep than before, and is loaded again",
                    engine=_called(self._hosting.specs[self._engines[replica]]),
                )
            )
        return is_same

    async def close(self, replica: str, *, cut_waiting: bool) -> None:
        """Have a replica take no more requests, and wait until it has none."""
        await self._handle(replica).drain.remote(cut_waiting=cut_waiting)

    async def reopen(self, replica: str) -> None:
        """Have a closed replica take requests again."""
        await self._handle(replica).reopen.remote()

    async def sleep(self, replica: str, level: SleepLevel) -> tuple[float | None, float | None]:
        """Put a replica to sleep; return the GiB left on each device and those in host memory."""
        measured: ReplicaMemory | None = await self._handle(replica).put_to_sleep.remote(level)
        if measured is None:
            return None, None
        need = self._hosting.needs[self._engines[replica]]
        seen_gib = _SEEN * need.memory.weights * need.devices
        host_gib = measured.host_gib if level == 1 and measured.host_gib >= seen_gib else None
        return measured.device_gib, host_gib

    async def unload(self, replica: str) -> None:
        """End a replica, or what is left of it."""
        await asyncio.to_thread(self._end, replica)
        self._engines.pop(replica, None)
        if devices := self._lent.pop(replica, None):
            await self._reservations.take(devices)

    def stop(self) -> None:
        """End all replicas, and start none any more."""
        self._is_stopped = True
        with self._deploying:  # a thread may be at it, whose task was just cancelled
            stop([*self._engines])

    def _end(self, replica: str) -> None:
        with self._deploying:  # a thread may be at it, whose load was just cancelled
            self._places.pop(replica, None)
        stop([replica])

    def _deploy(self, replica: str, spec: EngineSpec, place: Place) -> None:
        conf = self._hosting.conf
        gpu = self._hosting.gpu
        config = llm_config(replace(spec, name=replica), conf, gpu=gpu, place=place)
        make = partial(application, config, conf.reply_deadline_s, self._controller, gpu=gpu)
        with self._deploying:
            if not self._is_stopped and self._places.get(replica) is place:
                deploy(make, replica)

    def _handle(self, replica: str) -> Any:
        if replica not in self._handles:
            self._handles[replica] = handle(replica)
        return self._handles[replica]

    def _place(self, engine: str, devices: Sequence[str]) -> Place:
        places = [device.rpartition("/") for device in devices]
        nodes = [node for node, _, _ in places]
        if not self._hosting.gpu:
            return Place(nodes[0])
        need = self._hosting.needs[engine]
        smallest = min(map(self._reservations.memory_gib, devices))
        taken_gib = self._measured_gib.get(engine, need.memory.total)
        share = need.share or min(taken_gib / smallest, 1.0)
        kv_gib = None if need.share else need.memory.kv
        if len({*nodes}) > 1:
            return Place(bundles=tuple(nodes), share=share, kv_gib=kv_gib)
        ids = tuple(name.removeprefix("gpu") for _, _, name in places)
        return Place(nodes[0], ids, share, kv_gib)


class ServeReplica:
    """A replica, as a client process sees it (`engines.base.ReplicaHandle`)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._handle: Any = None

    async def stream(self, requests: Sequence[Request]) -> AsyncGenerator[ReplicaEvent]:
        """Answer these requests, each reply as soon as it is there."""
        if self._handle is None:
            self._handle = handle(self._name).options(stream=True)
        call = self._handle.stream.remote(list(requests))
        try:
            async for group in call:
                for event in group:
                    yield event
        except ReplicaClosed:
            raise ReplicaClosed from None  # Ray raises a class made of this one and its own
        except (GeneratorExit, asyncio.CancelledError):
            with suppress(Exception):
                call.cancel()  # nobody listens any more: the engine need not go on
            raise


def handle(name: str) -> Any:
    """Return a handle of a replica's deployment; each one has threads and tasks of its own."""
    return ray_patches.deployment_handle(deployed_as(name), name)


def stop(names: Sequence[str], *, wait: bool = True) -> None:
    """Stop those of these replicas that are there, and wait for their end or leave it to Serve."""
    from ray import serve

    there = applications()
    ending = [name for name in names if name in there]
    for name in ending:
        ray_patches.begin_delete(name)
    if wait:
        for name in ending:  # all at once
            serve.delete(name)


def explain(error: Exception) -> str:
    """Return in one line why a call to a replica broke, and what helps."""
    return reasons.mended(reasons.last_line(str(error)) or type(error).__name__)


def _called(spec: EngineSpec) -> str:
    """Name an engine as people know it: by its models."""
    return f"the engine of {spec.called}"


def _told(state: Any) -> str:
    """Return what Serve says of an application; nothing where it knows of none."""
    if state is None:
        return ""
    return " ".join(
        str(it) for it in (state.message, *(each.message for each in state.deployments.values()))
    )
