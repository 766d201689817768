"""Stop all of the family: parent, siblings, init.

unconfined: no, it would stop the test
expect: timeout
limits: wall_s=0.4
"""

import contextlib
import os
import signal

parent = os.getpid()
if os.fork() == 0:
    for pid in (parent, os.getppid(), 1, -1):
        with contextlib.suppress(OSError):
            if pid != -1 or (os.getppid() == parent and parent < 100):
                os.kill(pid, signal.SIGSTOP)
    os._exit(0)
os.wait()
signal.pause()
