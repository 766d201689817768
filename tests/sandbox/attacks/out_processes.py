"""Write 100 MB from eight processes at once.

unconfined: no, the test's own pipe would take it
expect: output
"""

import os

for _ in range(8):
    if os.fork() == 0:
        for _ in range(13):
            os.write(1, b"w" * (1 << 20))
        os._exit(0)
for _ in range(8):
    os.wait()
