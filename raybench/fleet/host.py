"""Hosting: vLLM engines in Ray Serve, one application each, for as long as the run."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed
from raybench.fleet import embedded
from raybench.fleet.account import Account
from raybench.fleet.attendance import reserve
from raybench.fleet.cluster import here, leave_out, nodes, serving
from raybench.fleet.devices import elsewhere
from raybench.fleet.engines import EngineSpec
from raybench.fleet.hosted import HostedEngine
from raybench.fleet.hub import sizes
from raybench.fleet.keeper import Keeper, Status, stop
from raybench.fleet.leases import Leases
from raybench.fleet.places import Layout
from raybench.fleet.reasons import last_line
from raybench.fleet.replicas import by_engine, replicated
from raybench.fleet.turns import State

if TYPE_CHECKING:
    from raybench.fleet.client import Engine, Say, Up

T = TypeVar("T")

_POLL_S = 0.5
_STOP_S = 120.0
_COMING = (State.WANTED, State.ARRIVING)
_FURTHEST_FIRST = (
    State.AWAKE,
    State.ARRIVING,
    State.WANTED,
    State.LEAVING,
    State.ASLEEP,
    State.COLD,
    State.FAILED,
)


@contextlib.asynccontextmanager
async def host(
    specs: Sequence[EngineSpec], conf: FleetConf, account: Account, say: "Say"
) -> AsyncIterator[tuple[Any, Mapping[str, "Engine"], "Up"]]:
    """Bring the engines up and leave no process of ours behind.

    Hands out their keeper, them, and what waits for those that are loaded first. They can be asked
    at once: a request waits for its engine as it would for its turn.
    """
    if any(spec.weights == embedded.NAME for spec in specs) and embedded.cached() is None:
        say("preparing the embedded model (once)")
        await asyncio.to_thread(embedded.prepare)
    async with serving(conf, say) as gpu:
        there = nodes(conf, gpu=gpu)
        conf = leave_out(conf, there, say)
        replicas, plan = replicated(specs, there, conf, gpu=gpu, sizes=await sizes(specs))
        keeper = await keep(replicas, conf, plan, gpu=gpu)
        names = [spec.name for spec in replicas]

        told: list[str] = []
        lacking: set[str] = set()

        def tell(status: Status) -> None:
            for text in status.said[len(told) :]:
                told.append(text)
                say(text)
            for of_engine in by_engine(status.states).values():
                failed = {*of_engine} & status.failures.keys()
                if len(failed) < len(of_engine):
                    for name in sorted(failed - lacking):
                        say(f"{status.failures[name]}; its other replicas go on")
                    lacking.update(failed)
            _note(account, specs, status)

        async def first() -> None:
            await up(keeper, names, say, device="GPU" if gpu else "CPU")
            tell(await keeper.status.remote())

        try:
            async with connect(keeper, specs, conf, tell) as engines:
                yield keeper, engines, first
                with contextlib.suppress(Exception):  # the numbers are not worth an exception
                    tell(await keeper.status.remote())
        finally:
            say("stopping the engines")
            if elsewhere(conf):
                # Somebody else's cluster: take down what is ours and nothing more.
                await take_down(keeper, names, say)


@contextlib.asynccontextmanager
async def connect(
    keeper: Any, specs: Sequence[EngineSpec], conf: FleetConf, tell: Callable[[Status], None]
) -> AsyncIterator[Mapping[str, "Engine"]]:
    """Hand out the engines of a keeper in this process, which need not be the one that has them."""
    leases = Leases(keeper)
    replicas: Mapping[str, Sequence[str]] = await keeper.replicas.remote()
    engines = {
        spec.name: HostedEngine(spec.name, leases, conf, replicas[spec.name]) for spec in specs
    }
    watch = asyncio.create_task(leases.watch(tell))
    try:
        yield engines
    finally:
        watch.cancel()
        for engine in engines.values():
            await engine.close()


async def keep(
    specs: Sequence[EngineSpec],
    conf: FleetConf,
    plan: Layout,
    *,
    gpu: bool,
) -> Any:
    """Start the keeper of these engines, which begins to load what fits."""
    import ray

    await reserve(
        plan.places or {}, specs[0].name,
        conf.start_deadline_s, "fleet.start_deadline_s=", gpu=gpu,
    )  # fmt: skip
    keeper = (
        ray.remote(Keeper)
        # It is wanted for as long as its driver, and dies of nothing else that happens to a node.
        .options(num_cpus=0, max_concurrency=100_000, label_selector=here())
        .remote(specs, conf, plan, gpu=gpu)
    )
    with _telling_of_its_death():
        await keeper.start.remote()
    return keeper


@contextlib.contextmanager
def _telling_of_its_death() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise RunFailed(
            Problem(
                "engine.lost",
                f"the keeper of the engines died ({last_line(str(error))})",
                fix="look at Ray's logs in /tmp/ray/session_latest/logs",
            )
        ) from error


async def up(keeper: Any, names: Sequence[str], say: "Say", *, device: str) -> None:
    """Wait until what is loaded first is up, or has failed; raise where nothing comes up."""
    first: set[str] | None = None
    while True:
        with _telling_of_its_death():
            status: Status = await keeper.status.remote()
        failures = [status.failures[name] for name in names if name in status.failures]
        if len(failures) == len(names):
            raise RunFailed(Problem("engine.start", "; ".join(failures)))
        # Others may follow before these were looked at again: work is there already.
        coming = {name for name, state in status.states.items() if state in _COMING}
        if first is None and coming:
            some = len(coming) < len(names)
            say(
                f"starting {len(coming)}{f' of {len(names)}' * some} vLLM engine"
                f"{'s' * (len(names) > 1)} on the {device}{', where they take turns' * some}"
            )
        first = coming if first is None else first & coming
        if not first:
            return
        await asyncio.sleep(_POLL_S)


async def take_down(keeper: Any, names: Sequence[str], say: "Say") -> None:
    """Have the keeper stop the engines; where it is gone, stop them from here."""
    try:
        async with asyncio.timeout(_STOP_S):
            try:
                await keeper.stop.remote()
            except Exception:
                await asyncio.to_thread(stop, names)
    except Exception as error:
        why = last_line(str(error)) or type(error).__name__
        say(f"the engines could not be stopped ({why}); `serve status` lists what is left")


def _note(account: Account, specs: Sequence[EngineSpec], status: Status) -> None:
    """Keep in the account what the keeper tells.

    An engine is as far as the furthest of its replicas, and has failed when all of them have.
    """
    engines = by_engine([*status.states])
    furthest = {
        name: min((status.states[it] for it in replicas), key=_FURTHEST_FIRST.index)
        for name, replicas in engines.items()
    }
    failures = {
        name: status.failures[replicas[0]]
        for name, replicas in engines.items()
        if {*replicas} <= status.failures.keys()
    }

    def of(known: Mapping[str, T]) -> dict[str, T]:
        """Return what is known of engines, by the models that they serve."""
        return {
            model.name: known[spec.name]
            for spec in specs
            for model in spec.models
            if spec.name in known
        }

    states = of(furthest)
    account.note(
        status.swaps,
        [name for name, state in states.items() if state in _COMING],
        of(failures),
        states={name: state.value for name, state in states.items()},
        queued=status.queued,
        running=status.running,
    )
