"""Let orphans end well and badly, adopted by init, before exiting with 9.

unconfined: no, there is nobody to believe it
expect: error
exit_code: 9
"""

import os
import sys
import time

for code in (0, 0, 1, 77):
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.05)
            os._exit(code)
        os._exit(0)
    os.wait()
time.sleep(0.2)
print("CONTAINED if reported as it is", flush=True)
sys.exit(9)
