"""Use three times the CPU time that is allowed by children too brief for anybody to see them.

They leave no zombie, because the parent asks for none (SA_NOCLDWAIT), in the kernel's own words and
with them at an address that looks like none in its lower half.

unconfined: safe
limits: cpu_s=0.5 wall_s=60
"""

import ctypes
import json
import mmap
import os
import platform
import signal
import sys
import time

bait = json.loads(sys.stdin.readline())
limit = bait["limits"]["cpu_s"]
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
SIGACTION = {"x86_64": 13, "aarch64": 134}[platform.machine()]
NO_ZOMBIES, RESTART, SET_SIZE, MAP_FIXED = 0x2, 0x10000000, 8, 0x10
PLACE = ctypes.c_void_p(0x2_0000_0000)
words = (ctypes.c_ulong * 4)(0, NO_ZOMBIES | RESTART, 0, 0)
kept = libc.mmap(
    PLACE,
    ctypes.c_size_t(4096),
    mmap.PROT_READ | mmap.PROT_WRITE,
    mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED,
    -1,
    ctypes.c_long(0),
)
if kept == PLACE.value:
    ctypes.memmove(kept, words, ctypes.sizeof(words))
places = [ctypes.addressof(words), kept]
failed = [
    libc.syscall(
        ctypes.c_long(SIGACTION),
        ctypes.c_long(signal.SIGCHLD | high),
        ctypes.c_void_p(place),
        None,
        ctypes.c_long(SET_SIZE),
    )
    for place in places
    for high in (0, 1 << 32)
]
if all(failed):
    print("CONTAINED", os.strerror(ctypes.get_errno()))
    sys.exit()
reports, report = os.pipe()
used = 0.0
while used < 3 * limit:
    if os.fork() == 0:
        begin = time.process_time()
        while time.process_time() < begin + 0.004:
            pass
        os.write(report, b"1")
        os._exit(0)
    os.read(reports, 1)
    used += 0.004
print("BREACH", round(used, 3), "s")
