"""Read or write what /sys tells of the host: control groups, power, devices.

unconfined: safe
"""

import glob
import os
import sys

reached = []
for path in [
    "/sys/power/state",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/debug",
    "/sys/kernel/security",
    "/sys/firmware",
    "/sys/class/net/lo",
    "/sys/block",
    *glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True)[:3],
]:
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            os.close(os.open(path, os.O_WRONLY))
        reached.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if reached else "CONTAINED", *reached)
