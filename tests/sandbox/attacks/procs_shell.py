"""Have more than four times the allowed processes by programs that a shell starts.

unconfined: safe
expect: ok timeout
limits: wall_s=1
"""

import json
import subprocess
import sys

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["processes"]
script = f"""
i=0
while [ $i -lt {wanted} ]; do sleep 1 & i=$((i + 1)); done
jobs -r | grep -c Running
"""
try:
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, text=True)
    alive = int(done.stdout.strip() or 0)
    print("BREACH" if alive >= wanted else "CONTAINED", alive, done.stderr[-200:])
except (OSError, ValueError) as error:
    print("CONTAINED", error)
