"""Threads that use Ray are ended, whenever that is asked for. Executions here are stand-ins."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from raybench import ray_patches
from raybench.pipeline import executions
from raybench.pipeline.executions import (
    QUIET_POLL_S,
    USUAL_POLL_S,
    Noted,
    TaskPolling,
    end,
    thread,
)


class Execution:
    """Ends its reader when it is shut down; before it has started it takes no notice, as Ray's."""

    def __init__(self, *, starts_after: float = 0.0) -> None:
        self._starts_after = starts_after
        self._started = threading.Event()
        self.ended = threading.Event()

    def run(self) -> None:
        Noted().before_execution_starts(self)
        time.sleep(self._starts_after)
        self._started.set()
        assert self.ended.wait(20)

    def shutdown(self, *, force: bool) -> None:
        if self._started.is_set():
            self.ended.set()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as found:
        yield found


@pytest.mark.parametrize("starts_after", [0.0, 0.05])
def test_an_execution_is_ended_though_it_has_only_been_noted(
    pool: ThreadPoolExecutor, starts_after: float
) -> None:
    execution = Execution(starts_after=starts_after)
    begun = pool.submit(execution.run)
    end([begun])
    assert execution.ended.is_set()
    assert begun.done()
    assert executions._under_way == []


def test_one_whose_reader_has_gone_is_ended_too() -> None:
    execution = Execution()
    execution._started.set()
    Noted().before_execution_starts(execution)
    done: Future[Any] = Future()
    done.set_result(None)
    end([done])
    assert execution.ended.is_set()


def test_one_that_breaks_on_its_end_hides_nothing(pool: ThreadPoolExecutor) -> None:
    class Broken(Execution):
        def shutdown(self, *, force: bool) -> None:
            self.ended.set()
            raise RuntimeError("the cluster is gone")

    broken, sound = Broken(), Execution()
    Noted().before_execution_starts(broken)
    begun = pool.submit(sound.run)
    end([begun])
    assert broken.ended.is_set()
    assert sound.ended.is_set()


def test_statistics_of_blocks_are_dropped_at_each_step() -> None:
    """A driver would grow by them with every block."""
    operator = SimpleNamespace(_output_blocks_stats=[1, 2])
    Noted().on_execution_step(SimpleNamespace(_topology=[operator, object()]))
    assert operator._output_blocks_stats == []
    Noted().on_execution_step(SimpleNamespace(_topology=None))


def polling(monkeypatch: pytest.MonkeyPatch, *steps: tuple[int, int]) -> list[float]:
    """Return how long Ray Data waits after steps with these tasks finished and under way."""
    callback, waits = TaskPolling(), list[float]()
    monkeypatch.setattr(ray_patches, "set_task_polling", waits.append)
    for finished, under_way in steps:
        operator = SimpleNamespace(
            metrics=SimpleNamespace(num_tasks_finished=finished),
            num_active_tasks=partial(int, under_way),
        )
        callback.on_execution_step(SimpleNamespace(_topology=[operator]))
    return waits


def test_polling_is_slow_while_stages_have_enough_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (0, 64), (2, 62), (4, 60), (34, 30), (34, 30), (60, 4), (64, 0)
    quiet, usual = QUIET_POLL_S, USUAL_POLL_S
    assert polling(monkeypatch, *steps) == [quiet, quiet, quiet, usual, quiet, usual, usual]


def test_the_last_tasks_are_seen_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert polling(monkeypatch, (0, 1), (1, 0)) == [QUIET_POLL_S, USUAL_POLL_S]
    TaskPolling().on_execution_step(SimpleNamespace(_topology=None))  # it has not started


async def test_what_runs_in_a_thread_comes_back_and_ends_with_it() -> None:
    execution = Execution()
    with pytest.raises(ZeroDivisionError):
        async with thread() as run:
            assert await run(max, 1, 2) == 2
            run(execution.run)
            raise ZeroDivisionError
    assert execution.ended.is_set()
