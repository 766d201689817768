"""The seccomp filter: `sandboxes/seccomp.toml` as the classic BPF program that the kernel runs."""

import errno
import struct
import tomllib
from collections.abc import Mapping
from typing import Any

from .kernel import MACHINES

Policy = Mapping[str, Mapping[str, Any]]

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32_BIT = 0x40000000
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
"""Where things lie in what a filter looks at: of most arguments the lower half."""

_CLONE, _CLONE3 = (56, 220), (435, 435)
_MMAP, _IOCTL, _PRLIMIT64, _SOCKETPAIR = (9, 222), (16, 29), (302, 261), (53, 199)
_RT_SIGACTION, _FCNTL, _PRCTL = (13, 134), (72, 25), (157, 167)
_NEW_NAMESPACES = 0x7E020080
_MAP_SHARED_ANONYMOUS = 0x21
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_OF_INTERFACES = 0xFFFFFF00, 0x8900
_F_NOTIFY, _PR_FUTEX_HASH = 1026, 78
_ONESELF = 0
_SIGCHLD = 17
_AF_UNIX, _SOCK_STREAM, _SOCK_TYPES = 1, 1, 0xF


def read(text: str) -> Policy:
    """Return the policy that the readable form holds."""
    return tomllib.loads(text)


def program(policy: Policy, machine: str) -> bytes:
    """Return the filter for a machine's architecture."""
    column = MACHINES.index(machine)
    code = [
        _do(_LOAD, _ARCH),
        _jump(_EQUAL, _AUDIT_ARCH[machine], 1, 0),
        _do(_RETURN, _KILL),
        _do(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":
        code += [_jump(_AT_LEAST, _X32_BIT, 0, 1), _do(_RETURN, _KILL)]
    for group in policy.values():
        refusal = _refuse(group["errno"])
        for numbers in group["calls"].values():
            if numbers[column]:
                code += _when(numbers[column], [refusal])
    code += _when(_CLONE3[column], [_refuse("ENOSYS")])
    code += _when(
        _CLONE[column],
        [_argument(0), _jump(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _refuse("EPERM"), _allow()],
    )
    code += _when(
        _MMAP[column],
        [
            _argument(3),
            _do(_AND, _MAP_SHARED_ANONYMOUS),
            _jump(_EQUAL, _MAP_SHARED_ANONYMOUS, 0, 1),
            _refuse("ENOMEM"),
            _allow(),
        ],
    )
    code += _when(
        _IOCTL[column],
        [
            _argument(1),
            _jump(_EQUAL, _TIOCSTI, 3, 0),
            _jump(_EQUAL, _TIOCLINUX, 2, 0),
            _do(_AND, _OF_INTERFACES[0]),
            _jump(_EQUAL, _OF_INTERFACES[1], 0, 1),
            _refuse("EPERM"),
            _allow(),
        ],
    )
    code += _when(
        _FCNTL[column],
        [_argument(1), _jump(_EQUAL, _F_NOTIFY, 0, 1), _refuse("EPERM"), _allow()],
    )
    code += _when(
        _PRCTL[column],
        [_argument(0), _jump(_EQUAL, _PR_FUTEX_HASH, 0, 1), _refuse("EINVAL"), _allow()],
    )
    code += _when(
        _PRLIMIT64[column],
        [_argument(0), _jump(_EQUAL, _ONESELF, 1, 0), _refuse("EPERM"), _allow()],
    )
    code += _when(
        _SOCKETPAIR[column],
        [
            _argument(0),
            _jump(_EQUAL, _AF_UNIX, 0, 3),
            _argument(1),
            _do(_AND, _SOCK_TYPES),
            _jump(_EQUAL, _SOCK_STREAM, 1, 0),
            _refuse("EPERM"),
            _allow(),
        ],
    )
    code += _when(
        _RT_SIGACTION[column],
        [
            _argument(0),
            _jump(_EQUAL, _SIGCHLD, 0, 4),
            _argument(1),
            _jump(_EQUAL, 0, 0, 3),
            _do(_LOAD, _ARGUMENTS + 8 + 4),  # an address may have a lower half of nothing but zeros
            _jump(_EQUAL, 0, 0, 1),
            _allow(),
            _refuse("EPERM"),
        ],
    )
    return b"".join([*code, _allow()])


def _when(number: int, then: list[bytes]) -> list[bytes]:
    """Return what happens on one call; what happens has to end in a decision."""
    return [_jump(_EQUAL, number, 0, len(then)), *then]


def _argument(place: int) -> bytes:
    return _do(_LOAD, _ARGUMENTS + 8 * place)


def _refuse(name: str) -> bytes:
    return _do(_RETURN, _ERRNO | int(getattr(errno, name)))


def _allow() -> bytes:
    return _do(_RETURN, _ALLOW)


def _do(operation: int, value: int) -> bytes:
    return struct.pack("HBBI", operation, 0, 0, value)


def _jump(operation: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("HBBI", operation, if_true, if_false, value)
