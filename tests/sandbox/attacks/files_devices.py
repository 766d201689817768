"""Open devices that no program needs: memory, kernel log, virtual machines, loops, terminals.

unconfined: safe
"""

import os
import sys

opened = []
names = "mem kmem port kmsg kvm fuse loop-control loop0 vsock userfaultfd net/tun cuse uinput "
names += "mapper/control btrfs-control autofs console tty tty0 tty1 ttyS0 hwrng vhost-net"
for path in [*(f"/dev/{name}" for name in names.split()), "/proc/kcore", "/proc/kmsg"]:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
        opened.append(path)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if opened else "CONTAINED", *opened)
