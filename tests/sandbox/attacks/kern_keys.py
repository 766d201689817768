"""Add, ask for and list keys of the kernel; read the host's key.

unconfined: safe
"""

import ctypes
import json
import os
import platform
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
add_key, request_key, keyctl = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[
    platform.machine()
]
buffer, done = ctypes.create_string_buffer(200), []
for name, call in {
    "add_key": (add_key, b"user", b"raybench-test", b"x", 1, -2),
    "request_key": (request_key, b"user", bait["key_name"].encode(), None, 0),
    "session": (keyctl, 1, None),
    "describe": (keyctl, 6, -3, buffer, 200),
    "read": (keyctl, 11, bait["key"], buffer, 200),
}.items():
    if libc.syscall(*call) >= 0:
        done.append(name)
    else:
        print(name, os.strerror(ctypes.get_errno()), file=sys.stderr)
try:
    with open("/proc/keys") as file:
        done += ["/proc/keys"] if bait["key_name"] in file.read() else []
except OSError as error:
    print(error, file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done, buffer.value)
