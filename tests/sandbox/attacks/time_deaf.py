"""Block and ignore every signal and sleep for ever.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import contextlib
import os
import signal
import time

for number in signal.valid_signals():
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.setsid() if os.getpgid(0) != os.getpid() else None
while True:
    time.sleep(1000)
