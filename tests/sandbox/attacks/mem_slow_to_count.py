"""Hold many times the allowed memory while whoever counts it is kept busy by maps without number.

unconfined: safe
expect: memory output
limits: processes=64 cpu_s=10 wall_s=60
"""

import ctypes
import json
import mmap
import os
import sys
import time

bait = json.loads(sys.stdin.readline())
limit = bait["limits"]["memory_mb"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
PAGES, BUSY, HOLDERS, STEP = 60_000, 40, 6, 8
PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS


def room(size: int, rights: int) -> int:
    length, offset = ctypes.c_size_t(size), ctypes.c_long(0)
    return int(libc.mmap(None, length, rights, PRIVATE, -1, offset))


many = room(PAGES * mmap.PAGESIZE, 0)
for page in range(0, PAGES, 2):
    place, length = ctypes.c_void_p(many + page * mmap.PAGESIZE), ctypes.c_size_t(mmap.PAGESIZE)
    libc.mprotect(place, length, mmap.PROT_READ)
for _ in range(BUSY):
    if os.fork() == 0:
        time.sleep(3)
        os._exit(0)
time.sleep(0.5)
reports, report = os.pipe()
for _ in range(HOLDERS):
    if os.fork() == 0:
        own = room(limit << 20, mmap.PROT_READ | mmap.PROT_WRITE)
        for at in range(0, limit, STEP):
            ctypes.memset(own + (at << 20), 1, STEP << 20)
            os.write(report, b"1")
        time.sleep(10)
        os._exit(0)
os.close(report)
held = 0
while held < 4 * limit:
    held += STEP * len(os.read(reports, 1))
time.sleep(2)  # a moment is what every watcher leaves: whether it is enough depends on the machine
print("BREACH", held, "MB", flush=True)
os._exit(0)
