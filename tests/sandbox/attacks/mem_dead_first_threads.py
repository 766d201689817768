"""Hold memory in processes whose first thread has ended: their own size is none any more.

unconfined: safe
expect: memory
limits: cpu_s=10 wall_s=60 processes=64
"""

import ctypes
import json
import os
import platform
import sys
import threading
import time

bait = json.loads(sys.stdin.readline())
limit = bait["limits"]["memory_mb"]
share = limit // 3
exit_of_one = {"x86_64": 60, "aarch64": 93}[platform.machine()]
reports, report = os.pipe()
waits, go = os.pipe()


def hold() -> None:
    time.sleep(0.1)
    try:
        kept = bytearray(b"\1" * (share << 20))
        os.write(report, b"held")
        os.read(waits, 1)
        del kept
    except MemoryError:
        os.write(report, b"none")
    os._exit(0)


children = 12
for _ in range(children):
    if os.fork() == 0:
        os.close(go)
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall(exit_of_one, 0)
held = sum(os.read(reports, 4) == b"held" for _ in range(children)) * share
time.sleep(0.5)
os.close(go)
print("BREACH" if held >= 2 * limit else "CONTAINED", held, "MB")
