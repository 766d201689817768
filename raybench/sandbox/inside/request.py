"""A program with its files, as they travel to the process that starts it: in one file in memory."""

import fcntl
import json
import os
from collections.abc import Mapping

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
"""Nobody changes it any more, however it is opened."""


def packed(source: bytes, files: Mapping[str, bytes]) -> int:
    """Return the descriptor of a new file that holds them."""
    descriptor = os.memfd_create("request", os.MFD_CLOEXEC)
    head = json.dumps({name: len(content) for name, content in files.items()}).encode()
    with open(descriptor, "wb", closefd=False) as file:
        for piece in (head, b"\n", *files.values(), source):
            file.write(piece)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def unpacked(descriptor: int, folder: str) -> bytes:
    """Write the files below a folder; return the program."""
    with open(descriptor, "rb", closefd=False) as file:
        for name, size in json.loads(file.readline()).items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as copy:
                copy.write(file.read(size))
        return file.read()


def read_only(content: bytes) -> int:
    """Return the descriptor of a new file in memory that can be read and looked through.

    Input is a file, as it is for programs at contests: some ask for its size, or begin again.
    """
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
        return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(descriptor)
