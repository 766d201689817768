"""Let a pipe signal a process of the same user (F_SETOWN, F_SETSIG); the victim sees it.

unconfined: safe
"""

import contextlib
import fcntl
import json
import os
import signal
import struct
import sys

bait = json.loads(sys.stdin.readline())
reader, writer = os.pipe()
done = []
for kind, number in ((1, bait["victim"]), (0, bait["victim"]), (2, bait["victim_group"])):
    with contextlib.suppress(OSError):
        fcntl.fcntl(reader, 15, struct.pack("ii", kind, number))  # F_SETOWN_EX
        fcntl.fcntl(reader, 10, signal.SIGURG)  # F_SETSIG
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        os.write(writer, b"x")
        done.append((kind, number))
print("CONTAINED unless seen from outside", *done)
