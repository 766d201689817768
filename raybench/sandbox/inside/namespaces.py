"""The backend of choice: fresh namespaces for every run, entered by the server's own fork.

    server ─ porter ─ init (PID 1 of the run's own namespaces) ─ program

The porter gives up root, where there is any, and makes the namespaces. The init furnishes the tree,
starts the program and ends after it, and with it the kernel ends all that is left in there.
"""

import contextlib
import os
import signal
import socket
from collections.abc import Mapping
from typing import NoReturn

from . import cell, init, kernel, request, tree
from .box import Box, Pipes
from .watch import Proc

_ALL = (
    kernel.NEWUSER
    | kernel.NEWNS
    | kernel.NEWPID
    | kernel.NEWNET
    | kernel.NEWIPC
    | kernel.NEWUTS
    | kernel.NEWCGROUP
)
_HOST = "sandbox"
_NOBODY = 65534
"""Who the program is, as it sees itself."""


class Namespaces:
    """Walls made of namespaces, limits and a filter of system calls."""

    working_folder = "/tmp"

    def __init__(self, box: Box, proc: Proc, filter_calls: bytes) -> None:
        """Move this process, for good, into the tree that programs see."""
        self._box, self._proc, self._filter = box, proc, filter_calls
        self._root = os.getuid() == 0
        if self._root:
            kernel.unshare(kernel.NEWNS)
        else:
            user, group = os.getuid(), os.getgid()
            kernel.unshare(kernel.NEWUSER | kernel.NEWNS)
            self._map(user, group, user, group)
        tree.move_in(box.binds, box.covered)

    def begin(self, limits: Mapping[str, float], pipes: Pipes, mapped_mb: float) -> int:
        """Start a run; return the porter's number."""
        server = os.getpid()
        porter = os.fork()
        if porter:
            return porter
        try:
            self._enter(server)
            life_read, life_write = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.close(life_write)
                self._be_init(limits, pipes, mapped_mb, life_read)
            os.close(life_read)
            init.tell(pipes.report, init=pid)
            os.closerange(0, life_write)
            os.waitpid(pid, 0)
        except BaseException as error:
            init.tell(pipes.report, fault=kernel.told(error))
        os._exit(0)

    def end(self, pid: int) -> None:
        """End a run: the kernel ends all that its init was the first of."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def clean(self) -> None:
        """There is nothing to clean: the kernel took it all away."""

    def _enter(self, server: int) -> None:
        if self._root:
            kernel.become(self._box.uid)
            kernel.be_readable(True)  # or its own maps would be root's to write
        user, group = os.getuid(), os.getgid()
        kernel.unshare(_ALL)
        self._map(_NOBODY, _NOBODY, user, group)
        kernel.die_with_parent()
        if os.getppid() != server:
            os._exit(0)

    def _map(self, inside: int, inside_group: int, user: int, group: int) -> None:
        self._proc.write("self/setgroups", "deny")
        self._proc.write("self/uid_map", f"{inside} {user} 1")
        self._proc.write("self/gid_map", f"{inside_group} {group} 1")

    def _be_init(
        self, limits: Mapping[str, float], pipes: Pipes, mapped_mb: float, life: int
    ) -> NoReturn:
        try:
            kernel.die_with_parent()
            os.set_blocking(life, False)
            try:
                os.read(life, 1)  # the porter never writes: this is its end, or nothing yet
                os._exit(0)
            except BlockingIOError:
                pass
            tree.furnish(limits, self._box.binds)
            socket.sethostname(_HOST)
            source = request.unpacked(pipes.request, self.working_folder)
            os.chdir(self.working_folder)
            kernel.be_readable(False)

            def begin() -> None:
                os.setsid()
                cell.enter(
                    source,
                    limits,
                    pipes.streams,
                    pipes.report,
                    mapped_mb=mapped_mb,
                    others=1,  # this one
                    filter_calls=self._filter,
                )

            init.watch_over(pipes.report, begin)
        except BaseException as error:
            init.tell(pipes.report, fault=kernel.told(error))
        os._exit(0)
