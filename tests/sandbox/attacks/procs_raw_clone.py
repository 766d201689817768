"""Have more than four times the allowed processes by raw clone and clone3, unseen by the C library.

unconfined: safe
"""

import ctypes
import json
import os
import platform
import signal
import struct
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["processes"]
libc = ctypes.CDLL(None, use_errno=True)
clone = {"x86_64": 56, "aarch64": 220}[platform.machine()]
arguments = ctypes.create_string_buffer(
    struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, *[0] * 6), 88
)
children: list[int] = []
while len(children) < wanted:
    if len(children) % 2:
        child = libc.syscall(435, arguments, 88)
        if child < 0:
            child = libc.syscall(clone, signal.SIGCHLD, 0, 0, 0, 0)
    else:
        child = libc.syscall(clone, signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        signal.pause()
    if child < 0:
        print(os.strerror(ctypes.get_errno()), file=sys.stderr)
        break
    children.append(child)
for child in children:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("BREACH" if len(children) >= wanted else "CONTAINED", len(children))
