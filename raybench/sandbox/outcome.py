"""What a run in the sandbox may use, and what came of it."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Status = Literal["ok", "error", "timeout", "memory", "output", "killed"]
"""How a program ended.

ok: by itself, with exit code 0. error: by itself, with another code or with a signal of its own
making. timeout, memory, output: it was stopped at that limit. killed: by a signal that neither it
nor a limit is known to have sent.
"""
Backend = Literal["namespaces", "bubblewrap", "landlock", "unsafe"]
Stream = Literal["stdout", "stderr"]
Profile = Literal["plain", "scientific"]
"""plain: Python and its standard library. scientific: numpy, scipy, sympy, h5py and matplotlib too,
in the versions that SciCode was written for, imported before the program starts."""


_BOUNDLESS = 10**9
"""Who allows so much allows everything."""
_FILES_OF_OURS = 8
"""Folders and files that a run's own tree begins with count too."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use, all of its processes together where nothing else is said."""

    cpu_s: float = 10.0
    wall_s: float = 20.0
    idle_s: float | None = None
    """How long it may do nothing with a processor there for it: time for which others kept it from
    one does not count. None: as long as the clock allows."""
    memory_mb: int = 2048
    disk_mb: int = 64
    """Of the files it writes; they lie in memory, apart from `memory_mb`, and vanish with it."""
    files: int = 4096
    """How many of them there may be."""
    processes: int = 64
    """Processes and threads at once."""
    descriptors: int = 256
    """Of each process."""
    stack_mb: int = 64
    """Of its first thread; it may ask for more, within `memory_mb`."""
    output_kept_mb: float = 1.0
    """Of stdout and of stderr, each; what is more is cut out of the middle and marked."""
    output_killed_mb: float = 64.0
    """At so much, both together, the run is stopped."""

    def __post_init__(self) -> None:
        """Refuse what bounds nothing."""
        for name, value in asdict(self).items():
            if name == "idle_s" and value is None:
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value < _BOUNDLESS:
                raise ValueError(
                    f"Limits.{name} is {value!r}: it is a number above 0 and below {_BOUNDLESS:,}"
                )
        for name in ("memory_mb", "disk_mb", "files", "processes", "descriptors", "stack_mb"):
            if getattr(self, name) != int(getattr(self, name)):
                raise ValueError(f"Limits.{name} is {getattr(self, name)}: it is a whole number")
        if self.files < _FILES_OF_OURS:
            raise ValueError(f"Limits.files is {self.files}: it is {_FILES_OF_OURS} or more")
        if self.output_kept_mb * 2**20 < 2:
            raise ValueError(f"Limits.output_kept_mb is {self.output_kept_mb}: keep 2 bytes")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run."""

    status: Status
    reason: str
    """The status in words a person can act on."""
    exit_code: int | None
    """None where a signal ended it or it was stopped."""
    signal: int | None
    cpu_s: float
    wall_s: float
    memory_mb: float
    """The most it held at once."""
    stdout: str
    stderr: str
    cut: tuple[Stream, ...]
    """Of which of the two more was written than is kept."""
    backend: Backend
    python: str
    """The version that ran it, as 3.12.1."""
    kernel: str
    """That of the machine, as 6.1.0."""
    limits: Limits

    @property
    def ok(self) -> bool:
        """Tell whether it ended by itself without an error."""
        return self.status == "ok"

    @property
    def truncated(self) -> bool:
        """Tell whether more was written than is kept."""
        return bool(self.cut)

    @property
    def crowded(self) -> bool:
        """Tell whether the clock stopped it while it had CPU time left.

        Perhaps it waits for nothing, perhaps others kept the machine from it: alone on the machine
        it would show.
        """
        stopped_by_clock = self.status == "timeout" and self.wall_s >= self.limits.wall_s
        return stopped_by_clock and self.cpu_s < self.limits.cpu_s

    @property
    def place(self) -> dict[str, str]:
        """Return where it ran, which has to be said beside whatever is made of it."""
        return {"backend": self.backend, "python": self.python, "kernel": self.kernel}

    def to_json(self) -> dict[str, Any]:
        """Return what journals keep of it: all but the output."""
        told = asdict(self)
        del told["stdout"], told["stderr"]
        return told
