"""Hosting: vLLM engines in Ray Serve, one application for each replica, for as long as the run."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from raybench.config import FleetConf
from raybench.engines.assignments import AssignmentLoop, ControllerGoneError
from raybench.engines.controller import EngineStatus, Status
from raybench.engines.feeder import EngineFeeder, FeederConf
from raybench.engines.scheduler.messages import ReplicaState
from raybench.errors import Problem, RunFailed
from raybench.fleet import embedded
from raybench.fleet.account import Account
from raybench.fleet.cluster import here, serving
from raybench.fleet.cluster_controller import ClusterController
from raybench.fleet.devices import elsewhere
from raybench.fleet.engines import EngineSpec
from raybench.fleet.hosted import HostedEngine
from raybench.fleet.reasons import last_line
from raybench.fleet.serve_backend import ServeReplica, explain, stop
from raybench.fleet.serve_calls import applications

if TYPE_CHECKING:
    from raybench.fleet.client import Engine, Say, Up

_POLL_S = 0.5
_WATCH_S = 2.0
_STOP_S = 120.0
_COMING = (ReplicaState.PLANNED, ReplicaState.LOADING, ReplicaState.WAKING)
_LEAVING = (
    ReplicaState.CLOSING, ReplicaState.CLOSED, ReplicaState.GOING_TO_SLEEP,
    ReplicaState.UNLOADING,
)  # fmt: skip


@contextlib.asynccontextmanager
async def host(
    specs: Sequence[EngineSpec], conf: FleetConf, account: Account, say: "Say", note: "Say"
) -> AsyncIterator[tuple[Any, Mapping[str, "Engine"], "Up"]]:
    """Bring the engines up, and leave no process behind.

    Yields their controller, the engines, and what waits for those that are loaded first. They can
    be asked at once: a request waits until its engine has a replica. `note` reports what happens to
    engines and nodes.
    """
    if any(spec.weights == embedded.NAME for spec in specs) and embedded.cached() is None:
        say("preparing the embedded model (once)")
        await asyncio.to_thread(embedded.prepare)
    async with serving(conf, say) as gpu:
        controller = start_controller(specs, conf, gpu=gpu)
        said: list[str] = []

        def tell(status: Status) -> None:
            for text in status.said[len(said) :]:
                said.append(text)
                note(text)
            keep(account, specs, status)

        async def first() -> None:
            await up(controller, specs, say, device="GPU" if gpu else "CPU")
            tell(await controller.status.remote())

        try:
            await opened(controller, tell)
            async with connect(controller, specs, conf, tell) as engines:
                yield controller, engines, first
                with contextlib.suppress(Exception):  # the numbers are not worth an exception
                    tell(await controller.status.remote())
        finally:
            say("stopping the engines")
            if elsewhere(conf):
                # On a cluster of others only what this run has started is ended.
                await take_down(controller, specs, say)


@contextlib.asynccontextmanager
async def connect(
    controller: Any,
    specs: Sequence[EngineSpec],
    conf: FleetConf,
    tell: Callable[[Status], None] | None = None,
) -> AsyncIterator[Mapping[str, "Engine"]]:
    """Yield the engines of a controller in this process.

    tell: is called every 2 s with how things stand.
    """
    client, loop = uuid4().hex, asyncio.get_running_loop()
    feeder_conf = FeederConf(client, conf.attempts, conf.start_deadline_s, explain)
    feeders = {spec.name: EngineFeeder(spec.name, feeder_conf, loop.time) for spec in specs}
    assignments = AssignmentLoop(client, Remote(controller), feeders, ServeReplica)
    tasks = [asyncio.create_task(assignments.run())]
    if tell is not None:
        tasks.append(asyncio.create_task(_watch(controller, tell)))
    try:
        yield {name: HostedEngine(feeder) for name, feeder in feeders.items()}
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):  # it finds out by itself, after two minutes
            controller.leave.remote(client)


class Remote:
    """A controller in another process, as clients call it (`assignments.ControllerHandle`)."""

    def __init__(self, handle: Any, *, is_restarted: bool = False) -> None:
        """Take the handle of an actor, or of a deployment, which Serve restarts where it dies."""
        self._handle = handle
        self._is_restarted = is_restarted

    async def report(self, reports: Sequence[Any]) -> None:
        """Say what this client wants."""
        await self._call("report", reports)

    async def assignments(self, client: str, known: int) -> Any:
        """Return where requests go, once that has changed."""
        return await self._call("assignments", client, known)

    async def _call(self, method: str, *arguments: Any) -> Any:
        from ray.exceptions import ActorDiedError

        try:
            return await getattr(self._handle, method).remote(*arguments)
        except ActorDiedError as error:
            if self._is_restarted:
                raise
            raise ControllerGoneError(last_line(str(error))) from error


async def _watch(controller: Any, tell: Callable[[Status], None]) -> None:
    while True:
        await asyncio.sleep(_WATCH_S)
        with contextlib.suppress(Exception):  # calls say it where the controller is gone
            tell(await controller.status.remote())


def start_controller(specs: Sequence[EngineSpec], conf: FleetConf, *, gpu: bool) -> Any:
    """Start the controller of these engines."""
    import ray

    return (
        ray.remote(ClusterController)
        # It is wanted for as long as its driver, and dies of nothing else that happens to a node.
        .options(num_cpus=0, max_concurrency=100_000, label_selector=here())
        .remote(specs, conf, gpu=gpu)
    )


async def opened(controller: Any, tell: Callable[[Status], None]) -> None:
    """Have the controller find out what the cluster has, and begin to load."""
    with _telling_of_its_death():
        opening = asyncio.ensure_future(_open(controller))
        try:
            while not (await asyncio.wait([opening], timeout=_POLL_S))[0]:
                tell(await controller.status.remote())
            await opening
        finally:
            opening.cancel()
        tell(await controller.status.remote())


async def _open(controller: Any) -> None:
    await controller.open.remote()


@contextlib.contextmanager
def _telling_of_its_death() -> Iterator[None]:
    try:
        yield
    except RunFailed as error:  # Ray raises a class made of this one and its own
        raise RunFailed(error.problems) from error
    except Exception as error:
        raise RunFailed(
            Problem(
                "engine.lost",
                f"the controller of the engines died ({last_line(str(error))})",
                fix="look at Ray's logs in /tmp/ray/session_latest/logs",
            )
        ) from error


async def up(controller: Any, specs: Sequence[EngineSpec], say: "Say", *, device: str) -> None:
    """Wait until what is loaded first is up, or has failed; raise where nothing comes up."""
    first: set[str] | None = None
    while True:
        with _telling_of_its_death():
            status: Status = await controller.status.remote()
        failures = [it.failure for it in status.engines.values() if it.failure]
        if status.engines and len(failures) == len(status.engines):
            raise RunFailed(Problem("engine.start", "; ".join(failures)))
        stages = {_stage(it) for it in status.engines.values()}
        waits = any(it.waits_for_weights for it in status.engines.values())
        if waits and not stages & {"arriving", "awake"}:
            await asyncio.sleep(_POLL_S)
            continue
        # Others may follow before these were looked at again: work is there already.
        coming = {name for name, it in status.engines.items() if _stage(it) == "arriving"}
        if first is None and coming:
            some = len(coming) < len(specs)
            say(
                f"starting {len(coming)}{f' of {len(specs)}' * some} vLLM engine"
                f"{'s' * (len(specs) > 1)} on the {device}{', where they take turns' * some}"
            )
        first = coming if first is None else first & coming
        if not first:
            return
        await asyncio.sleep(_POLL_S)


async def take_down(controller: Any, specs: Sequence[EngineSpec], say: "Say") -> None:
    """Have the controller end the replicas; if it is gone, end those of these engines."""
    try:
        async with asyncio.timeout(_STOP_S):
            try:
                await controller.stop.remote()
            except Exception:
                names = {spec.name for spec in specs}
                there = await asyncio.to_thread(applications)
                replicas = [it for it in there if it.rpartition("-r")[0] in names]
                await asyncio.to_thread(stop, replicas)
    except Exception as error:
        reason = last_line(str(error)) or type(error).__name__
        say(f"the engines could not be stopped ({reason}); `serve status` lists what is left")


def keep(account: Account, specs: Sequence[EngineSpec], status: Status) -> None:
    """Keep in the account how the engines stand, by the models that they serve."""
    stages = {name: _stage(it) for name, it in status.engines.items()}
    models = {model.name: spec.name for spec in specs for model in spec.models}
    known = {model: engine for model, engine in models.items() if engine in stages}
    states = {model: stages[engine] for model, engine in known.items()}
    requests = {
        model: status.engines[engine].models.get(model, 0) for model, engine in known.items()
    }
    account.note(
        status.swaps,
        [model for model, state in states.items() if state == "arriving"],
        {
            model: status.engines[engine].failure
            for model, engine in known.items()
            if status.engines[engine].failure
        },
        states=states,
        queued={model: n for model, n in requests.items() if states[model] != "awake"},
        running={model: n for model, n in requests.items() if states[model] == "awake"},
    )


def _stage(status: EngineStatus) -> str:
    """Return how an engine stands, in a word: that of the replica that can do most."""
    states = {*status.states.values()}
    if status.failure:
        return "failed"
    if ReplicaState.OPEN in states:
        return "awake"
    if states & {*_COMING}:
        return "arriving"
    if states & {*_LEAVING}:
        return "leaving"
    return "asleep" if states else "cold"
