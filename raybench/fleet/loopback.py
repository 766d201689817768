"""What keeps a Ray of our own to this machine: by itself it listens on all interfaces."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raybench.fleet.ray_environment import meanwhile

_RAY_BEYOND = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"  # on Linux, too: 0 is a node of 127.0.0.1
_SETTINGS = {
    _RAY_BEYOND: "0",
    "VLLM_HOST_IP": "127.0.0.1",
    # Else torch's groups of processes listen where the machine's name leads, which is its network;
    # where it leads nowhere, each of an engine's eight groups may look for it for six seconds.
    "GLOO_SOCKET_IFNAME": "lo",
}
_ADDRESS = "127.0.0.1"
_ALL = "[::]:"


@contextlib.contextmanager
def on_loopback() -> Iterator[None]:
    """Have a Ray that is started here, and engines in it, listen where only this machine gets to.

    Whoever sets RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=1 has it listen everywhere, as Ray's own do.
    """
    with meanwhile(_SETTINGS):
        from ray._private import ray_constants

        # Ray reads its variable but once, when it is imported: that may have been before.
        before = ray_constants.ENABLE_RAY_CLUSTER
        ray_constants.ENABLE_RAY_CLUSTER = os.environ[_RAY_BEYOND].lower() in ("1", "true")
        try:
            yield
        finally:
            ray_constants.ENABLE_RAY_CLUSTER = before


def close_token() -> None:
    """Keep from others the token with which Ray lets anybody run code: it writes it for all."""
    if "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ:
        return
    with contextlib.suppress(OSError):  # none was asked for, or it is not ours
        (Path.home() / ".ray" / "auth_token").chmod(0o600)


def replica_inside() -> None:
    """Have Serve's replica, in whose process this is called, listen where its node does.

    Serve has every replica listen on all interfaces for calls of other deployments, and unpickles
    what is said there; nobody can tell it otherwise. (Who has no token is turned away before.)
    """
    import ray.util
    from ray.serve._private import replica

    listen = replica.add_port_to_grpc_server
    if ray.util.get_node_ip_address() != _ADDRESS or hasattr(listen, "inside"):
        return

    def inside(server: Any, address: str) -> Any:
        return listen(server, address.replace(_ALL, f"{_ADDRESS}:"))

    inside.inside = True  # type: ignore[attr-defined]
    replica.add_port_to_grpc_server = inside
