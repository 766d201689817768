"""The backend for who prefers a tool that others look after: bubblewrap starts a cold Python.

server ─ bwrap ─ init ─ program
"""

import contextlib
import json
import os
import signal
from collections.abc import Iterable, Mapping, Sequence

from . import cell, init, kernel, request, tree
from .box import Box, Pipes
from .watch import Proc

_ONCE = (
    "import sys; sys.path.append({0!r}); from inside import bubblewrap; "
    "sys.path.remove({0!r}); bubblewrap.once(*map(int, sys.argv[1:]))"
)
_DEV = ("--dev-bind", "/dev", "/dev")
_NEW_DEV = (
    *("--tmpfs", "/dev", "--symlink", "/proc/self/fd", "/dev/fd"),
    *(word for name in tree.DEVICES for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")),
)
"""Not bwrap's own `--dev`: for terminals it makes a namespace in which our init may not mount."""


class Bubblewrap:
    """Walls that `bwrap` puts up, with our limits and filter behind them."""

    def __init__(self, box: Box, proc: Proc, filter_calls: bytes) -> None:
        """Move into the tree that programs see, where that takes no namespace of a user's."""
        self._box, self._proc = box, proc
        self._root = os.getuid() == 0
        self._view = _bound(box.binds)
        if self._root:
            # Root's own paths would be closed to the user that it becomes.
            kernel.unshare(kernel.NEWNS)
            tree.move_in((*box.binds, box.here), box.covered)
            self._view = ["--ro-bind", "/", "/"]

    def begin(self, limits: Mapping[str, float], pipes: Pipes, mapped_mb: float) -> int:
        """Start a run; return the number of bwrap's outer process."""
        server = os.getpid()
        told = _told(self._box, limits)
        pid = os.fork()
        if pid:
            os.close(told)
            return pid
        try:
            if self._root:
                kernel.become(self._box.uid)
            kernel.die_with_parent()
            if os.getppid() != server:
                os._exit(0)
            init.tell(pipes.report, outside=os.getpid())
            for number, descriptor in enumerate(pipes.streams):
                os.dup2(descriptor, number)
            kept = (told, pipes.request, pipes.report)
            for descriptor in kept:
                os.set_inheritable(descriptor, True)
            words = self._words(kept)
            os.execv(words[0], words)
        except BaseException as error:
            init.tell(pipes.report, fault=kernel.told(error))
        os._exit(0)

    def end(self, pid: int) -> None:
        """End a run: the kernel ends all that its init was the first of."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def clean(self) -> None:
        """There is nothing to clean: the kernel took it all away."""

    def _words(self, kept: Sequence[int]) -> list[str]:
        covers = [] if self._root else [w for path in self._box.covered for w in _covered(path)]
        return [
            self._box.bwrap,
            *("--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1"),
            # For our init, which mounts what bwrap cannot bound; programs have no capability.
            *("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"),
            *("--uid", "65534", "--gid", "65534", "--hostname", "sandbox"),
            *self._view,
            *covers,
            *("--proc", "/proc"),
            *(_DEV if self._root else _NEW_DEV),
            *("--size", "4096", "--tmpfs", "/dev/shm", "--tmpfs", "/tmp"),
            *_bound(path for path in (*self._box.binds, self._box.here) if tree.is_hidden(path)),
            *_bound([self._box.here]),
            *("--remount-ro", "/dev", "--chdir", "/"),
            "--",
            *(self._box.python, "-s", "-P", "-S", "-B", "-c", _ONCE.format(self._box.here)),
            *map(str, kept),
        ]


def _bound(paths: Iterable[str]) -> list[str]:
    return [word for path in paths for word in ("--ro-bind-try", path, path)]


def _covered(path: str) -> Sequence[str]:
    return ("--size", "4096", "--tmpfs", path, "--remount-ro", path) if os.path.isdir(path) else ()


def _told(box: Box, limits: Mapping[str, float]) -> int:
    """Return the descriptor of a file in memory with what `once` has to know."""
    descriptor = os.memfd_create("told")
    wanted = {
        "limits": dict(limits),
        "policy": box.policy,
        "paths": list(box.paths),
        "imports": list(box.imports),
        "binds": [*box.binds, box.here],
    }
    os.write(descriptor, json.dumps(wanted).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def once(told: int, asked: int, report: int) -> None:
    """Be the init of one run, in a Python that has just started behind bwrap's walls."""
    from .serve import filter_of, warm

    try:
        kernel.be_readable(False)
        os.environ.pop("PWD", None)  # bwrap's
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        with open(told, "rb") as file:
            wanted = json.load(file)
        warm(wanted["paths"], wanted["imports"])
        tree.furnish(wanted["limits"], wanted["binds"])
        source = request.unpacked(asked, "/tmp")
        os.chdir("/tmp")
        filter_calls = filter_of(wanted["policy"])
        mapped, shared = Proc().size_mb("self")
        init.tell(report, inside=True, shared_mb=shared)

        def begin() -> None:
            os.setsid()
            cell.enter(
                source,
                wanted["limits"],
                (0, 1, 2),
                report,
                mapped_mb=mapped,
                others=2,  # this one and bwrap
                filter_calls=filter_calls,
            )

        init.watch_over(report, begin)
    except BaseException as error:
        init.tell(report, fault=kernel.told(error))
    os._exit(0)
