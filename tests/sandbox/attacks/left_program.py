"""Leave another program behind, started by nohup in a session of its own.

unconfined: safe
"""

import json
import subprocess
import sys

bait = json.loads(sys.stdin.readline())
try:
    subprocess.Popen(
        ["/bin/sh", "-c", f"sleep 20; : {bait['token']}"],
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
except OSError as error:
    print(error, file=sys.stderr)
print("CONTAINED unless seen from outside")
