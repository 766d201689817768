"""Die of SIGKILL at one's own hand: it must be reported as a signal, not as a limit.

unconfined: no, there is nothing to gain
expect: error killed
signal: 9
"""

import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
