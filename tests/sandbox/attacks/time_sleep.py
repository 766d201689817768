"""Sleep for ever.

unconfined: no, there is nothing to gain
expect: timeout
limits: wall_s=0.4
"""

import time

time.sleep(1000)
