"""Hold more in the buffers of pipes than memory allows.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60 descriptors=256
"""

import fcntl
import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted = bait["limits"]["memory_mb"]
reports, report = os.pipe()
waits, go = os.pipe()
children = []
for _ in range(12):
    try:
        child = os.fork()
    except OSError as error:
        print(error, file=sys.stderr)
        break
    if child == 0:
        os.close(go)
        written = 0
        try:
            while written < (wanted << 20) // 10:
                _, writer = os.pipe2(os.O_NONBLOCK)
                for size in (1 << 20, 1 << 18, 1 << 16):
                    try:
                        fcntl.fcntl(writer, 1031, size)  # F_SETPIPE_SZ
                        break
                    except OSError as error:
                        print(error, file=sys.stderr)
                written += os.write(writer, b"\1" * (1 << 20))
        except OSError as error:
            print(error, file=sys.stderr)
        os.write(report, b"%10d" % written)
        os.read(waits, 1)
        os._exit(0)
    children.append(child)
held = sum(int(os.read(reports, 10)) for _ in children) >> 20
os.close(go)
for child in children:
    os.waitpid(child, 0)
print("BREACH" if held >= wanted else "CONTAINED", held, "MB")
