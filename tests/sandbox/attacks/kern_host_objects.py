"""Attach the host's shared memory, semaphores and queues by their keys and names.

unconfined: safe
"""

import ctypes
import json
import mmap
import os
import re
import sys

bait = json.loads(sys.stdin.readline())
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
found, key = [], bait["ipc_key"]
memory = libc.shmget(key, 0, 0)
for number in {memory, bait["shm"]}:
    address = libc.shmat(number, None, 0o10000)
    if address not in (None, 2**64 - 1):
        found += re.findall(bait["pattern"].encode(), ctypes.string_at(address, 64))
if libc.semget(key, 0, 0) >= 0:
    found.append(b"semaphores")
queue = libc.msgget(key, 0)
if queue >= 0:
    found.append(b"queue")
try:
    with open(f"/dev/shm/{bait['posix_name']}", "rb") as file:
        found += re.findall(bait["pattern"].encode(), mmap.mmap(file.fileno(), 0, prot=1)[:])
except (OSError, ValueError) as error:
    print(error, file=sys.stderr)
if ctypes.CDLL("librt.so.1").mq_open(f"/{bait['posix_name']}".encode(), os.O_RDONLY) >= 0:
    found.append(b"posix queue")
print("BREACH" if found else "CONTAINED", *found)
