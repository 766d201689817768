"""Ray still has what each patch works around, and still has the private names that it uses.

A test that fails after an update of Ray names the patch that can go, or that has to change.
tests/fleet/test_own_ray.py shows most of them in a Ray that runs.
"""

import inspect
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import pytest
import ray
from helpers import ROOT
from ray import serve
from ray.data._internal.execution import streaming_executor_state as states
from ray.data._internal.execution.execution_callback import ExecutionCallback
from ray.data._internal.execution.interfaces.op_runtime_metrics import OpRuntimeMetrics
from ray.data._internal.execution.interfaces.physical_operator import PhysicalOperator
from ray.data._internal.execution.operators.actor_pool_map_operator import (
    ActorPoolMapOperator,
    _ActorPool,
    _ActorState,
)
from ray.data._internal.execution.operators.map_operator import MapOperator
from ray.data._internal.execution.streaming_executor import StreamingExecutor

from raybench import ray_patches
from raybench.pipeline.executions import USUAL_POLL_S, Callback

pytestmark = pytest.mark.slow  # the import of Ray Serve's replica


def names(function: Callable[..., Any]) -> set[str]:
    """Return the names that a function uses."""
    return {*inspect.unwrap(function).__code__.co_names}


def constants(function: Callable[..., Any]) -> set[Any]:
    """Return the plain constants that a function uses."""
    return {it for it in function.__code__.co_consts if isinstance(it, str | int | float)}


def sets_attribute(cls: type, name: str) -> bool:
    return name in cls.__init__.__code__.co_names  # type: ignore[misc]


def test_without_helper_processes_ray_starts_none_and_has_no_setting_for_it() -> None:
    from ray._private.node import Node

    before = [getattr(Node, name) for name in ray_patches.HELPERS]
    with ray_patches.without_helper_processes():
        assert not {*before} & {getattr(Node, name) for name in ray_patches.HELPERS}
    assert [getattr(Node, name) for name in ray_patches.HELPERS] == before
    assert {*ray_patches.HELPERS} <= (
        names(Node.start_head_processes) | names(Node.start_ray_processes)
    )
    assert not {"include_log_monitor", "no_monitor"} & {*inspect.signature(ray.init).parameters}


def test_killing_at_shutdown_spares_the_second_that_ray_waits_for_each_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray._private import worker
    from ray._private.node import Node

    given: list[dict[str, Any]] = []
    monkeypatch.setattr(Node, "kill_all_processes", lambda self, **named: given.append(named))
    with ray_patches.killing_at_shutdown():
        Node.kill_all_processes(object(), check_alive=False, allow_graceful=True)
    assert given == [{"check_alive": False, "allow_graceful": False}]
    assert "kill_all_processes" in names(worker.shutdown)
    assert "allow_graceful=True" in inspect.getsource(worker.shutdown)


def test_keeping_sigterm_handler_leaves_the_process_the_handler_that_ray_would_replace() -> None:
    from ray._private import utils

    mine, theirs = (lambda *_: None), (lambda *_: None)
    before = signal.signal(signal.SIGTERM, mine)
    try:
        with ray_patches.keeping_sigterm_handler():
            utils.set_sigterm_handler(theirs)
        assert signal.getsignal(signal.SIGTERM) is mine
        utils.set_sigterm_handler(theirs)
        assert signal.getsignal(signal.SIGTERM) is theirs
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "set_sigterm_handler" in names(ray.init)


AUTH = """
import os, sys
from contextlib import nullcontext
from ray._private.authentication import authentication_token_setup as setup
from raybench import ray_patches
with ray_patches.forgetting_auth_mode() if sys.argv[1:] else nullcontext():
    setup.enable_token_auth_by_default()
is_token = setup.get_authentication_mode() == setup.AuthenticationMode.TOKEN
print(os.environ.get("RAY_AUTH_MODE"), is_token)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "left"), [([], ["token", "True"]), (["forgetting"], ["None", "False"])]
)
def test_forgetting_auth_mode_undoes_what_ray_leaves_in_the_environment(
    arguments: list[str], left: list[str], tmp_path: Path
) -> None:
    inherited = {name: it for name, it in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", AUTH, *arguments],
        env={**inherited, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.split() == left


def test_reading_cluster_variable_has_an_effect_after_the_import_of_ray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray._private import services

    far = "192.0.2.1"
    monkeypatch.setattr(services, "node_ip_address_from_perspective", lambda address: far)
    monkeypatch.setenv(ray_patches.CLUSTER_VARIABLE, "0")
    assert services.get_node_ip_address() == far
    with ray_patches.reading_cluster_variable():
        assert services.get_node_ip_address() == ray_patches.LOOPBACK
    assert services.get_node_ip_address() == far


def test_infeasible_groups_are_named_by_the_autoscaler_before_their_strategy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from ray._private import worker
    from ray.core.generated.autoscaler_pb2 import GetClusterStatusReply

    reply = GetClusterStatusReply()
    requests = reply.autoscaling_state.infeasible_gang_resource_requests
    requests.add().details = "abc:STRICT_PACK|PENDING"
    client = SimpleNamespace(get_cluster_status=lambda timeout_s: reply.SerializeToString())
    monkeypatch.setattr(worker, "global_worker", SimpleNamespace(gcs_client=client))
    assert ray_patches.infeasible_groups() == {"abc"}
    assert callable(import_module("ray._raylet").InnerGcsClient.get_cluster_status)
    assert "gcs_client" in names(worker.connect)


@pytest.mark.parametrize("address", ["127.0.0.1", "192.0.2.1"])
def test_listen_on_loopback_changes_the_address_of_a_replica_on_loopback(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    import ray.util
    from ray.serve._private import replica

    bound: list[str] = []
    monkeypatch.setattr(replica, "add_port_to_grpc_server", lambda _, port: bound.append(port))
    monkeypatch.setattr(ray.util, "get_node_ip_address", lambda: address)
    ray_patches.listen_on_loopback()
    ray_patches.listen_on_loopback()  # once is enough
    replica.add_port_to_grpc_server(None, "[::]:0")
    assert bound == ["127.0.0.1:0" if address == "127.0.0.1" else "[::]:0"]
    assert 'add_port_to_grpc_server(self._server, "[::]:0")' in inspect.getsource(replica)


def test_deployment_handle_asks_nobody_whether_the_deployment_exists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(serve, "get_deployment_handle", lambda *_, **named: asked.append(named))
    ray_patches.deployment_handle("deployment", "application")
    assert asked == [{"_check_exists": False}]
    monkeypatch.undo()
    parameters = inspect.signature(serve.get_deployment_handle).parameters
    assert parameters["_check_exists"].default is True


def test_begin_delete_does_not_wait_as_delete_does(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(serve, "delete", lambda *_, **named: asked.append(named))
    ray_patches.begin_delete("application")
    assert asked == [{"_blocking": False}]
    monkeypatch.undo()
    assert inspect.signature(serve.delete).parameters["_blocking"].default is True


def test_http_address_is_that_of_serves_client(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.serve import context
    from ray.serve._private.client import ServeControllerClient
    from ray.serve.config import HTTPOptions

    client = SimpleNamespace(http_config=HTTPOptions(host="192.0.2.1", port=8001))
    monkeypatch.setattr(context, "_get_global_client", lambda: client)
    assert ray_patches.http_address() == ("192.0.2.1", 8001)
    assert isinstance(ServeControllerClient.http_config, property)


def test_replace_data_actors_patches_the_functions_by_which_ray_data_finds_them() -> None:
    ray_patches.replace_data_actors()
    ray_patches.replace_data_actors()  # once is enough
    for path in ray_patches.DATA_ACTORS:
        module, _, name = path.rpartition(".")
        find = getattr(import_module(module), name)
        assert isinstance(find, ray_patches.ActorOrLocal)
        assert isinstance(find._find, FunctionType)


def test_replace_data_actors_answers_only_what_is_waited_for() -> None:
    there = pickle.loads(pickle.dumps(ray_patches.LocalActor(asked=max)))
    assert there.anything.remote(1, name=2) is None
    assert there.asked._answer is max


def test_slow_output_polling_sleeps_longer_than_ray_data_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    get_output = states.OpState.get_output_blocking
    assert {"time", "sleep"} <= names(get_output) and 0.01 in constants(get_output)
    slept: list[float] = []
    monkeypatch.setattr(states, "time", states.time)
    monkeypatch.setattr(time, "sleep", slept.append)
    ray_patches.slow_output_polling()
    states.time.sleep(0.01)
    states.time.sleep(1.0)
    assert slept == [ray_patches.OUTPUT_POLL_S, 1.0]
    used = {*re.findall(r"\btime\.([a-z_]+)", inspect.getsource(states))}
    assert used == {"time", "sleep"}


def test_set_task_polling_sets_what_ray_data_reads_at_each_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "WAIT_FOR_TASK_COMPLETION_TIMEOUT_S"
    assert name in names(states.process_completed_tasks)
    # Its value may have been set in this process: by a graph that ran before.
    assert re.search(rf"^{name} = {USUAL_POLL_S}$", inspect.getsource(states), re.MULTILINE)
    monkeypatch.setattr(states, name, USUAL_POLL_S)
    ray_patches.set_task_polling(1.5)
    assert getattr(states, name) == 1.5


def test_operators_of_an_execution_are_its_topology() -> None:
    assert sets_attribute(StreamingExecutor, "_topology")
    assert ray_patches.operators(SimpleNamespace(_topology=None)) == []
    assert ray_patches.operators(SimpleNamespace(_topology={"one": 1, "two": 2})) == ["one", "two"]
    assert "num_tasks_finished" in OpRuntimeMetrics.__dataclass_fields__
    assert callable(PhysicalOperator.num_active_tasks)
    methods = {name for name in vars(ExecutionCallback) if not name.startswith("_")}
    assert methods == {name for name in vars(Callback) if not name.startswith("_")}


def test_actor_nodes_are_where_the_actors_of_a_pool_run() -> None:
    assert sets_attribute(ActorPoolMapOperator, "_actor_pool")
    assert sets_attribute(_ActorPool, "_running_actors")
    assert "actor_location" in _ActorState.__dataclass_fields__
    pool = SimpleNamespace(_running_actors={"actor": SimpleNamespace(actor_location="here")})
    operators = [SimpleNamespace(_actor_pool=pool), SimpleNamespace()]
    assert ray_patches.actor_nodes(SimpleNamespace(_topology=operators)) == {"here"}


def test_forget_block_statistics_keeps_a_driver_from_growing_with_each_block() -> None:
    assert sets_attribute(MapOperator, "_output_blocks_stats")
    operator = SimpleNamespace(_output_blocks_stats=[1, 2])
    ray_patches.forget_block_statistics([operator, SimpleNamespace()])
    assert operator._output_blocks_stats == []
