"""All that uses private parts of Ray (its core, Ray Data and Ray Serve).

tests/test_ray_patches.py has a test for each function: it fails when Ray does not need the function
any more, or when the private name is gone. `ray.serve.llm` is in `vllm_patches.py`.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest import mock
from uuid import uuid4

from raybench.library_patches import Versions, patch

RAY = Versions("ray", (2, 60), (2, 61))

# ---------------------------------------------------------------------------- Ray's processes

HELPERS = {
    "start_log_monitor": "passes what workers print on to drivers, and raybench reads none of it",
    "start_monitor": "tells an autoscaler what is lacking, and a local Ray has one machine",
    "start_api_server": "shows the dashboard and takes jobs",
}
"""What the processes are for, by the method of Ray's `Node` that starts each.

Each is a Python that imports Ray: all three together take 0.8 s of Ray's start, 1 s of its end, and
a hundredth of a processor while they run (measured, perf/NOTES.md).
"""


def _nothing(*_: Any, **__: Any) -> AbstractContextManager[None]:
    return nullcontext()


@patch(RAY, otherwise=_nothing)
@contextmanager
def without_helper_processes() -> Iterator[None]:
    """Start a Ray without the processes in HELPERS; `ray.init` has no settings for them."""
    from ray._private.node import Node

    with ExitStack() as stack:
        for name in HELPERS:
            stack.enter_context(mock.patch.object(Node, name, lambda *_, **__: None))
        yield


@patch(RAY, otherwise=_nothing)
@contextmanager
def killing_at_shutdown() -> Iterator[None]:
    """Have `ray.shutdown` kill Ray's processes at once.

    It sends each a SIGTERM and waits a second for its end. Processes that a local Ray starts have
    SIGTERM blocked (fleet/cluster.py).
    """
    from ray._private.node import Node

    kill = Node.kill_all_processes

    def kill_at_once(node: Node, **given: bool) -> None:
        kill(node, **{**given, "allow_graceful": False})

    with mock.patch.object(Node, "kill_all_processes", kill_at_once):
        yield


@patch(RAY, otherwise=_nothing)
@contextmanager
def keeping_sigterm_handler() -> Iterator[None]:
    """Keep this process's handler of SIGTERM while `ray.init` runs.

    Ray replaces it twice: its handler in Python ends the driver with exit code 15, the one in C++
    aborts it.
    """
    register, handler = signal.signal, signal.getsignal(signal.SIGTERM)

    def register_others(number: int, new: Any) -> Any:
        return handler if number == signal.SIGTERM else register(number, new)

    with mock.patch.object(signal, "signal", register_others):
        yield
    if threading.current_thread() is threading.main_thread():
        register(signal.SIGTERM, handler)


_AUTH_MODE = "RAY_AUTH_MODE"


@patch(RAY, otherwise=_nothing)
@contextmanager
def forgetting_auth_mode() -> Iterator[None]:
    """Have the Ray that is started or joined here find out for itself whether it wants a token.

    Ray writes what it found into the environment, as if the user had set it, and what it has read
    there counts for this process from then on: a second Ray would be taken for one like the first.
    """
    before = os.environ.get(_AUTH_MODE)
    _read_auth_mode()
    try:
        yield
    finally:
        os.environ.pop(_AUTH_MODE, None)
        if before is not None:
            os.environ[_AUTH_MODE] = before
        _read_auth_mode()


def _read_auth_mode() -> None:
    from ray import _raylet

    library: Any = _raylet
    library.Config.initialize("")
    library.AuthenticationTokenLoader.instance().reset_cache()


LOOPBACK = "127.0.0.1"
CLUSTER_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Set to 0, it has a Ray's node at 127.0.0.1, on Linux too."""


@patch(RAY)
@contextmanager
def reading_cluster_variable() -> Iterator[None]:
    """Have Ray obey CLUSTER_VARIABLE: it reads it once, when `ray` is imported."""
    from ray._private import ray_constants

    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = os.environ[CLUSTER_VARIABLE].lower() in ("1", "true")
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


@patch(RAY, otherwise=lambda: set())
def infeasible_groups() -> set[str]:
    """Return the ids of placement groups for which the autoscaler has no kind of node."""
    from ray._private import worker
    from ray.core.generated.autoscaler_pb2 import GetClusterStatusReply

    reply = GetClusterStatusReply()
    reply.ParseFromString(worker.global_worker.gcs_client.get_cluster_status(timeout_s=10))
    requests = reply.autoscaling_state.infeasible_gang_resource_requests
    # Ray writes GROUP:STRATEGY|STATE.
    return {request.details.partition(":")[0] for request in requests}


# ---------------------------------------------------------------------------- Ray Serve


@patch(RAY)
def listen_on_loopback() -> None:
    """Have the Serve replica of this process listen on loopback if its node does.

    Serve has every replica listen on all interfaces for calls of other deployments, and unpickles
    what arrives there. No setting changes that. (Callers without the token are turned away first.)
    """
    import ray.util
    from ray.serve._private import replica

    listen = replica.add_port_to_grpc_server
    if ray.util.get_node_ip_address() != LOOPBACK or hasattr(listen, "is_on_loopback"):
        return

    def listen_inside(server: Any, address: str) -> Any:
        return listen(server, address.replace("[::]:", f"{LOOPBACK}:"))

    listen_inside.is_on_loopback = True  # type: ignore[attr-defined]
    replica.add_port_to_grpc_server = listen_inside


def _existing_handle(deployment: str, application: str) -> Any:
    from ray import serve

    return serve.get_deployment_handle(deployment, application)


@patch(RAY, otherwise=_existing_handle)
def deployment_handle(deployment: str, application: str) -> Any:
    """Return a handle of a deployment, without asking Serve's controller whether it exists.

    The question blocks the caller's event loop.
    """
    from ray import serve

    return serve.get_deployment_handle(deployment, application, _check_exists=False)


def _delete_and_wait(application: str) -> None:
    from ray import serve

    serve.delete(application)


@patch(RAY, otherwise=_delete_and_wait)
def begin_delete(application: str) -> None:
    """Have Serve delete an application, and return at once; `serve.delete` waits for its end."""
    from ray import serve

    serve.delete(application, _blocking=False)


@patch(RAY)
def http_address() -> tuple[str, int]:
    """Return host and port of Serve's HTTP proxy, which a cluster may have started before."""
    from ray.serve.context import _get_global_client

    options = _get_global_client().http_config
    return options.host, options.port


# ---------------------------------------------------------------------------- Ray Data


class LocalActor:
    """Answers in this process the calls of an actor that was not started."""

    def __init__(self, **answers: Callable[..., Any]) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> "LocalMethod":
        """Return what an actor's handle has under the name of a method."""
        if name.startswith("_"):  # pickle looks for such
            raise AttributeError(name)
        return LocalMethod(self._answers.get(name))


class LocalMethod:
    """A method of an actor that was not started."""

    def __init__(self, answer: Callable[..., Any] | None) -> None:
        self._answer = answer

    def remote(self, *args: Any, **kwargs: Any) -> Any:
        """Return a reference to the answer; None for a method whose answer nobody reads."""
        import ray

        return None if self._answer is None else ray.put(self._answer(*args, **kwargs))


class ActorOrLocal:
    """Finds an actor of Ray Data, or in a local Ray the object that takes its place."""

    def __init__(self, find: Callable[[], Any], local: LocalActor) -> None:
        self._find = find
        self._local = local

    def __call__(self) -> Any:
        """Return the handle."""
        from ray._private import worker

        node = worker._global_node
        # In a Ray that was joined, even through a Ray client, this process has started no node.
        return self._local if node is not None and node.head else self._find()


def _all_resources(requester: str) -> Mapping[str, Mapping[str, float]]:
    """Return what the only driver may use."""
    import ray

    return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}


_LOCATIONS = LocalActor(get_actor_locations=lambda actors: {})  # on one node, none has moved
DATA_ACTORS = {
    # Numbers datasets, and gathers figures for the dashboard.
    "ray.data._internal.stats.get_or_create_stats_actor": LocalActor(
        gen_dataset_id=lambda: uuid4().hex
    ),
    # Remembers where restarted actors are.
    "ray.data._internal.execution.operators.actor_pool_map_operator"
    ".get_or_create_actor_location_tracker": _LOCATIONS,
    "ray.data._internal.utils.cached_ray_internals"
    ".get_or_create_actor_location_tracker": _LOCATIONS,
    # Divides nodes among drivers, and asks an autoscaler for more.
    "ray.data._internal.cluster_autoscaler.default_autoscaling_coordinator"
    ".get_or_create_autoscaling_coordinator": LocalActor(get_reserved_resources=_all_resources),
}
"""What takes the place of an actor in a local Ray, by the function that starts or finds it."""


@patch(RAY, otherwise=lambda: None)
def replace_data_actors() -> None:
    """Have Ray Data start no actors of its own, if this process has started its Ray.

    Each of the three takes two processor seconds to start, 60 MiB, and a hundredth of a processor
    while it does nothing.
    """
    for path, local in DATA_ACTORS.items():
        module_name, _, name = path.rpartition(".")
        module = import_module(module_name)
        find = getattr(module, name)
        if not isinstance(find, ActorOrLocal):
            setattr(module, name, ActorOrLocal(find, local))


OUTPUT_POLL_S = 0.1


@patch(RAY, otherwise=lambda: None)
def slow_output_polling() -> None:
    """Have the consumer of a dataset look for output every 0.1 s instead of every 0.01 s."""
    from ray.data._internal.execution import streaming_executor_state as states

    states.time = SimpleNamespace(
        time=time.time, sleep=lambda seconds: time.sleep(max(seconds, OUTPUT_POLL_S))
    )


@patch(RAY, otherwise=lambda seconds: None)
def set_task_polling(seconds: float) -> None:
    """Set how long Ray Data's scheduler waits for finished tasks before its next step."""
    from ray.data._internal.execution import streaming_executor_state as states

    states.WAIT_FOR_TASK_COMPLETION_TIMEOUT_S = seconds


@patch(RAY, otherwise=lambda executor: [])
def operators(executor: Any) -> list[Any]:
    """Return the operators of an execution of Ray Data; none before it has started."""
    return list(executor._topology or ())


@patch(RAY, otherwise=lambda executor: set())
def actor_nodes(executor: Any) -> set[str]:
    """Return the ids of the nodes on which actors of an execution run."""
    return {
        state.actor_location
        for operator in operators(executor)
        if (pool := getattr(operator, "_actor_pool", None)) is not None
        for state in list(pool._running_actors.values())
    }


@patch(RAY, otherwise=lambda operators: None)
def forget_block_statistics(operators: Iterable[Any]) -> None:
    """Drop what Ray Data keeps of every block until the end, for a text that nobody reads."""
    for operator in operators:
        if statistics := getattr(operator, "_output_blocks_stats", None):
            statistics.clear()
