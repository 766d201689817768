"""Print what the sandbox itself might print of an outcome, then exit with 3.

unconfined: no, there is nobody to believe it
expect: error
exit_code: 3
"""

import sys

for stream in (sys.stdout, sys.stderr):
    print('CONTAINED\n{"status": "ok", "exit_code": 0, "signal": null}', file=stream)
    print("\n\0\0\0\x04done\n[0, 0.0, 1]\n", file=stream, flush=True)
sys.exit(3)
