"""Faults that a test orders of virtual engines, each as often as it is ordered."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, Protocol, get_args
from uuid import uuid4

Kind = Literal[
    "oom_at_load",
    "die_at_load",
    "missing_weights",
    "slow_load",
    "garbage_after_wake",
    "hang_in_wake",
    "silent_after",
    "die_after",
    "leak_gib",
]
"""What goes wrong, each with its value.

oom_at_load: the device has no memory for the weights. die_at_load: the engine's process dies
half-way through a load. missing_weights: there are no weights where they should be. slow_load: the
load takes the given seconds longer. garbage_after_wake: the weights are wrong for good after a wake
from this level, even if they are loaded again. hang_in_wake: a wake never ends. silent_after: after
the given number of replies no request gets tokens. die_after: after the given number of replies
the engine dies. (Both happen at the end of a step, and are counted from the next request on.)
leak_gib: the next sleep leaves the given GiB more on each device.
"""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault that happens once."""

    kind: Kind
    engines: str = "*"
    """Which engines it may happen to: a pattern of their names."""
    value: float = 0.0
    node: str = "*"
    """On which nodes of the rig: a pattern of their names."""

    def may_happen(self, engine: str, node: str, value: float | None) -> bool:
        """Tell whether it may happen to an engine now, and has this value if one is given."""
        where = fnmatchcase(engine, self.engines) and fnmatchcase(node, self.node)
        return where and value in (None, self.value)


class Faults(Protocol):
    """Where engines find what was ordered of them."""

    def take(self, engine: str, kind: Kind, value: float | None = None) -> float | None:
        """Return the value of a fault that is to happen now, and count it as happened.

        With a value given, only a fault that has it.
        """
        ...


class FaultList:
    """Orders within one process."""

    def __init__(self, faults: Sequence[Fault] = ()) -> None:
        self.open = list(faults)

    def take(self, engine: str, kind: Kind, value: float | None = None) -> float | None:
        """Return the value of a fault that is to happen now, and count it as happened.

        With a value given, only a fault that has it.
        """
        for fault in self.open:
            if fault.kind == kind and fault.may_happen(engine, "", value):
                self.open.remove(fault)
                return fault.value
        return None


class FaultFolder:
    """Orders for several processes: a file each, which one of them takes by renaming it."""

    def __init__(self, folder: Path, node: str = "") -> None:
        """Keep the orders in a folder, which is made where it is not there yet.

        `node` is the name of the node whose engines look for them here.
        """
        self._node = node
        self._open, self._taken = folder / "open", folder / "taken"
        for each in (self._open, self._taken):
            each.mkdir(parents=True, exist_ok=True)

    def order(self, fault: Fault, times: int = 1) -> None:
        """Have a fault happen this many times."""
        if fault.kind not in KINDS:
            raise ValueError(f"no such fault: {fault.kind}; there are {', '.join(KINDS)}")
        for _ in range(times):
            name = uuid4().hex
            whole = self._open.parent / name
            whole.write_text(json.dumps(asdict(fault)))
            whole.rename(self._open / f"{fault.kind}.{name}")

    def take(self, engine: str, kind: Kind, value: float | None = None) -> float | None:
        """Return the value of a fault that is to happen now, and count it as happened.

        With a value given, only a fault that has it.
        """
        for name in sorted(os.listdir(self._open)):  # noqa: PTH208  # asked for every request
            if not name.startswith(f"{kind}."):
                continue
            try:
                fault = Fault(**json.loads((self._open / name).read_text()))
                if fault.may_happen(engine, self._node, value):
                    (self._open / name).rename(self._taken / f"{engine}.{name}")
                    return fault.value
            except FileNotFoundError:
                continue  # another process has taken it
        return None

    def happened(self, kind: Kind) -> list[str]:
        """Return the engines that a fault of this kind has happened to, in no order."""
        taken = (file.name.rsplit(".", 2) for file in self._taken.iterdir())
        return [engine for engine, of_kind, _ in taken if of_kind == kind]
