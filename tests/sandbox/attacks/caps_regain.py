"""Regain capabilities and users: capset, ambient ones, keepcaps, setuid(0), setgroups.

unconfined: safe
"""

import contextlib
import ctypes
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
header = ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0), 8)
every = ctypes.create_string_buffer(struct.pack("6I", *[0x1FF, 0x1FF, 0x1FF, 0, 0, 0]), 24)
done = []
if libc.capset(header, every) == 0:
    done.append("capset")
if libc.prctl(47, 2, 12, 0, 0) == 0:
    done.append("ambient")
if libc.prctl(38, 0, 0, 0, 0) == 0:
    done.append("no_new_privs cleared")
if libc.prctl(28, 1, 0, 0, 0) == 0:
    done.append("securebits")
for name, attempt in {
    "setgroups": lambda: os.setgroups([0]),
    "setgid": lambda: os.setresgid(0, 0, 0),
    "setuid": lambda: os.setresuid(0, 0, 0),
    "other": lambda: os.setresuid(1, 1, 1),
}.items():
    try:
        attempt()
        done.append(name)
    except OSError as error:
        print(name, error, file=sys.stderr)
with contextlib.suppress(OSError):
    os.setuid(0)
print("BREACH" if done else "CONTAINED", *done)
