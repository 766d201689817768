"""Rays that go on while tests run: as operators start them, each ours alone."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from helpers import MARK, ROOT
from ports import free, free_port

RAY = Path(sys.executable).parent / "ray"
NO_TOKEN = {"RAY_AUTH_MODE": "disabled"}
"""Whether Ray asks for a token depends else on what the machine keeps."""
_PATIENCE_S = 120
_ANY_PORTS = ("--min-worker-port=0", "--max-worker-port=0")
"""Ray would have every node give out those from 10002 on: of two nodes on one machine, the same."""


@contextmanager
def head(*options: str, up: Callable[[str], bool]) -> Iterator[None]:
    """Keep the head of a cluster running; `up` tells from what it has written that it is."""
    client, agent = free(2)
    ports = (f"--ray-client-server-port={client}", f"--dashboard-agent-listen-port={agent}")
    with _node("--head", *ports, *options, up=up, own_folder=True):
        yield


@contextmanager
def worker(address: str, *options: str) -> Iterator[None]:
    """Keep one more node of a cluster running, on this machine too."""
    port = f"--dashboard-agent-listen-port={free_port()}"
    with _node(f"--address={address}", port, *options, up=_started):
        yield


def _started(told: str) -> bool:
    return "Ray runtime started" in told


@contextmanager
def _node(*options: str, up: Callable[[str], bool], own_folder: bool = False) -> Iterator[None]:
    """Keep a node running. It is not one of the processes that a run must leave none of."""
    inherited = {name: value for name, value in os.environ.items() if name != MARK}
    # pytest's own folders are too deep: the paths of Ray's sockets may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="r", ignore_cleanup_errors=True) as folder:
        told = Path(folder) / "ray.log"
        place = (f"--temp-dir={folder}/t",) if own_folder else ()  # others have their head's
        with told.open("w") as log:
            process = subprocess.Popen(
                [RAY, "start", "--block", "--disable-usage-stats", *_ANY_PORTS, *options, *place],
                env={
                    **inherited, **NO_TOKEN,
                    "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1", "RAY_worker_niceness": "0",
                },
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
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
            us = psutil.Process(process.pid)
            for each in [*us.children(recursive=True), us]:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.wait()


@contextmanager
def lasting() -> Iterator[str]:
    """Keep a cluster of this machine running, and yield its address."""
    import ray

    port = free_port()
    options = (f"--port={port}", "--include-dashboard=false")
    with head(*options, up=_started):
        yield f"{ray.util.get_node_ip_address()}:{port}"
