"""Leave a dump of memory behind; that one was written proves it.

unconfined: safe
"""

import os
import resource
import sys

try:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
except (OSError, ValueError) as error:
    print(error, file=sys.stderr)
child = os.fork()
if child == 0:
    os.abort()
dumped = os.WCOREDUMP(os.waitpid(child, 0)[1])
print("BREACH" if dumped else "CONTAINED", *os.listdir("."))
