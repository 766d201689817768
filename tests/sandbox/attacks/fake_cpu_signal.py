"""Die of SIGXCPU at one's own hand: it must not pass for a good end.

unconfined: no, there is nothing to gain
expect: error timeout killed
"""

import os
import signal

os.kill(os.getpid(), signal.SIGXCPU)
