"""Write 100 MB, by turns to stdout and to stderr, each of them below the limit at first.

unconfined: no, the test's own pipe would take it
expect: output
"""

import os

for turn in range(100 << 4):
    os.write(1 + turn % 2, b"z" * (1 << 16))
