"""Ask the kernel for network interfaces (netlink); one other than lo proves it.

unconfined: safe
"""

import socket
import struct
import sys

found = []
try:
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    link.settimeout(1)
    link.send(struct.pack("IHHIIBxHiII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
    reply = link.recv(1 << 16)
    while len(reply) >= 16:
        length, kind = struct.unpack_from("IH", reply)
        if kind != 16:
            break
        position = 32
        while position + 4 <= length:
            size, name = struct.unpack_from("HH", reply, position)
            if name == 3:
                found.append(reply[position + 4 : position + size].rstrip(b"\0").decode())
            position += max((size + 3) & ~3, 4)
        reply = reply[(length + 3) & ~3 :]
except OSError as error:
    print(error, file=sys.stderr)
found = [name for name in found if name not in {"lo", "tunl0", "sit0", "ip6tnl0", "gre0"}]
print("BREACH" if found else "CONTAINED", *found)
