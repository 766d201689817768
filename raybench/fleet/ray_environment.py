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
    # Replicas and routers sum up their metrics, and the agent those of processes, for nobody.
    "RAY_SERVE_METRICS_EXPORT_INTERVAL_MS": "60000",
    "REPORTER_UPDATE_INTERVAL_MS": "60000",
    # One machine tells itself less often how it is: every half second to every ten seconds.
    "RAY_raylet_report_resources_period_milliseconds": "500",
    "RAY_object_manager_timer_freq_ms": "1000",
    "RAY_memory_monitor_refresh_ms": "1000",
    "RAY_kill_idle_workers_interval_ms": "1000",
    "RAY_local_fs_monitor_interval_ms": "5000",
    "RAY_io_context_monitor_probe_interval_ms": "10000",
    "RAY_gcs_pull_resource_loads_period_milliseconds": "5000",
    "RAY_report_worker_backlog_interval_ms": "5000",
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
