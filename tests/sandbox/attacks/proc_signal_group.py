"""Signal the own process group: its other members may lie outside the sandbox.

The signal is one that is ignored by default; the victim, of the runner's group, counts it.

unconfined: safe
"""

import os
import signal

signal.signal(signal.SIGURG, signal.SIG_IGN)
os.kill(0, signal.SIGURG)
os.killpg(0, signal.SIGURG)
if os.getpgid(0):
    os.killpg(os.getpgid(0), signal.SIGURG)
print("CONTAINED unless seen from outside")
