"""Stop itself: nothing runs on that could be asked to end.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
