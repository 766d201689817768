"""Walls without namespaces: Landlock where the kernel has it, or none at all if that was asked for.

    server ─ init ─ program

What the program leaves behind falls to the init, which ends it. Files lie in a folder of the
host's, which is looked at while the run lasts and removed after it.
"""

import contextlib
import itertools
import os
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import cell, init, kernel, request, tree
from .box import Box, Pipes
from .watch import Proc

SCOPED = 6
"""The version of Landlock from which on signals and abstract sockets can be kept in."""
_READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read files, read folders."""
_FILES = {6: (1 << 16) - 1}
"""All rights to files that the version knows."""
_NET = 0b11
_SCOPED = 0b11
_END_S = 5.0


class Reaped:
    """A program that shares the host's namespaces."""

    def __init__(self, box: Box, proc: Proc, filter_calls: bytes) -> None:
        """Check that the kernel has what is needed."""
        self._box, self._proc = box, proc
        self._confined = box.backend == "landlock"
        self._filter = filter_calls if self._confined else None
        self._root = os.getuid() == 0
        self._folder = ""
        kernel.adopt_orphans()
        if self._confined and (version := kernel.landlock_version()) < SCOPED:
            raise OSError(f"landlock: this kernel has version {version}, {SCOPED} is needed")

    def begin(self, limits: Mapping[str, float], pipes: Pipes, mapped_mb: float) -> int:
        """Start a run; return its init's number."""
        server = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="raybench-sandbox-")
        tempfile.tempdir = None  # programs are to look for a place of their own
        pid = os.fork()
        if pid:
            return pid
        try:
            kernel.die_with_parent()
            if os.getppid() != server:
                os._exit(0)
            os.setsid()
            source = request.unpacked(pipes.request, self._folder)
            if self._root:
                _hand_over(self._folder, self._box.uid)
            kernel.adopt_orphans()
            kernel.be_readable(False)
            init.tell(pipes.report, init=os.getpid(), folder=self._folder)
            others = 0 if self._root else self._proc.tasks_of(os.getuid())

            def begin() -> None:
                os.environ.update(HOME=self._folder, TMPDIR=self._folder)
                os.chdir(self._folder)
                if self._root:
                    kernel.become(self._box.uid)
                kernel.die_with_parent()  # which a change of user would undo
                if self._confined:
                    kernel.gain_nothing()
                    self._wall_in()
                cell.enter(
                    source,
                    limits,
                    pipes.streams,
                    pipes.report,
                    mapped_mb=mapped_mb,
                    others=others,
                    filter_calls=self._filter,
                )

            init.watch_over(pipes.report, begin)
            _end_all(self._proc)
        except BaseException as error:
            init.tell(pipes.report, fault=kernel.told(error))
        os._exit(0)

    def end(self, pid: int) -> None:
        """End a run: what its init leaves behind falls to the server."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _end_all(self._proc, but=pid)

    def clean(self) -> None:
        """Remove the run's folder."""
        _end_all(self._proc)
        _remove(self._folder)

    def _wall_in(self) -> None:
        rules = kernel.landlock_ruleset(_FILES[SCOPED], _NET, _SCOPED)
        allowed = [(path, _READ) for path in self._box.binds]
        allowed += [(f"/dev/{name}", 0b110) for name in tree.DEVICES]
        allowed.append((self._folder, _FILES[SCOPED]))
        for path, rights in allowed:
            if not os.path.exists(path):
                continue
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
            if not os.path.isdir(path):
                rights &= 0b111  # a file has no folder's rights
            kernel.landlock_allow(rules, descriptor, rights)
            os.close(descriptor)
        kernel.landlock_enforce(rules)
        os.close(rules)


def _end_all(proc: Proc, but: int | None = None) -> None:
    """End whatever descends from this process, however fast it multiplies."""
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        left = [pid for pid in proc.below(os.getpid()) if pid != but]
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # a grandchild: its parent's to reap
                os.waitpid(pid, os.WNOHANG)
        if not left:
            return
        time.sleep(0.001)


def _remove(folder: str) -> None:
    """Remove a folder, however deep and closed what a program has made in it is.

    What lies deeper is moved up until nothing is deep: neither a path nor a stack grows too long.
    Links are followed nowhere.
    """
    with contextlib.suppress(OSError):
        os.chmod(folder, 0o700)
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        moved = itertools.count()
        while sum(_removed(name, top, moved) for name in os.listdir(top)):
            pass
        os.close(top)
        os.rmdir(folder)


def _removed(name: str, top: int, moved: Iterator[int]) -> bool:
    """Tell whether an entry of a folder is gone; what it held has been moved beside it."""
    try:
        if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=top)
            return True
        place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
        os.chmod(f"/proc/self/fd/{place}", 0o700)
        inner = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY)
        os.close(place)
        for deeper in os.listdir(inner):
            os.rename(deeper, f".{next(moved)}", src_dir_fd=inner, dst_dir_fd=top)
        os.close(inner)
        os.rmdir(name, dir_fd=top)
    except OSError:
        return False
    return True


def _hand_over(folder: str, uid: int) -> None:
    for path in (Path(folder), *Path(folder).rglob("*")):
        os.chown(path, uid, uid)
