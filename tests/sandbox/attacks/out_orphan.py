"""Write 100 MB from an orphan after the program has ended well.

unconfined: no, the test's own pipe would take it
expect: ok output
"""

import os

if os.fork() == 0:
    os.setsid()
    for _ in range(100):
        os.write(1, b"v" * (1 << 20))
    os._exit(0)
print("CONTAINED", flush=True)
os._exit(0)
