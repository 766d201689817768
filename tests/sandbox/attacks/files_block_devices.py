"""Read the host's disks from their device files; 512 bytes of one prove it.

unconfined: no, a host may refuse its disks even to root
"""

import glob
import json
import sys

bait = json.loads(sys.stdin.readline())
read = []
for path in {*bait["block_devices"], *glob.glob("/dev/[svx][dv][a-z]*"), *glob.glob("/dev/nvme*")}:
    try:
        with open(path, "rb", buffering=0) as device:
            if len(device.read(512)) == 512:
                read.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if read else "CONTAINED", *read)
