"""Hosted engines as a run sees them: requests to replicas, and what is said of the engines."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from engines.fake_controller import FakeController
from engines.replicas import Replica, TimedEngine, asked
from fleet.fake_deployment import FakeDeployment, Remote
from ray.exceptions import ActorDiedError, ActorUnavailableError
from refusals import refused
from statements import code
from virtual_time import now

from raybench.config import FleetConf
from raybench.engines.assignments import ControllerGoneError
from raybench.engines.base import ReplicaEvent
from raybench.engines.controller import EngineStatus, Status
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.replica_server import ReplicaServer
from raybench.engines.scheduler.messages import ReplicaState
from raybench.engines.scheduler.move_costs import Swaps
from raybench.errors import RunFailed
from raybench.fleet import group_engines, host, serve_backend
from raybench.fleet.account import Account
from raybench.fleet.hosted import HostedEngine
from raybench.types import Completion, ModelSpec, Request

pytestmark = pytest.mark.virtual_time

MODEL = ModelSpec("m", "vllm", "org/m")
OTHER = ModelSpec("other", "vllm", "org/other")
TWIN = ModelSpec("twin", "vllm", "org/m", system_prompt="Be brief.")
SPECS = group_engines([MODEL, TWIN, OTHER])
SHARED, SINGLE = (spec.name for spec in SPECS)


# ---------------------------------------------------------------------------------- HostedEngine


async def replies(engine: HostedEngine, count: int) -> list[str]:
    """Ask for replies that take longest for the first request; return their texts."""
    requests = [asked(n, seconds=float(count - n)) for n in range(count)]
    return [reply.text for reply in await engine.complete(MODEL, requests)]


async def test_a_batch_is_answered_in_the_order_of_its_requests() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.set_replicas({"e-r0": Replica(4), "e-r1": Replica(2)})
    assert await replies(HostedEngine(feeder), 20) == [f"reply {n}" for n in range(20)]


async def test_a_stream_yields_each_reply_when_it_is_there() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.set_replicas({"e-r0": Replica(4)})
    requests = [asked(n, seconds=4.0 - n) for n in range(3)]
    async with aclosing(HostedEngine(feeder).stream(MODEL, requests)) as stream:
        assert [place async for place, _ in stream] == [2, 1, 0]


async def test_requests_are_counted_for_the_model_that_is_asked() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    engine = HostedEngine(feeder)
    batches = [
        asyncio.create_task(engine.complete(model, [asked(n) for n in range(count)]))
        for model, count in ((MODEL, 5), (TWIN, 2))
    ]
    await asyncio.sleep(1)
    assert feeder.report().models == {"m": 5, "twin": 2}
    feeder.set_replicas({"e-r0": Replica(4)})
    await asyncio.gather(*batches)
    assert feeder.report().models == {}


async def test_a_batch_that_is_given_up_leaves_nothing_at_its_replica() -> None:
    feeder, replica = EngineFeeder("e", FeederConf("here"), now), Replica(4)
    feeder.set_replicas({"e-r0": replica})
    batch = asyncio.create_task(replies(HostedEngine(feeder), 20))
    await asyncio.sleep(0.5)
    batch.cancel()
    await asyncio.gather(batch, return_exceptions=True)
    await asyncio.sleep(0.5)
    assert replica.held == replica.engine.held == 0
    assert feeder.report().models == {}


async def test_a_refusal_is_the_error_of_every_request() -> None:
    feeder = EngineFeeder("e", FeederConf("here"), now)
    feeder.refuse("no weights")
    found = await HostedEngine(feeder).complete(MODEL, [asked(n) for n in range(3)])
    assert [(it.finish, it.error) for it in found] == [("error", "no weights")] * 3


# ---------------------------------------------------------------------------------- connect


class Cluster:
    """A controller and the replicas of an engine in Serve, as their handles show them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.controller = FakeController(SHARED)
        self.left: list[str] = []
        self.servers: dict[str, ReplicaServer] = {}
        self.handle = SimpleNamespace(
            report=Remote(self._report),
            assignments=Remote(self._assignments),
            leave=Remote(self._leave),
            status=Remote(self._status),
        )
        monkeypatch.setattr(serve_backend, "handle", self._replica)

    async def _report(self, reports: Sequence[Any]) -> None:
        await self.controller.report(reports)

    async def _assignments(self, client: str, known: int) -> Any:
        return await self.controller.assignments(client, known)

    async def _leave(self, client: str) -> None:
        self.left.append(client)

    async def _status(self) -> Status:
        if self.controller.error is not None:
            raise self.controller.error
        return status()

    def _replica(self, name: str) -> Any:
        server = self.servers[name] = ReplicaServer(TimedEngine(4), 600.0, lambda: None, now)

        async def answer(requests: Sequence[Request]) -> AsyncGenerator[Sequence[ReplicaEvent]]:
            async with aclosing(server.stream_groups(requests)) as groups:
                async for group in groups:
                    yield group

        return FakeDeployment(answer)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(monkeypatch)


async def test_engines_of_a_controller_answer_until_the_process_leaves(cluster: Cluster) -> None:
    told: list[Status] = []
    async with host.connect(cluster.handle, SPECS, FleetConf(), told.append) as engines:
        assert {*engines} == {SHARED, SINGLE}
        batch = asyncio.create_task(engines[SHARED].complete(MODEL, [asked(n) for n in range(9)]))
        await asyncio.sleep(5)
        assert cluster.controller.wanted[SHARED] > 0
        assert not batch.done()
        cluster.controller.assign("r0", "r1")
        assert [reply.text for reply in await batch] == [f"reply {n}" for n in range(9)]
        assert told
    await asyncio.sleep(0)
    assert len(cluster.left) == 1


async def test_a_replica_that_closes_leaves_its_requests_to_others(cluster: Cluster) -> None:
    async with host.connect(cluster.handle, SPECS, FleetConf()) as engines:
        cluster.controller.assign("r0")
        requests = [asked(n, seconds=10.0) for n in range(12)]
        batch = asyncio.create_task(engines[SHARED].complete(MODEL, requests))
        await asyncio.sleep(5)
        drain = asyncio.create_task(cluster.servers["r0"].drain(cut_waiting=True))
        await asyncio.sleep(1)
        cluster.controller.assign("r1")
        assert {reply.error for reply in await batch} == {None}
        await drain


async def test_without_its_controller_every_request_fails(cluster: Cluster) -> None:
    async with host.connect(cluster.handle, SPECS, FleetConf(), lambda _: None) as engines:
        batches = [
            asyncio.create_task(engine.complete(MODEL, [asked(n) for n in range(3)]))
            for engine in engines.values()
        ]
        await asyncio.sleep(5)
        cluster.controller.fail(ActorDiedError())
        for batch in batches:
            assert {code(reply.error) for reply in await batch} == {"engine.controller_lost"}
        late: list[Completion] = await engines[SINGLE].complete(OTHER, [asked(0)])
        assert [code(reply.error) for reply in late] == ["engine.controller_lost"]


async def test_a_controller_that_cannot_be_reached_for_a_while_is_waited_for(
    cluster: Cluster,
) -> None:
    async with host.connect(cluster.handle, SPECS, FleetConf()) as engines:
        batch = asyncio.create_task(engines[SHARED].complete(MODEL, [asked(0)]))
        await asyncio.sleep(5)
        cluster.controller.fail(ActorUnavailableError("for a while", None))
        await asyncio.sleep(50)
        cluster.controller.fail(None)
        cluster.controller.assign("r0")
        assert [reply.error for reply in await batch] == [None]


@pytest.mark.parametrize(
    ("is_restarted", "error"), [(False, ControllerGoneError), (True, ActorDiedError)]
)
async def test_only_the_controller_of_a_run_is_gone_for_good(
    cluster: Cluster, is_restarted: bool, error: type[Exception]
) -> None:
    cluster.controller.fail(ActorDiedError())
    remote = host.Remote(cluster.handle, is_restarted=is_restarted)
    with pytest.raises(error):
        await remote.assignments("here", 0)
    with pytest.raises(error):
        await remote.report([])


# ---------------------------------------------------------------------------------- what is said


def engine(
    *states: ReplicaState, failure: str = "", models: Mapping[str, int] | None = None
) -> EngineStatus:
    named = {f"r{number}": state for number, state in enumerate(states)}
    return EngineStatus(named, models=models or {}, failure=failure)


def status(**engines: EngineStatus) -> Status:
    return Status(
        {{"shared": SHARED, "single": SINGLE}[name]: it for name, it in engines.items()}, Swaps(3)
    )


@pytest.mark.parametrize(
    ("states", "stage"),
    [
        ([], "cold"),
        ([ReplicaState.ASLEEP], "asleep"),
        ([ReplicaState.PLANNED], "arriving"),
        ([ReplicaState.LOADING], "arriving"),
        ([ReplicaState.WAKING], "arriving"),
        ([ReplicaState.CLOSING], "leaving"),
        ([ReplicaState.CLOSED], "leaving"),
        ([ReplicaState.GOING_TO_SLEEP], "leaving"),
        ([ReplicaState.UNLOADING], "leaving"),
        ([ReplicaState.ASLEEP, ReplicaState.UNLOADING], "leaving"),
        ([ReplicaState.UNLOADING, ReplicaState.LOADING], "arriving"),
        ([ReplicaState.LOADING, ReplicaState.CLOSING, ReplicaState.OPEN], "awake"),
    ],
)
def test_an_engine_stands_as_the_replica_that_can_do_most(
    states: list[ReplicaState], stage: str
) -> None:
    assert host._stage(engine(*states)) == stage
    assert host._stage(engine(*states, failure="no weights")) == "failed"


def test_every_replica_state_is_a_stage() -> None:
    assert {host._stage(engine(state)) for state in ReplicaState} == {
        "awake", "arriving", "leaving", "asleep",
    }  # fmt: skip


def noted(told: Status) -> Account:
    account = Account(["m", "twin", "other"])
    host.keep(account, SPECS, told)
    return account


def test_models_of_an_engine_stand_alike_and_have_requests_of_their_own() -> None:
    account = noted(
        status(
            shared=engine(ReplicaState.OPEN, models={"m": 5}),
            single=engine(ReplicaState.LOADING, models={"other": 7}),
        )
    )
    assert account.states == {"m": "awake", "twin": "awake", "other": "arriving"}
    assert account.arriving == ["other"]
    assert account.running == {"m": 5, "twin": 0}
    assert account.queued == {"other": 7}
    assert (account.swaps.count, account.failed) == (3, {})


def test_all_models_of_an_engine_that_failed_are_named_with_the_reason() -> None:
    account = noted(
        status(
            shared=engine(failure="no weights", models={"m": 1}), single=engine(ReplicaState.OPEN)
        )
    )
    assert account.failed == {"m": "no weights", "twin": "no weights"}
    assert account.states["m"] == "failed"
    assert (account.queued["m"], account.running) == (1, {"other": 0})


def test_before_the_controller_has_looked_nothing_is_known() -> None:
    account = noted(status())
    assert (account.states, account.queued, account.running, account.failed) == ({}, {}, {}, {})


# ---------------------------------------------------------------------------------- up


def controller(*told: Status | Exception) -> Any:
    """Return a controller that says one thing after another; the last one stays."""
    left = [*told]

    async def answer() -> Status:
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return said

    return SimpleNamespace(status=Remote(answer), left=left)


async def wait_until_up(actor: Any) -> int:
    """Wait for what is loaded first; return how often something was said."""
    said: list[str] = []
    await host.up(actor, SPECS, said.append, device="GPU")
    return len(said)


async def test_what_is_loaded_first_is_waited_for() -> None:
    loading, opened = engine(ReplicaState.LOADING), engine(ReplicaState.OPEN)
    actor = controller(
        status(shared=loading, single=loading),
        status(shared=opened, single=loading),
        status(shared=opened, single=opened),
    )
    assert await wait_until_up(actor) == 1
    assert len(actor.left) == 1


async def test_an_engine_that_comes_later_is_not_waited_for() -> None:
    loading, opened = engine(ReplicaState.LOADING), engine(ReplicaState.OPEN)
    actor = controller(
        status(shared=loading, single=engine()), status(shared=opened, single=loading)
    )
    await wait_until_up(actor)


async def test_where_no_weights_are_here_the_first_ones_are_waited_for() -> None:
    fetching = replace(engine(), waits_for_weights=True)
    actor = controller(
        status(shared=fetching, single=fetching),
        status(shared=engine(ReplicaState.LOADING), single=fetching),
        status(shared=engine(ReplicaState.OPEN), single=fetching),
    )
    assert await wait_until_up(actor) == 1
    assert len(actor.left) == 1
    failed = engine(failure="no network")
    actor = controller(
        status(shared=fetching, single=fetching), status(shared=failed, single=failed)
    )
    with refused("engine.start", kind=RunFailed):
        await wait_until_up(actor)


async def test_one_engine_that_fails_leaves_the_others() -> None:
    loading, opened = engine(ReplicaState.LOADING), engine(ReplicaState.OPEN)
    await wait_until_up(
        controller(
            status(shared=loading, single=loading),
            status(shared=opened, single=engine(failure="no weights")),
        )
    )


async def test_where_every_engine_fails_nothing_is_waited_for() -> None:
    failed = engine(failure="no weights")
    actor = controller(
        status(shared=engine(ReplicaState.LOADING), single=failed),
        status(shared=failed, single=failed),
    )
    with refused("engine.start", kind=RunFailed):
        await wait_until_up(actor)


async def test_a_controller_that_dies_while_engines_come_up_ends_the_run() -> None:
    actor = controller(status(shared=engine(ReplicaState.LOADING)), ActorDiedError())
    with refused("engine.lost", kind=RunFailed):
        await wait_until_up(actor)
