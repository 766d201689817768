"""Find a network interface of the host by other ways than netlink.

unconfined: safe
"""

import os
import socket
import sys

found: set[str] = set()
try:
    found |= {name for _, name in socket.if_nameindex()}
except OSError as error:
    print(error, file=sys.stderr)
for path in ("/proc/net/dev", "/proc/self/net/dev", "/proc/1/net/dev"):
    try:
        with open(path) as file:
            found |= {line.partition(":")[0].strip() for line in file.readlines()[2:]}
    except OSError as error:
        print(error, file=sys.stderr)
try:
    found |= set(os.listdir("/sys/class/net"))
except OSError as error:
    print(error, file=sys.stderr)
found -= {"lo", "tunl0", "sit0", "ip6tnl0", "gre0"}
print("BREACH" if found else "CONTAINED", *found)
