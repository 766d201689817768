"""A Ray of nodes with virtual GPUs on this machine, on which raybench hosts virtual engines."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from clusters import NO_TOKEN, PATIENT
from helpers import MARK, ROOT

from perf.rig import node
from perf.rig.devices import SharedDeviceMemory
from perf.rig.faults import FaultFolder
from raybench.fleet.deployment import SERVER_CLASS

_PATIENCE_S = 300.0
_PATH = (ROOT / "perf" / "rig" / "nvml", ROOT, ROOT / "tests")
_ON_NODES = {
    SERVER_CLASS: "perf.rig.replica:VirtualReplica",
    "PYTHONPATH": os.pathsep.join(map(str, _PATH)),
    "RAY_worker_niceness": "0",
}


@dataclass
class Rig:
    """The nodes, by the names a, b, c, …; the first is the head."""

    folder: Path
    faults: FaultFolder
    """Faults of its engines: `rig.faults.order(Fault("die_after", value=100))`."""
    _cluster: Any
    _nodes: dict[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """Return the address of its Ray."""
        return str(self._cluster.address)

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables with which a raybench joins it."""
        return {**NO_TOKEN, "RAY_ADDRESS": self.address}

    def memory(self, name: str = "a") -> SharedDeviceMemory:
        """Return the memory of a node's GPUs."""
        return SharedDeviceMemory(node.memory_file(self.folder, name))

    def replies(self) -> Mapping[str, int]:
        """Return how many replies each replica gave so far, by its name."""
        return node.replies(self.folder)

    def kill(self, name: str) -> None:
        """Kill a node with all that runs on it, and wait until Ray knows."""
        self._cluster.remove_node(self._nodes.pop(name), allow_graceful=False)
        self._cluster.wait_for_nodes(_PATIENCE_S)

    def add(self, gpus: int, gib: float) -> str:
        """Start one more node; return its name."""
        name = chr(ord("a") + len(list(self.folder.glob("?.json"))))
        options = _options(self.folder, name, gpus, gib)
        with _environment(self.folder):
            self._nodes[name] = self._cluster.add_node(wait=False, **options)
            self._cluster.wait_for_nodes(_PATIENCE_S)
        return name


@contextmanager
def nodes(gpus: Sequence[int], gib: float) -> Iterator[Rig]:
    """Keep a Ray running whose nodes have so many GPUs, each of so many GiB."""
    from ray.cluster_utils import Cluster

    with ExitStack() as stack:
        # pytest's own folders are too deep: the paths of Ray's sockets may have 107 characters.
        made = tempfile.TemporaryDirectory(prefix="rig", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        cluster = Cluster()
        stack.callback(_end, cluster, folder)
        rig = Rig(folder, FaultFolder(folder / node.FAULTS), cluster)
        for count in gpus:
            rig.add(count, gib)
        yield rig


def _end(cluster: Any, folder: Path) -> None:
    with _environment(folder):
        cluster.shutdown()


@contextmanager
def _environment(folder: Path) -> Iterator[None]:
    """Have Ray start as elsewhere in tests: nothing of it counts as left behind by a run.

    The file that names the last cluster, which a plain `ray.init()` would join, is not /tmp's.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(MARK, raising=False)
        for name, value in {**NO_TOKEN, **PATIENT, "RAY_TMPDIR": str(folder)}.items():
            patched.setenv(name, value)
        yield


def _options(folder: Path, name: str, gpus: int, gib: float) -> dict[str, Any]:
    """Make the memory of a node's GPUs; return what Ray is told of the node."""
    sizes = {str(index): gib for index in range(gpus)}
    SharedDeviceMemory.create(node.memory_file(folder, name), sizes)
    return {
        "num_gpus": gpus,
        "num_cpus": 2,
        "include_dashboard": False,
        "include_log_monitor": False,
        "labels": {"rig": name},
        "env_vars": {**_ON_NODES, node.FOLDER: str(folder), node.NODE: name},
    }
