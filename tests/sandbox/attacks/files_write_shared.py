"""Leave a file in the places that all of a host's programs share.

Whether it is there is seen from outside: here these may be places of the sandbox's own.

unconfined: safe
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
places = ["/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/var/lock", "/home", "/root"]
for folder in [*places, bait["home"], os.path.expanduser("~"), os.path.dirname(os.__file__)]:
    try:
        with open(f"{folder}/{bait['token']}", "w") as file:
            file.write("left here")
    except OSError as error:
        print(error, file=sys.stderr)
print("CONTAINED unless seen from outside")
