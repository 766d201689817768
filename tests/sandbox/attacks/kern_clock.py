"""Set the machine's clock, by a minute; it is compared from outside.

unconfined: no, it changes the clock
"""

import sys
import time

before = time.time()
try:
    time.clock_settime(time.CLOCK_REALTIME, before - 60)
    print("BREACH", time.time() - before)
    time.clock_settime(time.CLOCK_REALTIME, before)
except OSError as error:
    print("CONTAINED", error, file=sys.stderr)
    print("CONTAINED", error)
