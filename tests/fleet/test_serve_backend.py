"""The controller's moves in Ray Serve, and the replica as a client sees it, without a Serve."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from types import SimpleNamespace
from typing import Any

import pytest
from fleet.fake_deployment import FakeDeployment, Remote
from ray.exceptions import RayTaskError
from statements import code, codes, values
from virtual_time import loop, now

from raybench.config import FleetConf
from raybench.engines.base import Heartbeat, ReplicaClosed, ReplicaEvent
from raybench.engines.controller import MoveFailedError
from raybench.engines.scheduler.messages import Device, EngineNeed, MemoryBudget, Node, SleepLevel
from raybench.errors import Problem, RunFailed
from raybench.fleet import group_engines, serve_backend
from raybench.fleet.llm_config import Place
from raybench.fleet.memory_meter import ReplicaMemory
from raybench.fleet.reservations import Reservations
from raybench.fleet.serve_backend import Hosting, ServeBackend, ServeReplica
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

(SPEC,) = group_engines([ModelSpec("m", "vllm", "org/m")])
REPLICA = f"{SPEC.name}-r0"
GPUS = ("a/gpu0", "a/gpu1", "b/gpu0")
NODES = [
    Node("a", (Device("a/gpu0", 80.0), Device("a/gpu1", 40.0))),
    Node("b", (Device("b/gpu0", 80.0),)),
]


def state(status: str, message: str = "", deployment: str = "") -> Any:
    """Return what Serve has on record of an application and of its deployment."""
    deployments = {"Engine": SimpleNamespace(message=deployment)} if deployment else {}
    return SimpleNamespace(status=status, message=message, deployments=deployments)


class KnownDevices(Reservations):
    """Devices of which a test sees whether they are reserved."""

    def __init__(self) -> None:
        super().__init__("test", gpu=False)
        self._gib = {device.name: device.memory_gib for node in NODES for device in node.devices}
        self.reserved = {*GPUS}

    async def take(self, devices: Iterable[str]) -> None:
        assert self.reserved.isdisjoint(devices)
        self.reserved.update(devices)

    def release(self, devices: Iterable[str]) -> None:
        self.reserved.difference_update(devices)


class Serve:
    """Serve, with applications that say one thing after another; the last one stays."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.says: list[Any] = [state("RUNNING")]
        self.deployed: list[str] = []
        self.stopped: list[str] = []
        self.places: list[Place] = []
        self.memory: ReplicaMemory | None = None
        """What a replica measures after each move."""
        self.handle = SimpleNamespace(memory_after_load=Remote(self._measure))
        """Of each replica."""
        self.config: Callable[[], None] = lambda: None
        """Called where the configuration of a replica is made."""
        for name in ("applications", "deploy", "stop", "llm_config"):
            monkeypatch.setattr(serve_backend, name, getattr(self, f"_{name}"))
        monkeypatch.setattr(serve_backend, "handle", lambda name: self.handle)

    async def _measure(self) -> ReplicaMemory | None:
        return self.memory

    def _applications(self) -> dict[str, Any]:
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        return {} if said is None else {REPLICA: said}

    def _deploy(self, make: Callable[[], Any], name: str) -> None:
        self.deployed.append(name)

    def _stop(self, names: Sequence[str]) -> None:
        self.stopped += names

    def _llm_config(self, spec: Any, conf: FleetConf, *, gpu: bool, place: Place) -> dict[str, Any]:
        self.config()
        self.places.append(place)
        return {"model_loading_config": {"model_id": spec.name}}


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    return Serve(monkeypatch)


class Hosted:
    """A backend, and what it said."""

    def __init__(self, *, gpu: bool = True, share: float = 0.0) -> None:
        self.said: list[str] = []
        self.devices = KnownDevices()
        need = EngineNeed(SPEC.name, MemoryBudget(10.0, 20.0, 2.0), share)
        conf = FleetConf(start_deadline_s=50)
        hosting = Hosting({SPEC.name: SPEC}, {SPEC.name: need}, conf, gpu)
        self.backend = ServeBackend(hosting, self.devices, None, self.said.append, now)

    async def load(self, *devices: str, has_process: bool = False) -> float | None:
        return await self.backend.load(
            REPLICA, SPEC.name, devices or ("a/gpu0",), has_process=has_process
        )

    async def failure(self, *, has_process: bool = False) -> MoveFailedError:
        with pytest.raises(MoveFailedError) as raised:
            await self.load(has_process=has_process)
        return raised.value


# ---------------------------------------------------------------------------------- load


async def test_a_load_ends_when_serve_says_that_the_replica_runs(serve: Serve) -> None:
    serve.says = [None, state("DEPLOYING"), state("DEPLOYING"), state("RUNNING")]
    assert await Hosted().load() is None
    assert serve.deployed == [REPLICA]
    assert len(serve.says) == 1


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.", "memory"),
        ("ValueError: Free memory on device cuda:0 is less than desired", "memory"),
        ("OSError: Repository Not Found for url", "permanent"),
        ("RuntimeError: the network is down", "other"),
        ("", "other"),
    ],
)
@pytest.mark.parametrize("status", ["DEPLOY_FAILED", "UNHEALTHY"])
async def test_a_load_fails_as_serve_says_and_tells_what_may_help(
    serve: Serve, said: str, kind: str, status: str
) -> None:
    serve.says = [state("DEPLOYING"), state(status, "the application failed", said)]
    error = await Hosted().failure()
    assert error.kind == kind
    assert code(error) == "engine.not_started"
    assert said.rstrip(".") in values(error)["reason"]


async def test_settings_or_weights_that_are_wrong_fail_for_good(serve: Serve) -> None:
    def refuse() -> None:
        raise RunFailed(Problem("model.weights", "no weights"))

    serve.config = refuse
    assert (await Hosted().failure()).kind == "permanent"
    assert serve.deployed == []


async def test_a_load_that_takes_longer_than_the_deadline_fails(serve: Serve) -> None:
    serve.says, begun = [state("DEPLOYING")], now()
    error = await Hosted().failure()
    assert (code(error), error.kind) == ("engine.start_deadline", "other")
    assert values(error)["seconds"] == 50
    assert now() - begun == pytest.approx(50, abs=1)


async def test_a_process_that_was_started_again_is_waited_for_while_it_is_unhealthy(
    serve: Serve,
) -> None:
    serve.says = [*[state("UNHEALTHY", "a health check failed")] * 5, state("RUNNING")]
    await Hosted().load(has_process=True)
    assert serve.deployed == []


async def test_a_process_that_cannot_start_again_fails(serve: Serve) -> None:
    why = "The deployment failed to start 1 times in a row. CUDA out of memory"
    serve.says = [state("UNHEALTHY"), state("UNHEALTHY", deployment=why)]
    error = await Hosted().failure(has_process=True)
    assert (code(error), error.kind) == ("engine.not_started", "memory")


@pytest.mark.parametrize("has_process", [True, False])
async def test_an_application_that_was_deleted_is_not_waited_for(
    serve: Serve, has_process: bool
) -> None:
    serve.says = [state("DEPLOYING"), None]
    begun = now()
    error = await Hosted().failure(has_process=has_process)
    assert (code(error), error.kind) == ("engine.application_deleted", "other")
    assert now() - begun < 10


# ---------------------------------------------------------------------------------- memory


async def test_what_a_loaded_replica_takes_is_measured_and_its_next_load_asks_for_that(
    serve: Serve,
) -> None:
    hosted, serve.memory = Hosted(), ReplicaMemory(40.0, 3.0)
    assert await hosted.load("b/gpu0") == 42.0  # with the 2 GiB of a step
    await hosted.load("b/gpu0")
    assert [place.share for place in serve.places] == [32 / 80, 42 / 80]
    serve.memory = ReplicaMemory(79.0, 3.0)
    assert await hosted.load("b/gpu0") == 80.0


async def test_a_replica_that_cannot_be_measured_is_estimated(serve: Serve) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ConnectionError("it died")

    assert await Hosted().load() is None
    serve.memory = ReplicaMemory(40.0, 3.0)
    assert await Hosted(gpu=False).load("a/cpu") is None
    for call in (hang, fail):
        serve.handle.memory_after_load = Remote(call)
        assert await Hosted().load() is None


@pytest.mark.parametrize(
    ("level", "host_gib", "counted"),
    [
        (1, 12.0, 12.0),
        (1, 8.0, None),  # less than the weights: the driver holds them elsewhere
        (2, 12.0, None),
    ],
)
async def test_what_a_sleeper_leaves_on_devices_and_takes_of_the_host_is_measured(
    serve: Serve, level: SleepLevel, host_gib: float, counted: float | None
) -> None:
    async def sleep(level: int) -> ReplicaMemory:
        return ReplicaMemory(1.2, host_gib)

    hosted = Hosted()
    await hosted.load()
    serve.handle.put_to_sleep = Remote(sleep)
    assert await hosted.backend.sleep(REPLICA, level) == (1.2, counted)


# ---------------------------------------------------------------------------------- place


@pytest.mark.parametrize(
    ("devices", "share", "place"),
    [
        (["a/gpu1"], 0.9, Place("a", ("1",), 0.9)),
        (["a/gpu1"], 0.0, Place("a", ("1",), 0.8, 20.0)),
        (["a/gpu0", "a/gpu1"], 0.0, Place("a", ("0", "1"), 0.8, 20.0)),  # of the smallest one
        (["b/gpu0"], 0.0, Place("b", ("0",), 0.4, 20.0)),
        (["a/gpu0", "b/gpu0"], 0.5, Place(share=0.5, bundles=("a", "b"))),
        (["a/gpu0", "b/gpu0"], 0.0, Place(share=0.4, kv_gib=20.0, bundles=("a", "b"))),
    ],
)
async def test_a_replica_gets_its_devices_and_its_part_of_their_memory(
    serve: Serve, devices: list[str], share: float, place: Place
) -> None:
    await Hosted(share=share).load(*devices)
    assert serve.places == [place]


async def test_on_cpus_a_replica_gets_a_node(serve: Serve) -> None:
    await Hosted(gpu=False).load("a/cpu")
    assert serve.places == [Place("a")]


async def test_devices_of_one_node_stay_reserved(serve: Serve) -> None:
    hosted = Hosted()
    await hosted.load("a/gpu0", "a/gpu1")
    assert hosted.devices.reserved == {*GPUS}
    await hosted.backend.unload(REPLICA)
    assert serve.stopped == [REPLICA]


async def test_devices_of_several_nodes_are_given_to_ray_while_the_replica_is_loaded(
    serve: Serve,
) -> None:
    hosted = Hosted()
    await hosted.load("a/gpu0", "b/gpu0")
    assert hosted.devices.reserved == {"a/gpu1"}
    await hosted.backend.unload(REPLICA)
    assert hosted.devices.reserved == {*GPUS}
    await hosted.backend.unload(REPLICA)  # there is nothing left to take again
    assert hosted.devices.reserved == {*GPUS}


async def test_devices_of_a_load_that_failed_are_reserved_again(serve: Serve) -> None:
    hosted, serve.says = Hosted(), [state("DEPLOY_FAILED")]
    with pytest.raises(MoveFailedError):
        await hosted.load("a/gpu0", "b/gpu0")
    await hosted.backend.unload(REPLICA)
    assert hosted.devices.reserved == {*GPUS}


# ---------------------------------------------------------------------------------- other moves


@pytest.mark.parametrize("is_same", [True, False])
async def test_a_replica_that_is_another_model_after_its_sleep_is_named(
    serve: Serve, is_same: bool
) -> None:
    async def wake() -> bool:
        return is_same

    hosted = Hosted()
    await hosted.load()
    serve.handle.wake_and_compare = Remote(wake)
    assert await hosted.backend.wake(REPLICA, 1) is is_same
    assert codes(hosted.said) == [] if is_same else ["engine.changed_in_sleep"]


async def test_moves_are_calls_to_the_replica(serve: Serve) -> None:
    called: list[tuple[Any, ...]] = []

    def remote(name: str) -> Remote:
        async def call(*asked: Any, **named: Any) -> None:
            called.append((name, *asked, *named.values()))

        return Remote(call)

    for name in ("drain", "reopen", "put_to_sleep"):
        setattr(serve.handle, name, remote(name))
    backend = Hosted().backend
    await backend.close(REPLICA, cut_waiting=True)
    await backend.reopen(REPLICA)
    assert await backend.sleep(REPLICA, 2) == (None, None)
    assert called == [("drain", True), ("reopen",), ("put_to_sleep", 2)]


async def test_a_stopped_backend_ends_its_replicas_and_starts_none(serve: Serve) -> None:
    hosted = Hosted()
    await hosted.load()
    hosted.backend.stop()
    assert serve.stopped == [REPLICA]
    serve.says = [None]
    assert code(await hosted.failure()) == "engine.start_deadline"
    assert serve.deployed == [REPLICA]


class Gate:
    """Holds threads back."""

    def __init__(self) -> None:
        self.is_reached, self._is_open = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.is_reached.set()
        assert self._is_open.wait(30)

    def open(self) -> None:
        self._is_open.set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.open()


@pytest.mark.parametrize("ending", ["unload", "stop"])
async def test_a_load_that_was_cancelled_starts_nothing_after_the_end_of_its_replica(
    serve: Serve, gate: Gate, ending: str
) -> None:
    hosted, serve.config = Hosted(), gate
    load = asyncio.create_task(hosted.load())
    await asyncio.to_thread(gate.is_reached.wait)
    load.cancel()
    await asyncio.gather(load, return_exceptions=True)
    if ending == "unload":
        await hosted.backend.unload(REPLICA)
    else:
        hosted.backend.stop()
    gate.open()
    await loop().shutdown_default_executor()  # until the thread of the load has ended
    assert serve.places
    assert serve.deployed == []


# ---------------------------------------------------------------------------------- ServeReplica


BATCH = [Request((Message("user", str(number)),), seed=number) for number in range(3)]
REPLIES = [(n, Completion(str(n), "stop")) for n in range(3)]


def replica_of(monkeypatch: pytest.MonkeyPatch, deployment: FakeDeployment) -> ServeReplica:
    monkeypatch.setattr(serve_backend, "handle", lambda name: deployment)
    return ServeReplica("e-r0")


async def test_events_of_a_group_come_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    beat = Heartbeat(1, 0, 8)

    async def answer(requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        yield [beat]
        yield [REPLIES[1], beat, REPLIES[0]]
        yield [REPLIES[2]]

    deployment = FakeDeployment(answer)
    replica = replica_of(monkeypatch, deployment)
    events = [event async for event in replica.stream(BATCH)]
    assert events == [beat, REPLIES[1], beat, REPLIES[0], REPLIES[2]]
    assert [call.requests for call in deployment.calls] == [BATCH]
    assert not deployment.calls[0].is_cancelled


async def test_a_replica_that_is_closed_is_no_error_of_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        for group in list[Sequence[ReplicaEvent]]():
            yield group
        raise RayTaskError("stream", "Traceback", ReplicaClosed()).as_instanceof_cause()

    replica = replica_of(monkeypatch, FakeDeployment(answer))
    with pytest.raises(ReplicaClosed) as raised:
        await anext(replica.stream(BATCH))
    assert type(raised.value) is ReplicaClosed


async def test_other_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
        yield [REPLIES[0]]
        raise ConnectionError("it died")

    replica = replica_of(monkeypatch, FakeDeployment(answer))
    events = []
    with pytest.raises(ConnectionError):
        async for event in replica.stream(BATCH):
            events.append(event)
    assert events == REPLIES[:1]


async def never(requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
    yield [Heartbeat(1, 0, 8)]
    await asyncio.Event().wait()


async def test_a_stream_that_is_closed_cancels_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    deployment = FakeDeployment(never)
    async with aclosing(replica_of(monkeypatch, deployment).stream(BATCH)) as events:
        await anext(events)
        assert not deployment.calls[0].is_cancelled
    assert deployment.calls[0].is_cancelled


async def test_a_listener_that_is_cancelled_cancels_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deployment = FakeDeployment(never)
    replica = replica_of(monkeypatch, deployment)

    async def listen() -> None:
        async for _ in replica.stream(BATCH):
            pass

    listener = asyncio.create_task(listen())
    await asyncio.sleep(1)
    listener.cancel()
    await asyncio.gather(listener, return_exceptions=True)
    assert listener.cancelled()
    assert deployment.calls[0].is_cancelled
