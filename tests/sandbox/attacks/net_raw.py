"""Make raw and packet sockets, which see and forge the traffic of others.

unconfined: safe
"""

import socket
import sys

made = []
for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6),
    (socket.AF_PACKET, socket.SOCK_RAW, 0x300),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0x300),
):
    try:
        socket.socket(family, kind, protocol)
        made.append((int(family), int(kind)))
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if made else "CONTAINED", *made)
