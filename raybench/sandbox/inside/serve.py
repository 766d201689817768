"""The fork server: an interpreter that is warm, and a fresh fork of it for every program.

It sees no program and no output: these are between the client and the forks.
"""

import contextlib
import gc
import os
import platform
import select
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from . import kernel, program, seccomp, wire
from .box import Box, Pipes
from .bubblewrap import Bubblewrap
from .namespaces import Namespaces
from .reaped import Reaped
from .watch import Proc

CONTROL = 0
"""The descriptor on which the client speaks."""


class Backend(Protocol):
    """A kind of walls."""

    def begin(self, limits: Mapping[str, float], pipes: Pipes, mapped_mb: float) -> int:
        """Start a run; return the number of its outermost process."""

    def end(self, pid: int) -> None:
        """End a run at once, by its outermost process."""

    def clean(self) -> None:
        """Remove what a run may have left."""


_BACKENDS: Mapping[str, Callable[[Box, Proc, bytes], Backend]] = {
    "namespaces": Namespaces,
    "bubblewrap": Bubblewrap,
    "landlock": Reaped,
    "unsafe": Reaped,
}


def main() -> None:
    """Serve one client until it goes away."""
    # An init that handles SIGINT can be ended by it, and who ignores SIGCHLD, as a parent may have,
    # never learns how a child ended.
    for number in (signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a parent may have had signals blocked
    with contextlib.suppress(wire.ClosedError), socket.socket(fileno=os.dup(CONTROL)) as control:
        os.dup2(os.open(os.devnull, os.O_RDWR), CONTROL)
        header, _ = wire.receive(control)
        try:
            proc, backend = _prepared(Box(**header))
        except Exception as error:
            wire.send(control, {"fault": kernel.told(error)})
            return
        wire.send(control, {"python": platform.python_version(), "kernel": os.uname().release})
        while True:
            said, descriptors = wire.receive(control)
            if not descriptors:  # a run was to be ended that had just ended by itself
                continue
            _carry_out(backend, proc, control, said["limits"], Pipes(*descriptors))
            wire.send(control, {})
    os._exit(0)


def _carry_out(
    backend: Backend,
    proc: Proc,
    control: socket.socket,
    limits: Mapping[str, float],
    pipes: Pipes,
) -> None:
    """Start a run and wait for its end, or end it as soon as the client speaks or goes."""
    mapped, _ = proc.size_mb("self")
    pid = backend.begin(limits, pipes, mapped)
    pipes.close()
    process = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([process, control.fileno()], [], [])
        if process not in ready:
            backend.end(pid)
        os.waitpid(pid, 0)
    finally:
        os.close(process)
        backend.clean()


def _prepared(box: Box) -> tuple[Proc, Backend]:
    if box.core is not None:
        os.sched_setaffinity(0, {box.core})
    if box.backend != "bubblewrap":  # which starts a Python of its own each time
        warm(box.paths, box.imports)
    proc = Proc()
    backend = _BACKENDS[box.backend](box, proc, filter_of(box.policy))
    os.chdir("/")
    _settle()
    return proc, backend


def warm(paths: Sequence[str], imports: Sequence[str]) -> None:
    """Make this interpreter what programs expect to find."""
    sys.path[:] = [path for path in sys.path if path] + list(paths)
    program.import_all(imports)


def filter_of(policy: str) -> bytes:
    """Return the filter of system calls for this machine."""
    return seccomp.program(seccomp.read(policy), platform.machine())


def _settle() -> None:
    """Leave programs a Python as it is after its start, and share its memory with all of them."""
    for name in [name for name in sys.modules if name.split(".")[0] == __package__]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
