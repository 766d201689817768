"""Ports for programs that have to be given one; whatever can shall listen on port 0 instead."""

import secrets
import socket
from contextlib import suppress
from pathlib import Path

_FIRST = 20_000
"""Ray gives out ports below to its workers."""


def free(count: int) -> list[int]:
    """Return ports that nobody listens on, and that the kernel gives to nobody who asks for any.

    Nobody is given one of them between this look and the start of a program on it.
    """
    sockets = list[socket.socket]()
    try:
        while len(sockets) < count:
            with suppress(OSError):
                sockets.append(socket.create_server(("127.0.0.1", _random_port())))
        return [it.getsockname()[1] for it in sockets]
    finally:
        for it in sockets:
            it.close()


def free_port() -> int:
    """Return a port that nobody listens on."""
    return free(1)[0]


def _random_port() -> int:
    """Return a port below those that the kernel chooses from."""
    text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
    first_given_out = int(text.split()[0])
    if first_given_out <= _FIRST + 1000:
        return 0  # hardly any is left below
    return _FIRST + secrets.randbelow(first_given_out - _FIRST)
