"""A Ray of nodes with virtual GPUs on this machine, on which raybench hosts virtual engines."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from clusters import NO_TOKEN, lasting, worker
from helpers import ROOT

from perf.rig import node
from perf.rig.devices import SharedDeviceMemory
from perf.rig.faults import FaultFolder
from raybench.fleet.deployment import SERVER_CLASS

_PATH = (ROOT / "perf" / "rig" / "nvml", ROOT, ROOT / "tests")
_ON_NODES = {
    SERVER_CLASS: "perf.rig.replica:VirtualReplica",
    "PYTHONPATH": os.pathsep.join(map(str, _PATH)),
    "RAY_worker_niceness": "0",
}
_ON_HEAD = {"RAY_health_check_period_ms": "1000"}
"""Ray notices within 5 s instead of 15 that a node is gone. Busy nodes have as long as ever."""


@dataclass
class Rig:
    """The nodes, by the names a, b, c, …; the first is the head."""

    folder: Path
    faults: FaultFolder
    """Faults of its engines: `rig.faults.order(Fault("die_after", value=100))`."""
    address: str = ""
    """The address of its Ray."""
    _workers: dict[str, ExitStack] = field(default_factory=dict)

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
        """Kill a node with all that runs on it; Ray learns of it within seconds."""
        self._workers.pop(name).close()

    def end(self) -> None:
        """Kill all nodes but the head."""
        for name in [*self._workers]:
            self.kill(name)

    def add(self, gpus: int, gib: float) -> str:
        """Start one more node; return its name."""
        name, options, environment = _new(self.folder, gpus, gib)
        self._workers[name] = ExitStack()
        started = worker(self.address, *options, environment=environment)
        self._workers[name].enter_context(started)
        return name


@contextmanager
def nodes(gpus: Sequence[int], gib: float) -> Iterator[Rig]:
    """Keep a Ray running whose nodes have these numbers of GPUs, each of `gib` GiB.

    Its processes are started by commands, as operators do it: in this process there may have been
    another Ray, whose address and token it would inherit.
    """
    with ExitStack() as stack:
        # pytest's own folders are too deep: the paths of Ray's sockets may have 107 characters.
        made = tempfile.TemporaryDirectory(prefix="rig", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(made))
        rig = Rig(folder, FaultFolder(folder / node.FAULTS))
        _, options, environment = _new(folder, gpus[0], gib)
        started = lasting(*options, environment={**environment, **_ON_HEAD})
        rig.address = stack.enter_context(started)
        stack.callback(rig.end)
        for count in gpus[1:]:
            rig.add(count, gib)
        yield rig


def _new(folder: Path, gpus: int, gib: float) -> tuple[str, list[str], Mapping[str, str]]:
    """Make the memory of a node's GPUs; return its name, its options and its environment."""
    name = chr(ord("a") + len(list(folder.glob("?.json"))))
    sizes = {str(index): gib for index in range(gpus)}
    SharedDeviceMemory.create(node.memory_file(folder, name), sizes)
    options = ["--num-cpus=2", f"--num-gpus={gpus}", f"--labels=rig={name}"]
    return name, options, {**_ON_NODES, node.FOLDER: str(folder), node.NODE: name}
