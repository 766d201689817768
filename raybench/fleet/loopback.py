"""What keeps a Ray of our own to this machine: by itself it listens on all interfaces."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from raybench import ray_patches
from raybench.fleet.ray_environment import meanwhile

_SETTINGS = {
    ray_patches.CLUSTER_VARIABLE: "0",
    "VLLM_HOST_IP": ray_patches.LOOPBACK,
    # Else torch's groups of processes listen where the machine's name leads, which is its network;
    # where it leads nowhere, each of an engine's eight groups may look for it for six seconds.
    "GLOO_SOCKET_IFNAME": "lo",
}


@contextlib.contextmanager
def on_loopback() -> Iterator[None]:
    """Have a Ray that is started here, and engines in it, listen where only this machine gets to.

    Whoever sets RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=1 has it listen everywhere, as Ray's own do.
    """
    with meanwhile(_SETTINGS), ray_patches.reading_cluster_variable():
        yield


def close_token() -> None:
    """Keep from others the token with which Ray lets anybody run code: it writes it for all."""
    if "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ:
        return
    with contextlib.suppress(OSError):  # none was asked for, or it is not ours
        (Path.home() / ".ray" / "auth_token").chmod(0o600)
