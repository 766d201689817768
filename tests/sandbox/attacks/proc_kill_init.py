"""Kill and stop init and the parent, then exit with 7: the run must go on to be reported so.

unconfined: no, it would kill the test's own processes
expect: error
exit_code: 7
"""

import contextlib
import os
import signal
import sys

for pid in {1, os.getppid()} - {0}:
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV, signal.SIGINT):
        with contextlib.suppress(OSError):
            os.kill(pid, number)
print("CONTAINED if reported as it is")
sys.exit(7)
