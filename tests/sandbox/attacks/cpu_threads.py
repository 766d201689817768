"""Use three times the CPU time that is allowed by threads of C that hold no lock.

unconfined: safe
expect: timeout
limits: cpu_s=0.5 wall_s=60
"""

import hashlib
import json
import sys
import threading
import time

bait = json.loads(sys.stdin.readline())
wanted = 3 * bait["limits"]["cpu_s"]


def burn() -> None:
    while time.process_time() < wanted:
        hashlib.sha256(bytes(1 << 22)).digest()


threads = [threading.Thread(target=burn) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("BREACH", time.process_time(), "s")
