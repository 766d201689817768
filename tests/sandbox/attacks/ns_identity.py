"""Map more users into the sandbox's user namespace (uid_map, gid_map, setgroups).

unconfined: no, outside the maps are as wide as can be
"""

import os
import sys

done = []
for pid in {"self", "1", str(os.getppid())}:
    for name, text in (("setgroups", "allow"), ("uid_map", "0 0 1"), ("gid_map", "0 0 1")):
        try:
            with open(f"/proc/{pid}/{name}", "w") as file:
                file.write(text)
            done.append((pid, name))
        except OSError as error:
            print(error, file=sys.stderr)
print("BREACH" if done else "CONTAINED", *done)
