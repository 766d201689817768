"""The system calls that Python does not offer, each under its own name.

A call that fails raises OSError whose text names the call and what it was about.
"""

import ctypes
import os
import platform
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
_LIBC.umount2.argtypes = [ctypes.c_char_p, ctypes.c_int]
_LIBC.prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
_LIBC.syscall.restype = ctypes.c_long

X86 = platform.machine() == "x86_64"
MACHINES = ("x86_64", "aarch64")
_PIVOT_ROOT = 155 if X86 else 41
_MOUNT_SETATTR = 442
_KCMP, _KCMP_VM = 312 if X86 else 272, 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x20000, 0x2000000, 0x4000000, 0x8000000
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE, _MNT_DETACH = -100, 0x8000, 2

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP = 1, 4, 22, 24
_PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 36, 38, 47
_SECCOMP_FILTER = 2
_CAPABILITY_VERSION = 0x20080522


class KernelError(OSError):
    """A system call that this kernel, or whoever set it up, refused."""


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise KernelError(number, f"{what}: {os.strerror(number)}")
    return result


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else os.fsencode(text)


def unshare(flags: int) -> None:
    """Leave namespaces for fresh ones."""
    _checked(_LIBC.unshare(flags), "unshare")


def mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    """Mount a file system, or change a mount."""
    result = _LIBC.mount(_bytes(source), _bytes(target), _bytes(kind), flags, _bytes(data))
    _checked(result, f"mount {kind or source or ''} on {target}".replace("  ", " "))


def detach(target: str) -> None:
    """Unmount all that lies below a path."""
    _checked(_LIBC.umount2(_bytes(target), _MNT_DETACH), f"umount {target}")


def pivot_root(root: str, old: str) -> None:
    """Make a mount the root, and the old root a folder in it."""
    result = _LIBC.syscall(_PIVOT_ROOT, _bytes(root), _bytes(old))
    _checked(result, f"pivot_root {root}")


class _MountAttr(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def make_read_only(target: str) -> None:
    """Make a mount and all below it read-only, without setuid programs and devices."""
    wanted = _MountAttr(_ATTR_RDONLY | _ATTR_NOSUID | _ATTR_NODEV, 0, 0, 0)
    result = _LIBC.syscall(
        _MOUNT_SETATTR,
        _AT_FDCWD,
        _bytes(target),
        _AT_RECURSIVE,
        ctypes.byref(wanted),
        ctypes.sizeof(wanted),
    )
    _checked(result, f"mount_setattr {target}")


def prctl(option: int, value: int = 0, what: str = "prctl") -> None:
    """Set something of this process."""
    _checked(_LIBC.prctl(option, value, 0, 0, 0), what)


def die_with_parent() -> None:
    """Have the kernel end this process when its parent ends."""
    prctl(_PR_SET_PDEATHSIG, 9, "prctl(PR_SET_PDEATHSIG)")


def be_readable(yes: bool) -> None:
    """Let processes of the same user look into this one, or not."""
    prctl(_PR_SET_DUMPABLE, int(yes), "prctl(PR_SET_DUMPABLE)")


def same_memory(one: int, other: int) -> bool:
    """Tell whether two processes are known to share one memory, as between `vfork` and `exec`."""
    return int(_LIBC.syscall(_KCMP, one, other, _KCMP_VM, 0, 0)) == 0


def become(uid: int) -> None:
    """Give up root for a user of no account."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def adopt_orphans() -> None:
    """Become the parent of whatever this process's children leave behind."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1, "prctl(PR_SET_CHILD_SUBREAPER)")


class _CapHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _CapData(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


def drop_capabilities() -> None:
    """Give up every capability and the way to any new one."""
    for capability in range(64):
        if _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header, nothing = _CapHeader(_CAPABILITY_VERSION, 0), (_CapData * 2)()
    _checked(_LIBC.capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")
    gain_nothing()


def gain_nothing() -> None:
    """Have no program that this process starts raise its privileges."""
    prctl(_PR_SET_NO_NEW_PRIVS, 1, "prctl(PR_SET_NO_NEW_PRIVS)")


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


def filter_calls(program: bytes) -> None:
    """Put a seccomp filter on this process and all that it starts."""
    buffer = ctypes.create_string_buffer(program, len(program))
    wanted = _Program(len(program) // 8, ctypes.addressof(buffer))
    result = _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.addressof(wanted), 0, 0)
    _checked(result, "prctl(PR_SET_SECCOMP)")


# --------------------------------------------------------------------------------------- Landlock


class _Ruleset(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "net", "scoped")]


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def landlock_version() -> int:
    """Return the version of Landlock's interface; 0 where the kernel has none."""
    return max(0, int(_LIBC.syscall(_CREATE_RULESET, None, 0, 1)))


def landlock_ruleset(files: int, net: int, scoped: int) -> int:
    """Return the descriptor of rules that refuse all that is named."""
    wanted = _Ruleset(files, net, scoped)
    result = _LIBC.syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.sizeof(wanted), 0)
    return int(_checked(result, "landlock_create_ruleset"))


def landlock_allow(ruleset: int, folder: int, allowed: int) -> None:
    """Allow something below a path, which an open descriptor names."""
    rule = _PathRule(allowed, folder)
    _checked(_LIBC.syscall(_ADD_RULE, ruleset, 1, ctypes.byref(rule), 0), "landlock_add_rule")


def landlock_enforce(ruleset: int) -> None:
    """Keep this process and all that it starts to the rules."""
    _checked(_LIBC.syscall(_RESTRICT_SELF, ruleset, 0), "landlock_restrict_self")


def told(error: BaseException) -> str:
    """Return an error's own words."""
    parts: tuple[Any, ...] = error.args
    return str(parts[1]) if isinstance(error, KernelError) else f"{type(error).__name__}: {error}"
