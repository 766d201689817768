"""Ports for what tests start."""

import socket


def free(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [it.getsockname()[1] for it in sockets]
    for it in sockets:
        it.close()
    return ports


def free_port() -> int:
    """Return a port that nobody listens on."""
    return free(1)[0]
