"""Close all descriptors and sleep for ever: the end of output must not count as the end.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import os
import time

os.closerange(0, 256)
time.sleep(1000)
