"""Hosting: vLLM engines in Ray Serve, one application each, for as long as the run."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from raybench.config import FleetConf
from raybench.errors import Problem, RunFailed
from raybench.fleet import embedded
from raybench.fleet.account import Account
from raybench.fleet.attendance import reserve
from raybench.fleet.cluster import here, nodes, serving
from raybench.fleet.devices import elsewhere
from raybench.fleet.engines import EngineSpec
from raybench.fleet.hub import sizes
from raybench.fleet.keeper import Keeper, Status, handle, stop
from raybench.fleet.leases import Leases
from raybench.fleet.places import Layout, layout
from raybench.fleet.reasons import last_line, mended
from raybench.fleet.streams import Placed, unbroken
from raybench.fleet.turns import State
from raybench.types import Completion, ModelSpec, Request

if TYPE_CHECKING:
    from raybench.fleet.client import Engine, Say, Up

T = TypeVar("T")

_POLL_S = 0.5
_RETRY_WAIT_S = 5.0
_STOP_S = 120.0
_COMING = (State.WANTED, State.ARRIVING)


class HostedEngine:
    """A Serve deployment of one engine; a batch is one call, under one lease."""

    def __init__(self, name: str, leases: Leases, conf: FleetConf) -> None:
        self._name = name
        self._leases = leases
        self._conf = conf

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        """Send the batch; where the replica dies under it, send it to the one that follows."""
        patience, reason = self._patience(requests), ""
        for attempt in range(self._conf.attempts):
            if attempt:
                await asyncio.sleep(_RETRY_WAIT_S)
            # A lease for each: what follows may be on another node, and others may come before it.
            async with self._turn(model, len(requests)) as refusal:
                if refusal:
                    reason = refusal
                    break
                try:
                    async with asyncio.timeout(patience):
                        return list(await handle(self._name).complete.remote(list(requests)))
                except Exception as error:  # whatever the engine died of is data here
                    reason = self._told(error, patience)
        return [Completion.failed(reason) for _ in requests]

    async def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        """Stream the batch; where the replica dies under it, send the rest to the next one."""
        patience = self._patience(requests)
        replies = unbroken(
            self._stream_once,
            requests,
            turn=lambda work: self._turn(model, work),
            attempts=self._conf.attempts,
            wait_s=_RETRY_WAIT_S,
            deadline_s=patience,
            told=lambda error: self._told(error, patience),
        )
        async with contextlib.aclosing(replies):
            async for placed in replies:
                yield placed

    @contextlib.asynccontextmanager
    async def _turn(self, model: ModelSpec, work: int) -> AsyncIterator[str]:
        """Wait for the engine's turn and keep it awake; yields '', or why it will not come."""
        async with contextlib.AsyncExitStack() as stack:
            try:
                lease = self._leases.hold(self._name, work, model.name)
                refusal = await stack.enter_async_context(lease)
            except Exception as error:  # the keeper's end is data too
                refusal = self._told(error, 0.0)
            yield refusal

    def _patience(self, requests: Sequence[Request]) -> float:
        """Return how long a reply is waited for: in the queue, and while the model may work."""
        longest = max((it.deadline_s or 0.0 for it in requests), default=0.0)
        return self._conf.reply_deadline_s + longest

    async def _stream_once(self, requests: list[Request]) -> AsyncGenerator[Placed]:
        call = handle(self._name).options(stream=True).stream.remote(requests)
        try:
            async for placed in call:
                yield placed
        except (GeneratorExit, asyncio.CancelledError):
            call.cancel()  # nobody listens any more: the engine need not go on
            raise

    def _told(self, error: Exception, patience: float) -> str:
        if isinstance(error, TimeoutError):
            return f"engine {self._name}: no reply within {patience:g} s"
        reason = last_line(str(error)) or type(error).__name__
        return f"engine {self._name}: {mended(reason)}"


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
        plan = layout(specs, nodes(conf, gpu=gpu), conf, gpu=gpu, sizes=await sizes(specs))
        keeper = await keep(specs, conf, plan, gpu=gpu)

        told: list[str] = []

        def tell(status: Status) -> None:
            for text in status.said[len(told) :]:
                told.append(text)
                say(text)
            _note(account, specs, status)

        async def first() -> None:
            await up(keeper, specs, say, device="GPU" if gpu else "CPU")
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
                await take_down(keeper, [spec.name for spec in specs], say)


@contextlib.asynccontextmanager
async def connect(
    keeper: Any, specs: Sequence[EngineSpec], conf: FleetConf, tell: Callable[[Status], None]
) -> AsyncIterator[Mapping[str, "Engine"]]:
    """Hand out the engines of a keeper in this process, which need not be the one that has them."""
    leases = Leases(keeper)
    watch = asyncio.create_task(leases.watch(tell))
    try:
        yield {spec.name: HostedEngine(spec.name, leases, conf) for spec in specs}
    finally:
        watch.cancel()


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


async def up(keeper: Any, specs: Sequence[EngineSpec], say: "Say", *, device: str) -> None:
    """Wait until what is loaded first is up, or has failed; raise where nothing comes up."""
    first: set[str] | None = None
    while True:
        with _telling_of_its_death():
            status: Status = await keeper.status.remote()
        failures = [status.failures[spec.name] for spec in specs if spec.name in status.failures]
        if len(failures) == len(specs):
            raise RunFailed(Problem("engine.start", "; ".join(failures)))
        # Others may follow before these were looked at again: work is there already.
        coming = {name for name, state in status.states.items() if state in _COMING}
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
    """Keep in the account what the keeper tells."""

    def of(by_engine: Mapping[str, T]) -> dict[str, T]:
        """Return what is known of engines, by the models that they serve."""
        return {
            model.name: by_engine[spec.name]
            for spec in specs
            for model in spec.models
            if spec.name in by_engine
        }

    states = of(status.states)
    account.note(
        status.swaps,
        [name for name, state in states.items() if state in _COMING],
        of(status.failures),
        states={name: state.value for name, state in states.items()},
        queued=status.queued,
        running=status.running,
    )
