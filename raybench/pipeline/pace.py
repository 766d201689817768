"""How often Ray Data looks at what has been done, in the process that schedules.

Each look is 2.4 ms of a processor, and an engine that shares two of them waits meanwhile: so they
are fewer while nothing is finished anyway.
"""

import time
from types import SimpleNamespace
from typing import Any

from ray.data._internal.execution import streaming_executor_state as states
from ray.data._internal.execution.execution_callback import ExecutionCallback

USUAL_S: float = states.WAIT_FOR_TASK_COMPLETION_TIMEOUT_S
QUIET_S = 0.3
_FEW = 0.1
"""Of what is under way: while no more is finished from look to look, enough is still at hand."""
_OUTPUT_S = 0.1
"""Between two looks of who waits for what comes out of the graph: Ray Data's own are 0.01 s."""


class Paced(ExecutionCallback):
    """Has Ray Data look less often while stages finish little of what they have at hand."""

    def __init__(self) -> None:
        self._finished = 0

    def on_execution_step(self, executor: Any) -> None:
        """Choose how long the next look waits."""
        operators = list(executor._topology or ())
        finished = sum(it.metrics.num_tasks_finished for it in operators)
        new, self._finished = finished - self._finished, finished
        under_way = new + sum(it.num_active_tasks() for it in operators)
        quiet = new <= _FEW * under_way
        states.WAIT_FOR_TASK_COMPLETION_TIMEOUT_S = QUIET_S if quiet else USUAL_S


def settle() -> None:
    """Have who waits for the graph's output look for it less often."""
    states.time = SimpleNamespace(
        time=time.time, sleep=lambda seconds: time.sleep(max(seconds, _OUTPUT_S))
    )
