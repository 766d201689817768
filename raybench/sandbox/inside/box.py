"""What a server is told: of the place that it makes for programs, and of one run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Box:
    """A place for programs."""

    backend: str
    binds: Sequence[str]
    """Paths of the host that programs see, read-only."""
    covered: Sequence[str]
    """Folders below these that they see empty."""
    paths: Sequence[str]
    """Where, beside the standard library, modules are imported from."""
    imports: Sequence[str]
    """Modules that every program finds imported."""
    policy: str
    """The readable form of what system calls are refused."""
    uid: int
    """The user that root becomes before a program starts."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What programs find in their environment, beside what all servers have."""
    python: str = ""
    """The interpreter, where a backend starts it anew."""
    here: str = ""
    """The folder that holds this one."""
    bwrap: str = ""
    core: int | None = None
    """The core that programs run on, and no other."""


@dataclass(frozen=True)
class Pipes:
    """A run's ends of its pipes, and what it is to run, as the client sent them."""

    stdin: int
    stdout: int
    stderr: int
    report: int
    """Where the init tells how it goes."""
    request: int
    """A file in memory with the program and its files."""

    @property
    def streams(self) -> tuple[int, int, int]:
        """Return what become the program's standard descriptors."""
        return self.stdin, self.stdout, self.stderr

    def close(self) -> None:
        """Close all of them."""
        for descriptor in (*self.streams, self.report, self.request):
            os.close(descriptor)
