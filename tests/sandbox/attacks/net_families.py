"""Make a socket of every other family that the kernel knows: cryptography, buses, tunnels.

unconfined: safe
"""

import socket
import sys

usual = {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
made = []
for family in range(1, 50):
    for kind in (1, 2, 3, 5):
        try:
            if family not in usual:
                socket.socket(family, kind, 0)
                made.append((family, kind))
        except OSError as error:
            print(family, error, file=sys.stderr)
print("BREACH" if made else "CONTAINED", *made)
