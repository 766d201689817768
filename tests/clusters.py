"""Rays that go on while tests run: as operators start them, each ours alone."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dying
import psutil
import pytest
from helpers import MARK, ROOT
from ports import free, free_port

RAY = Path(sys.executable).parent / "ray"
NO_TOKEN = {"RAY_AUTH_MODE": "disabled"}
"""Whether Ray asks for a token depends else on what the machine keeps."""
PATIENT = {"RAY_raylet_start_wait_time_s": "240", "RAY_agent_register_timeout_ms": "240000"}
"""A node comes up however busy the machine is: Ray gives one up after half a minute."""
_PATIENCE_S = 300
_ANY_PORTS = ("--min-worker-port=0", "--max-worker-port=0")
"""Ray would have every node give out those from 10002 on: of two nodes on one machine, the same."""
QUIET = ("--disable-usage-stats", "--include-log-monitor=false")
"""The log monitor looks at every log ten times a second, and no test reads what it passes on."""


@contextmanager
def head(
    *options: str, up: Callable[[str], bool], environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Keep the head of a cluster running; `up` tells from what it has written that it is."""
    client, agent = free(2)
    ports = (f"--ray-client-server-port={client}", f"--dashboard-agent-listen-port={agent}")
    with _node("--head", *ports, *options, up=up, own_folder=True, environment=environment):
        yield


@contextmanager
def worker(
    address: str, *options: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[None]:
    """Keep one more node of a cluster running, on this machine too."""
    port = f"--dashboard-agent-listen-port={free_port()}"
    with _node(f"--address={address}", port, *options, up=_started, environment=environment):
        yield


def _started(told: str) -> bool:
    return "runtime started" in told


@contextmanager
def _node(
    *options: str,
    up: Callable[[str], bool],
    own_folder: bool = False,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[None]:
    """Keep a node running. It is not one of the processes that a run must leave none of."""
    inherited = {name: value for name, value in os.environ.items() if name != MARK}
    # pytest's own folders are too deep: the paths of Ray's sockets may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        told = Path(folder) / "ray.log"
        place = (f"--temp-dir={folder}/t",) if own_folder else ()  # others have their head's
        with told.open("w") as log:
            process = subprocess.Popen(
                [RAY, "start", "--block", *QUIET, *_ANY_PORTS, *options, *place],
                env={
                    **inherited, **NO_TOKEN, **PATIENT,
                    "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "RAY_worker_niceness": "0",
                    **environment,
                },
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                preexec_fn=dying.with_parent(signal.SIGTERM),
            )  # fmt: skip
        try:
            deadline = time.monotonic() + _PATIENCE_S
            while not up(told.read_text()):
                if process.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"Ray did not start:\n{told.read_text()}")
                time.sleep(0.2)
            yield
        finally:
            # Told to end it would take its time, for the sake of nobody.
            with suppress(psutil.NoSuchProcess):  # it has ended by itself, and that is told
                us = psutil.Process(process.pid)
                for each in [*us.children(recursive=True), us]:
                    with suppress(psutil.NoSuchProcess):
                        each.kill()
            process.wait()


@contextmanager
def lasting(*options: str, environment: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Keep a cluster of this machine running, and yield its address."""
    import ray

    port = free_port()
    options = (f"--port={port}", "--include-dashboard=false", *options)
    with head(*options, up=_started, environment=environment):
        yield f"{ray.util.get_node_ip_address()}:{port}"


@contextmanager
def scaled(cores: int, kinds: Mapping[str, Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """Keep a cluster of which nodes come and go: a head with so many processors, and these kinds.

    Ray's own autoscaler decides; its nodes are raylets of this machine, and come once the folder
    has a file `come`. Yields its address.
    """
    import ray
    from ray.autoscaler._private.fake_multi_node import node_provider

    port = free_port()
    address = f"{ray.util.get_node_ip_address()}:{port}"
    kind_of_head = node_provider.FAKE_HEAD_NODE_TYPE
    head_kind = {"resources": {"CPU": cores}, "max_workers": 0}
    provider = {
        "type": "external",  # by its own name it asks for a file that Ray's wheel lacks
        "module": "held_nodes.HeldNodes", "held_until": str(folder / "come"),
        "gcs_address": address, "head_node_id": node_provider.FAKE_HEAD_NODE_ID,
        "launch_multiple": True, "disable_node_updaters": True, "disable_launch_config_check": True,
    }  # fmt: skip
    of_nodes_elsewhere: dict[str, Any] = {
        name: []
        for name in (
            "setup_commands", "head_setup_commands", "worker_setup_commands",
            "initialization_commands", "head_start_ray_commands", "worker_start_ray_commands",
            "cluster_synced_files", "rsync_exclude", "rsync_filter",
        )
    }  # fmt: skip
    config = {
        "cluster_name": "fake", "max_workers": 4, "idle_timeout_minutes": 0.05, "auth": {},
        "provider": provider, "head_node_type": kind_of_head, "file_mounts": {},
        "docker": {}, "file_mounts_sync_continuously": False, "upscaling_speed": 10,
        **of_nodes_elsewhere,
        "available_node_types": {
            name: {"node_config": {}, "min_workers": 0, **kind}
            for name, kind in {**kinds, kind_of_head: head_kind}.items()
        },
    }  # fmt: skip
    told = folder / "cluster.yaml"
    told.write_text(json.dumps(config))
    with head(
        f"--port={port}", f"--num-cpus={cores}", "--include-dashboard=false",
        f"--autoscaling-config={told}",
        up=_started,
        environment={
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
            "RAY_FAKE_CLUSTER": "1", "RAY_enable_autoscaler_v2": "1",
            "AUTOSCALER_UPDATE_INTERVAL_S": "1",
            "RAY_CLOUD_INSTANCE_ID": node_provider.FAKE_HEAD_NODE_ID,
            "RAY_OVERRIDE_NODE_ID_FOR_TESTING": node_provider.FAKE_HEAD_NODE_ID,
        },
    ):  # fmt: skip
        yield address
