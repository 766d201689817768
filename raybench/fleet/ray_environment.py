"""The environment with which Ray and its processes are started: what we set and a user has not."""

import contextlib
import os
from collections.abc import Iterator, Mapping

_ALWAYS = {
    # Nobody's usage is reported, and a run killed by the person at the terminal is no occasion
    # for Ray to print a stack.
    "RAY_USAGE_STATS_ENABLED": "0",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "RAY_worker_niceness": "0",  # engines are what the machine is for
    # Ray's errors, such as a node's death with a page of its state, would go to stdout, which
    # is for results. What matters of them we say.
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",
    # A thread that still works when Ray has been shut down must not start another.
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
UNWATCHED = {
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_event_stats": "0",
    "RAY_io_context_event_loop_lag_collection_interval_ms": "0",
    # Serve looks at its replicas twice a second, and not ten times.
    "RAY_SERVE_CONTROL_LOOP_INTERVAL_S": "0.5",
}
"""A Ray that ends with the run is looked at by nobody, but telling of itself (`ray timeline`, its
metrics) costs an engine that shares two cores with it 7 to 10 % of its tokens (perf/NOTES.md)."""


def set_always() -> None:
    """Set what holds for every Ray, and stays: threads may outlast it."""
    for name, value in _ALWAYS.items():
        os.environ.setdefault(name, value)


@contextlib.contextmanager
def meanwhile(settings: Mapping[str, str]) -> Iterator[None]:
    """Set these for what is started meanwhile."""
    ours = {name: value for name, value in settings.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
