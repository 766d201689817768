"""Write to a pipe that the parent left open; whether it arrived is seen from outside.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
written = []
for number in {bait["pipe_descriptor"], *range(3, 256)}:
    try:
        os.set_blocking(number, False)
        os.write(number, b"leaked")
        written.append(number)
    except OSError:
        pass
print("BREACH" if written else "CONTAINED", *written)
