"""Send to the host's sockets from one half of a socketpair.

Pairs may be allowed where socket() is not. Whether it arrived is seen from outside too.

unconfined: safe
"""

import json
import socket
import sys

bait = json.loads(sys.stdin.readline())
sent = []
for suffix, kind in (
    ("-datagrams", socket.SOCK_DGRAM),
    ("", socket.SOCK_STREAM),
    ("", socket.SOCK_SEQPACKET),
):
    for address in (bait["unix_path"] + suffix, "\0" + bait["unix_abstract"] + suffix):
        for connect in (False, True):
            try:
                here, _ = socket.socketpair(socket.AF_UNIX, kind)
                if connect:
                    here.connect(address)
                    here.send(b"leaked")
                else:
                    here.sendto(b"leaked", address)
                sent.append(address.strip("\0"))
            except OSError as error:
                print(error, file=sys.stderr)
print("BREACH" if sent else "CONTAINED", *sent)
