"""Ray Data's work in threads of this process: it has ended before Ray does.

Ray Data schedules in a thread of its own. Where that or ours still runs when Ray is shut down, as
when somebody presses Ctrl-C, Ray ends the whole process on the spot.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, suppress
from typing import Any

from ray.data._internal.execution.execution_callback import ExecutionCallback

Run = Callable[..., "asyncio.Future[Any]"]
_LOOK_S, _LOOKS = 0.1, 300

_under_way: list[Any] = []


class Noted(ExecutionCallback):
    """Has Ray Data tell of every execution that it begins in this process."""

    def before_execution_starts(self, executor: Any) -> None:
        """Note it."""
        _under_way.append(executor)

    def on_execution_step(self, executor: Any) -> None:
        """Forget how long each block took: Ray Data keeps it of all, for a text nobody reads."""
        for operator in executor._topology or ():
            if kept := getattr(operator, "_output_blocks_stats", None):
                kept.clear()


def nodes() -> set[str]:
    """Return the nodes, by Ray's names, on which actors of executions in this process are."""
    return {
        state.actor_location
        for executor in list(_under_way)
        for operator in list(executor._topology or ())
        if (pool := getattr(operator, "_actor_pool", None)) is not None
        for state in list(pool._running_actors.values())
    }


@asynccontextmanager
async def thread() -> AsyncIterator[Run]:
    """Hand out what runs functions in a thread; on the way out, executions in it are ended."""
    pool, begun = ThreadPoolExecutor(1), list[Future[Any]]()

    def run(function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        begun[:] = [pool.submit(function, *arguments)]
        return asyncio.wrap_future(begun[0])

    try:
        yield run
    finally:
        pool.shutdown(wait=False)
        await asyncio.to_thread(end, begun)


def end(begun: list[Future[Any]]) -> None:
    """End what was begun, which may only be about to begin an execution."""
    for _ in range(_LOOKS):
        done = not wait(begun, timeout=_LOOK_S).not_done
        for executor in list(_under_way):
            # One that is noted and has not started yet takes no notice: it is told again.
            with suppress(Exception):  # what broke it is told by who runs it
                executor.shutdown(force=True)
        if done:
            break
    _under_way.clear()
