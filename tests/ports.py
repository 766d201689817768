"""Ports for programs that have to be given one; whatever can shall listen on port 0 instead."""

import os
import secrets
import socket
from contextlib import suppress
from pathlib import Path

_FIRST = 20_000
"""Ray gives out ports below to its workers."""
_WORKERS = 16
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
_GIVEN = set[int]()


def free(count: int) -> list[int]:
    """Return ports that nobody listens on, and that the kernel gives to nobody who asks for any.

    None is given twice, and workers of pytest choose from different ones: the program that is to
    listen on it starts later.
    """
    sockets = list[socket.socket]()
    try:
        while len(sockets) < count:
            if (port := _random_port()) in _GIVEN:
                continue
            with suppress(OSError):
                sockets.append(socket.create_server(("127.0.0.1", port)))
        _GIVEN.update(it.getsockname()[1] for it in sockets)
        return [it.getsockname()[1] for it in sockets]
    finally:
        for it in sockets:
            it.close()


def free_port() -> int:
    """Return a port that nobody listens on."""
    return free(1)[0]


def _random_port() -> int:
    """Return a port of this worker, below those that the kernel chooses from."""
    text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    first_given_out = int(text.split()[0])
    if first_given_out <= _FIRST + 1000:
        return 0  # hardly any is left below
    places = (first_given_out - _FIRST) // _WORKERS
    return _FIRST + _WORKERS * secrets.randbelow(places) + _WORKER
