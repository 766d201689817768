"""Ask the kernel to kill any other process first when memory runs out.

unconfined: no, a host may refuse it even to root
"""

import sys

spared = []
for name, value in (("oom_score_adj", "-900"), ("oom_adj", "-16")):
    try:
        with open(f"/proc/self/{name}", "w") as file:
            file.write(value)
        spared.append(name)
    except OSError as error:
        print(error, file=sys.stderr)
print("BREACH" if spared else "CONTAINED", *spared)
