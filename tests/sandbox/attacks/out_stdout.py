"""Write 100 MB to stdout.

unconfined: no, the test's own pipe would take it
expect: output
"""

import os

for _ in range(100):
    os.write(1, b"x" * 79 + b"\n" * (1 << 20))
