"""Ray Data looks less often while little is finished of what is under way."""

from types import SimpleNamespace

import pytest
from ray.data._internal.execution import streaming_executor_state as states
from ray.data._internal.execution.interfaces.op_runtime_metrics import OpRuntimeMetrics
from ray.data._internal.execution.interfaces.physical_operator import PhysicalOperator

from raybench.pipeline import pace
from raybench.pipeline.pace import QUIET_S, USUAL_S, Paced


class Operator:
    def __init__(self, finished: int, under_way: int) -> None:
        self.metrics = SimpleNamespace(num_tasks_finished=finished)
        self.num_active_tasks = lambda: under_way


def looks(*each: tuple[int, int]) -> list[float]:
    paced, found = Paced(), []
    for finished, under_way in each:
        paced.on_execution_step(SimpleNamespace(_topology={Operator(finished, under_way): None}))
        found.append(states.WAIT_FOR_TASK_COMPLETION_TIMEOUT_S)
    return found


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "WAIT_FOR_TASK_COMPLETION_TIMEOUT_S", USUAL_S)
    monkeypatch.setattr(states, "time", states.time)


def test_it_is_slow_while_an_engine_has_enough_and_quick_where_much_is_finished() -> None:
    found = looks((0, 64), (2, 62), (4, 60), (34, 30), (34, 30), (60, 4), (64, 0))
    assert found == [QUIET_S, QUIET_S, QUIET_S, USUAL_S, QUIET_S, USUAL_S, USUAL_S]


def test_the_last_ones_are_seen_at_once_and_one_that_has_not_begun_breaks_nothing() -> None:
    assert looks((0, 1), (1, 0)) == [QUIET_S, USUAL_S]
    Paced().on_execution_step(SimpleNamespace(_topology=None))


def test_who_waits_for_output_looks_less_often_and_knows_the_time() -> None:
    pace.settle()
    begun = states.time.time()
    states.time.sleep(0.01)
    assert states.time.time() - begun >= 0.1


def test_ray_data_reads_what_is_set() -> None:
    assert "WAIT_FOR_TASK_COMPLETION_TIMEOUT_S" in states.process_completed_tasks.__code__.co_names
    assert {"time", "sleep"} <= {*states.OpState.get_output_blocking.__code__.co_names}
    assert "num_tasks_finished" in OpRuntimeMetrics.__dataclass_fields__
    assert callable(PhysicalOperator.num_active_tasks)
