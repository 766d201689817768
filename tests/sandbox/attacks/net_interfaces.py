"""Find a network interface of the host by other ways than netlink.

unconfined: safe
"""

import array
import fcntl
import os
import socket
import struct
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
ASK_FOR_ALL, EACH, NAME = 0x8912, 40, 16
room = array.array("B", bytes(64 * EACH))
try:
    here, _ = socket.socketpair()
    asked = struct.pack("iP", len(room), room.buffer_info()[0])
    (length,) = struct.unpack_from("i", fcntl.ioctl(here, ASK_FOR_ALL, asked))
    names = (room.tobytes()[at : at + NAME] for at in range(0, length, EACH))
    found |= {name.rstrip(b"\0").decode() for name in names}
except OSError as error:
    print(error, file=sys.stderr)
found -= {"lo", "tunl0", "sit0", "ip6tnl0", "gre0"}
print("BREACH" if found else "CONTAINED", *found)
