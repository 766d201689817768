"""Write 100 MB from an orphan after the program has ended well.

unconfined: no, the test's own pipe would take it
expect: ok output
"""

import os

# Said first: the orphan may be quicker, and what comes after its flood is cut off.
print("CONTAINED", flush=True)
if os.fork() == 0:
    os.setsid()
    for _ in range(100):
        os.write(1, b"v" * (1 << 20))
    os._exit(0)
os._exit(0)
