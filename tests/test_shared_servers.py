"""Shared servers start once, and end when a worker moves to files that do not share them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from helpers import ROOT
from shared_servers import SharedServers

HERE = ROOT / "tests"
ON_RAY = HERE / "experiments/hle/test_run.py"
ALSO_ON_RAY = HERE / "compare/test_command.py"
ALONE = HERE / "test_paths.py"


@contextmanager
def server(log: list[str], name: str) -> Iterator[str]:
    """Keep a server running that writes down when it starts and ends."""
    log.append(f"{name} starts")
    yield name
    log.append(f"{name} ends")


def test_a_server_starts_once_and_ends_with_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    log: list[str] = []
    servers = SharedServers()
    for _ in range(2):
        assert servers.use("ray", lambda: server(log, "ray")) == "ray"
        servers.leave(ON_RAY, ALSO_ON_RAY)
    assert log == ["ray starts"]
    servers.leave(ALSO_ON_RAY, ALONE)
    assert log == ["ray starts", "ray ends"]
    servers.use("ray", lambda: server(log, "ray"))
    servers.use("endpoint", lambda: server(log, "endpoint"))
    servers.end()
    assert log[2:] == ["ray starts", "endpoint starts", "endpoint ends", "ray ends"]


def test_without_xdist_servers_run_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    log: list[str] = []
    servers = SharedServers()
    servers.use("ray", lambda: server(log, "ray"))
    servers.leave(ON_RAY, ALONE)
    assert log == ["ray starts"]
    servers.end()
    assert log == ["ray starts", "ray ends"]
