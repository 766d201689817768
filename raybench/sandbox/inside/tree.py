"""The file tree that programs see: what a Python needs, read-only, and memory to write to.

The server moves into it once, for good. Every run then has a copy of its own mounts to put its own
writable folders on: nothing of the host is anywhere below.
"""

import os
from collections.abc import Mapping, Sequence

from . import kernel

_HIDE = "/tmp"
DEVICES = ("null", "full", "random", "urandom")
"""Not `zero`: mapped, it is memory that nobody sees once it is let go of."""
_LINKS = {
    "/dev/fd": "/proc/self/fd",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/dev/stderr": "/proc/self/fd/2",
}
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV


def move_in(binds: Sequence[str], covered: Sequence[str]) -> None:
    """Make the tree and make it this process's root; `covered` folders in it are empty.

    The process has to be in a mount namespace of its own already.
    """
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    sources = {path: _opened(path) for path in binds if os.path.lexists(path)}
    devices = {name: _opened(f"/dev/{name}") for name in DEVICES}
    proc = _opened("/proc")
    kernel.mount("tmpfs", _HIDE, "tmpfs", _QUIET, "size=1m,mode=755")
    for path, source in sources.items():
        if isinstance(source, str):
            _link(source, _HIDE + path)
        else:
            _bind(source, _HIDE + path, folder=os.path.isdir(f"/proc/self/fd/{source}"))
            kernel.make_read_only(_HIDE + path)
    for path in covered:
        if os.path.isdir(_HIDE + path):
            kernel.mount("tmpfs", _HIDE + path, "tmpfs", _QUIET | kernel.MS_RDONLY, "size=4k")
    for folder in ("/tmp", "/dev", "/dev/shm", "/proc"):
        os.makedirs(_HIDE + folder, exist_ok=True)
    for name, source in devices.items():
        assert isinstance(source, int)
        _bind(source, f"{_HIDE}/dev/{name}", folder=False)
    for path, target in _LINKS.items():
        os.symlink(target, _HIDE + path)
    # A run may mount a /proc of its own only where one is to be seen already.
    assert isinstance(proc, int)
    _bind(proc, f"{_HIDE}/proc", folder=True)
    for source in (*sources.values(), *devices.values(), proc):
        if isinstance(source, int):
            os.close(source)
    os.chdir(_HIDE)
    os.mkdir(".old")
    kernel.pivot_root(".", ".old")
    os.chdir("/")
    kernel.detach("/.old")
    os.rmdir("/.old")


def furnish(limits: Mapping[str, float], binds: Sequence[str]) -> None:
    """Give this run its own /tmp, /dev/shm and, where that may be, /proc.

    The process has to be the first of a PID namespace, in a mount namespace of its own.
    """
    size, files = int(limits["disk_mb"]), int(limits["files"])
    # What lies where the program is to write would be hidden.
    hidden = {path: os.open(path, os.O_PATH) for path in binds if is_hidden(path)}
    # One file system behind both, so that what one takes the other lacks.
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", _QUIET, f"size={size}m,nr_inodes={files},mode=755")
    writable = {}
    for path in ("/tmp", "/dev/shm"):
        folder = f"/dev/shm/{os.path.basename(path)}"
        os.mkdir(folder)
        os.chmod(folder, 0o1777)
        writable[path] = os.open(folder, os.O_PATH)
    for path, source in writable.items():
        _bind(source, path, folder=True)
        os.close(source)
    for path, source in hidden.items():
        _bind(source, path, folder=os.path.isdir(f"/proc/self/fd/{source}"))
        os.close(source)
    kernel.mount(None, "/", None, _REMOUNT_READ_ONLY)
    try:
        kernel.mount("proc", "/proc", "proc", _QUIET | kernel.MS_NOEXEC, "subset=pid")
    except kernel.KernelError:
        # A container that masks parts of its /proc lets nobody mount another: none, then.
        kernel.mount("tmpfs", "/proc", "tmpfs", _QUIET | kernel.MS_RDONLY, "size=4k")


def is_hidden(path: str) -> bool:
    """Tell whether a run's own folders lie over a path of the host."""
    return path.startswith(("/tmp/", "/dev/shm/"))


_REMOUNT_READ_ONLY = kernel.MS_BIND | kernel.MS_RDONLY | _QUIET | 32


def _opened(path: str) -> int | str:
    """Return a descriptor of a path, or where it leads if it is a link."""
    if os.path.islink(path):
        return os.readlink(path)
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _bind(source: int, target: str, *, folder: bool) -> None:
    if folder:
        os.makedirs(target, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb"):
            pass
    kernel.mount(f"/proc/self/fd/{source}", target, None, kernel.MS_BIND | kernel.MS_REC)


def _link(leads_to: str, path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not os.path.lexists(path):
        os.symlink(leads_to, path)
