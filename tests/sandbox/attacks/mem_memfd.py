"""Hold more in files without a name (memfd_create) than memory and disk together allow.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted = 2 * (bait["limits"]["memory_mb"] + bait["limits"]["disk_mb"])
reports, report = os.pipe()
waits, go = os.pipe()
children = []
for _ in range(10):
    try:
        child = os.fork()
    except OSError as error:
        print(error, file=sys.stderr)
        break
    if child == 0:
        os.close(go)
        written = 0
        try:
            while written < wanted // 10 + 1:
                file = os.memfd_create("block")
                for _ in range(4):
                    written += os.write(file, b"\1" * (1 << 20)) >> 20
        except OSError as error:
            print(error, file=sys.stderr)
        os.write(report, b"%8d" % written)
        os.read(waits, 1)
        os._exit(0)
    children.append(child)
held = sum(int(os.read(reports, 8)) for _ in children)
os.close(go)
for child in children:
    os.waitpid(child, 0)
print("BREACH" if held >= wanted else "CONTAINED", held, "MB")
