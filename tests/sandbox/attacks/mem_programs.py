"""Hold four times the memory that is allowed in programs as small as this one is at first.

Who takes off from each process what forks have in common with their server forgives them all.

unconfined: safe
expect: ok memory
limits: cpu_s=20 wall_s=60 processes=64 memory_mb=64
"""

import json
import subprocess
import sys

bait = json.loads(sys.stdin.readline())
wanted, held = 4 * bait["limits"]["memory_mb"], 0.0
started: list[subprocess.Popen[bytes]] = []
try:
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[1]) * 4096
except OSError as error:
    print("CONTAINED its own size is not told:", error)
    sys.exit()
program = f"""
import sys
def own(name):
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(name)) << 10
block = bytearray(b"1" * max(0, {size} - own("Rss:") - (1 << 19)))
print(own("Private_Dirty:"), flush=True)
sys.stdin.read()
"""
try:
    while held < wanted and len(started) < 60:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(child)
        assert child.stdout is not None
        held += int(child.stdout.readline() or 0) / (1 << 20)
except OSError as error:
    print(error, file=sys.stderr)
for child in started:
    child.kill()
print("BREACH" if held >= wanted else "CONTAINED", round(held), "MB", len(started))
