"""Hold more in the buffers of socket pairs than memory allows.

unconfined: safe
expect: ok memory
limits: cpu_s=10 wall_s=60 descriptors=256
"""

import json
import os
import socket
import sys
import time

bait = json.loads(sys.stdin.readline())
wanted = bait["limits"]["memory_mb"]
reports, report = os.pipe()
waits, go = os.pipe()
children = []
for _ in range(13):
    try:
        child = os.fork()
    except OSError as error:
        print(error, file=sys.stderr)
        break
    if child == 0:
        os.close(go)
        written = 0
        kept = []
        try:
            while written < (wanted << 20) // 5:
                pair = socket.socketpair()
                kept.append(pair)
                for half in pair:
                    half.setblocking(False)
                    try:
                        while True:
                            written += half.send(b"\1" * (1 << 15))
                    except BlockingIOError:
                        pass
        except OSError as error:
            print(error, file=sys.stderr)
        os.write(report, b"%10d" % written)
        os.read(waits, 1)
        os._exit(0)
    children.append(child)
held = sum(int(os.read(reports, 10)) for _ in children) >> 20
time.sleep(0.3)
os.close(go)
for child in children:
    os.waitpid(child, 0)
print("BREACH" if held >= wanted else "CONTAINED", held, "MB")
