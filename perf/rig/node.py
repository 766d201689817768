"""The node of the rig on which a process runs: its virtual GPUs, and the faults ordered of it."""

import os
from pathlib import Path

from perf.rig.devices import SharedDeviceMemory
from perf.rig.faults import FaultFolder

FOLDER, NODE = "RAYBENCH_RIG", "RAYBENCH_RIG_NODE"
"""Environment variables of processes on such a node: the rig's folder, and the node's name."""
FAULTS, _REPLIES = "faults", "replies"
"""Names of folders below the rig's."""


def memory_file(folder: Path, node: str) -> Path:
    """Return the file with the memory of a node's devices."""
    return folder / f"{node}.json"


def count_reply(replica: str) -> None:
    """Count a reply that a replica gave."""
    folder = Path(os.environ[FOLDER]) / _REPLIES
    folder.mkdir(exist_ok=True)
    with (folder / replica).open("ab", buffering=0) as file:
        file.write(b".")


def replies(folder: Path) -> dict[str, int]:
    """Return how many replies each replica gave, before and after it was started again."""
    kept = folder / _REPLIES
    return {file.name: file.stat().st_size for file in kept.iterdir()} if kept.is_dir() else {}


def memory() -> SharedDeviceMemory:
    """Return the memory of this node's devices."""
    return SharedDeviceMemory(memory_file(Path(os.environ[FOLDER]), os.environ[NODE]))


def faults() -> FaultFolder:
    """Return where engines of this node find the faults that are ordered of them."""
    return FaultFolder(Path(os.environ[FOLDER]) / FAULTS, os.environ[NODE])
