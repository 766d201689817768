"""Have more than four times the allowed threads at once.

unconfined: safe
"""

import json
import sys
import threading

bait = json.loads(sys.stdin.readline())
wanted = 4 * bait["limits"]["processes"]
threading.stack_size(1 << 16)
stop = threading.Event()
threads: list[threading.Thread] = []
try:
    while len(threads) < wanted:
        thread = threading.Thread(target=stop.wait)
        thread.start()
        threads.append(thread)
except (RuntimeError, MemoryError) as error:
    print(error, file=sys.stderr)
stop.set()
print("BREACH" if len(threads) >= wanted else "CONTAINED", len(threads))
