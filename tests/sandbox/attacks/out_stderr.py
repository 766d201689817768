"""Write 100 MB to stderr.

unconfined: no, the test's own pipe would take it
expect: output
"""

import os

for _ in range(100):
    os.write(2, b"y" * (1 << 20))
