"""Threads that use Ray are ended, whenever that is asked for. Executions here are stand-ins."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from ray.data._internal.execution.operators.map_operator import MapOperator

from raybench.pipeline import executions
from raybench.pipeline.executions import Noted, end, thread


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


class Operator:
    """Keeps something of each block, as some of Ray Data's do."""

    def __init__(self) -> None:
        self._output_blocks_stats = [1, 2]


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


def test_what_each_block_took_is_kept_of_none() -> None:
    """A driver would grow by it with every block."""
    operator = Operator()
    executor = SimpleNamespace(_topology={operator: 0, object(): 1})
    Noted().on_execution_step(executor)
    assert operator._output_blocks_stats == []
    Noted().on_execution_step(SimpleNamespace(_topology=None))
    # It is there that Ray Data keeps it.
    assert "_output_blocks_stats" in MapOperator.__init__.__code__.co_names


async def test_what_runs_in_a_thread_comes_back_and_ends_with_it() -> None:
    execution = Execution()
    with pytest.raises(ZeroDivisionError):
        async with thread() as run:
            assert await run(max, 1, 2) == 2
            run(execution.run)
            raise ZeroDivisionError
    assert execution.ended.is_set()
