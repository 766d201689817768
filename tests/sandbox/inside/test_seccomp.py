"""The filter of system calls: its numbers, and what it decides, run as the kernel would run it."""

import errno
import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench.sandbox import recipes
from raybench.sandbox.inside import seccomp
from raybench.sandbox.inside.kernel import MACHINES

POLICY = seccomp.read((recipes.folder() / "seccomp.toml").read_text())
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOWED, KILLED = 0x7FFF0000, 0x80000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
CALLS = [(name, numbers) for group in POLICY.values() for name, numbers in group["calls"].items()]


def refused(name: str) -> int:
    return 0x00050000 | int(getattr(errno, name))


def decided(machine: str, number: int, *arguments: int, architecture: int | None = None) -> int:
    """Run the filter on a call."""
    program = seccomp.program(POLICY, machine)
    told = architecture if architecture is not None else ARCHITECTURES[machine]
    words = (*arguments, *[0] * (6 - len(arguments)))
    data = struct.pack("=iIQ6Q", number, told, 0, *words)
    code = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at = accumulator = 0
    while True:
        operation, yes, no, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation == 0x06:
            return int(value)
        else:
            tests = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: accumulator & value,
            }
            at += yes if tests[operation] else no


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    if not (header := HEADERS[machine]).exists():
        pytest.skip(f"{header} is not here (apt-get install linux-libc-dev)")
    known = {
        name: int(number)
        for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text())
    }
    assert len(known) > 250
    column = MACHINES.index(machine)
    wrong = {
        name: (numbers[column], known[name])
        for name, numbers in CALLS
        if name in known and numbers[column] != known[name]
    }
    assert not wrong
    # Those that this kernel's header does not know yet are young.
    unknown = [number[column] for name, number in CALLS if name not in known and number[column]]
    assert all(number in (264, 265) or number > 400 for number in unknown)


@pytest.mark.parametrize("machine", MACHINES)
def test_every_call_that_is_named_is_refused(machine: str) -> None:
    column = MACHINES.index(machine)
    for group in POLICY.values():
        for name, numbers in group["calls"].items():
            if numbers[column]:
                assert decided(machine, numbers[column]) == refused(group["errno"]), name


@given(machine=st.sampled_from(MACHINES), number=st.integers(0, 600))
def test_what_is_not_named_is_allowed(machine: str, number: int) -> None:
    column = MACHINES.index(machine)
    named = {numbers[column] for _, numbers in CALLS} - {0}
    special = (
        {56, 435, 9, 16, 302, 53, 13, 72, 157}
        if machine == "x86_64"
        else {220, 435, 222, 29, 261, 199, 134, 25, 167}
    )
    if number not in named | special:
        assert decided(machine, number) == ALLOWED


def test_other_architectures_end_the_program() -> None:
    assert decided("x86_64", 0, architecture=0x40000003) == KILLED  # i386
    assert decided("x86_64", 0x40000000 | 39) == KILLED  # x32
    assert decided("aarch64", 0, architecture=0x40000028) == KILLED  # arm


@pytest.mark.parametrize(
    ("call", "arguments", "decision"),
    [
        ("clone", (0x11,), ALLOWED),  # a fork
        ("clone", (0x003D0F00,), ALLOWED),  # a thread
        ("clone", (0x10000000,), refused("EPERM")),  # with a user namespace
        ("clone", (0x20000000 | 0x11,), refused("EPERM")),
        ("clone3", (), refused("ENOSYS")),
        ("mmap", (0, 4096, 3, 0x22), ALLOWED),  # private and anonymous
        ("mmap", (0, 4096, 3, 0x21), refused("ENOMEM")),
        ("mmap", (0, 4096, 3, 0x4021), refused("ENOMEM")),
        ("mmap", (0, 4096, 3, 0x01), ALLOWED),  # of a file
        ("ioctl", (0, 0x5401), ALLOWED),
        ("ioctl", (0, 0x5412), refused("EPERM")),
        ("ioctl", (0, 0x541C), refused("EPERM")),
        ("ioctl", (0, 0x5412 | 1 << 32), refused("EPERM")),  # the kernel looks at the lower half
        ("ioctl", (0, 0x8912), refused("EPERM")),  # SIOCGIFCONF
        ("ioctl", (0, 0x541B), ALLOWED),  # FIONREAD
        ("ioctl", (0, 0x18912), ALLOWED),
        ("fcntl", (3, 1026), refused("EPERM")),
        ("fcntl", (3, 6), ALLOWED),
        ("prctl", (78, 1), refused("EINVAL")),
        ("prctl", (15,), ALLOWED),
        ("prlimit64", (0, 7), ALLOWED),
        ("prlimit64", (1, 7), refused("EPERM")),
        ("socketpair", (1, 1), ALLOWED),
        ("socketpair", (1, 1 | 0o2004000), ALLOWED),  # close-on-exec, not blocking
        ("socketpair", (1, 2), refused("EPERM")),
        ("socketpair", (1, 5), refused("EPERM")),
        ("socketpair", (30, 1), refused("EPERM")),
        ("rt_sigaction", (17, 0), ALLOWED),  # asking what it does
        ("rt_sigaction", (17, 0x7F0012345678), refused("EPERM")),
        ("rt_sigaction", (17, 0x7F0000000000), refused("EPERM")),
        ("rt_sigaction", (17, 0x12345678), refused("EPERM")),
        ("rt_sigaction", (17 | 1 << 32, 0x12345678), refused("EPERM")),
        ("rt_sigaction", (10, 0x7F0012345678), ALLOWED),
    ],
)
def test_some_calls_depend_on_what_is_asked(
    call: str, arguments: tuple[int, ...], decision: int
) -> None:
    numbers = {
        "clone": 56,
        "clone3": 435,
        "mmap": 9,
        "ioctl": 16,
        "prlimit64": 302,
        "socketpair": 53,
        "rt_sigaction": 13,
        "fcntl": 72,
        "prctl": 157,
    }
    assert decided("x86_64", numbers[call], *arguments) == decision
