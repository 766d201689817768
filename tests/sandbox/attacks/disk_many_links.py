"""Make many times the allowed symbolic links, hard links, pipes and folders, unlimited names.

unconfined: safe
expect: ok output
"""

import json
import os
import sys

bait = json.loads(sys.stdin.readline())
wanted, most = bait["flood"] * bait["limits"]["files"], 0
open("target", "w").close()
for kind in ("symlink", "link", "fifo", "mkdir"):
    made: list[str] = []
    try:
        while len(made) < wanted:
            name = f"{kind}-{len(made)}-" + "n" * 200
            if kind == "symlink":
                os.symlink("t" * 1000, name)
            elif kind == "link":
                os.link("target", name)
            elif kind == "fifo":
                os.mkfifo(name)
            else:
                os.mkdir(name)
            made.append(name)
    except OSError as error:
        print(error, file=sys.stderr)
    most = max(most, len(made))
    for name in made:
        if kind == "mkdir":
            os.rmdir(name)
        else:
            os.unlink(name)
print("BREACH" if most >= wanted else "CONTAINED", most)
