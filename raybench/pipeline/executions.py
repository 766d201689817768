"""Ray Data's work in threads of this process: it has ended before Ray does.

Ray Data schedules in a thread of its own. Where that or ours still runs when Ray is shut down, as
when somebody presses Ctrl-C, Ray ends the whole process on the spot.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import asynccontextmanager, suppress
from typing import Any

from raybench import ray_patches

Run = Callable[..., "asyncio.Future[Any]"]
_LOOK_S, _LOOKS = 0.1, 300
USUAL_POLL_S = 0.1
"""Ray Data's own, which the tests compare."""
QUIET_POLL_S = 0.3
_FEW = 0.1
"""If no larger share of the tasks finishes between two steps, the stages have enough to do."""

_under_way: list[Any] = []


class Callback:
    """What Ray Data calls during an execution: all methods of its `ExecutionCallback`."""

    def before_execution_starts(self, executor: Any) -> None:
        """Do nothing before an execution."""

    def on_execution_step(self, executor: Any) -> None:
        """Do nothing after a step of the scheduler."""

    def after_execution_succeeds(self, executor: Any) -> None:
        """Do nothing at the end."""

    def after_execution_fails(self, executor: Any, error: Exception) -> None:
        """Do nothing after a failure."""


class Noted(Callback):
    """Keeps a list of the executions that begin in this process."""

    def before_execution_starts(self, executor: Any) -> None:
        """Add it to the list."""
        _under_way.append(executor)

    def on_execution_step(self, executor: Any) -> None:
        """Keep nothing of blocks that are done: a driver would grow with each."""
        ray_patches.forget_block_statistics(ray_patches.operators(executor))


class TaskPolling(Callback):
    """Has Ray Data's scheduler step less often while few tasks finish.

    A step takes 2.4 ms of a processor, and an engine that shares two of them waits for it.
    """

    def __init__(self) -> None:
        self._finished = 0

    def on_execution_step(self, executor: Any) -> None:
        """Choose how long the next step waits for finished tasks."""
        operators = ray_patches.operators(executor)
        finished = sum(operator.metrics.num_tasks_finished for operator in operators)
        new, self._finished = finished - self._finished, finished
        under_way = new + sum(operator.num_active_tasks() for operator in operators)
        is_quiet = new <= _FEW * under_way
        ray_patches.set_task_polling(QUIET_POLL_S if is_quiet else USUAL_POLL_S)


def nodes() -> set[str]:
    """Return the ids of the nodes on which actors of executions in this process run."""
    return {node for executor in list(_under_way) for node in ray_patches.actor_nodes(executor)}


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
