"""Read and change another process's limits (prlimit).

unconfined: safe
"""

import json
import os
import resource
import sys

bait = json.loads(sys.stdin.readline())
done = []
for pid in (bait["victim"], os.getppid(), 1):
    for limits in ([], [(123, 123)]):
        try:
            if pid and (pid == bait["victim"] or not limits):
                resource.prlimit(pid, resource.RLIMIT_CORE, *limits)
                done.append((pid, *limits))
        except OSError as error:
            print(pid, error, file=sys.stderr)
victims = [pid for pid, *_ in done if pid == bait["victim"]]
print("BREACH" if victims else "CONTAINED", *done)
