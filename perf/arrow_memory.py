"""How much do threads that handle blocks of units leave with each of Arrow's allocators?

    python -m perf.arrow_memory [--threads 64] [--blocks 1200]

As in a process of a stage that waits (`raybench/pipeline/process.py`): each thread
makes tables of JSON texts, writes them, reads them back and forgets them. Printed is what the
process holds in the end, of which Arrow says that nothing is in use, beside the allocator that the
stages take. Each allocator has a process of its own.
"""

import argparse
import json
import queue
import random
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa

_ALLOCATORS = ("mimalloc", "jemalloc", "system")
_UNITS, _WORDS = (8, 12, 128), (100, 800)


def main() -> None:
    """Measure each allocator, and print them beside that of the stages."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=64)
    parser.add_argument("--blocks", type=int, default=1200)
    parser.add_argument("--allocator", choices=_ALLOCATORS, help="in this process")
    asked = parser.parse_args()
    if asked.allocator:
        print(_held(asked.allocator, asked.threads, asked.blocks))
        return
    found = {}
    for name in _ALLOCATORS:
        command = [sys.executable, "-m", "perf.arrow_memory", f"--allocator={name}"]
        command += [f"--threads={asked.threads}", f"--blocks={asked.blocks}"]
        found[name] = float(subprocess.run(command, check=True, capture_output=True).stdout)
    for name, held in found.items():
        print(f"{name:<9} {held:6.0f} MiB  {held / found['system']:.1f} × system")


def _held(allocator: str, threads: int, blocks: int) -> float:
    """Return the MiB that are this process's own when all is done and forgotten."""
    pa.set_memory_pool(getattr(pa, f"{allocator}_memory_pool")())
    todo: queue.Queue[int] = queue.Queue()
    draw = random.Random(0)
    for _ in range(blocks):
        todo.put(draw.choice(_UNITS))
    workers = [threading.Thread(target=_work, args=(todo,)) for _ in range(threads)]
    begin = _own_mib()
    for worker in workers:
        worker.start()
    todo.join()
    held = _own_mib() - begin  # while the threads are there, as those of a stage are
    for _ in workers:
        todo.put(0)
    for worker in workers:
        worker.join()
    assert pa.default_memory_pool().bytes_allocated() == 0
    return held


def _work(todo: "queue.Queue[int]") -> None:
    draw = random.Random(threading.get_ident())
    while units := todo.get():
        _block(units, draw)
        todo.task_done()


def _block(units: int, draw: random.Random) -> None:
    texts = [json.dumps({"reply": "word " * draw.randint(*_WORDS)}) for _ in range(units)]
    table = pa.table({"unit": np.array(texts, dtype=object)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    read = pa.ipc.open_stream(sink.getvalue()).read_all()
    assert [*read.column(0).to_numpy()] == texts


def _own_mib() -> float:
    found = re.search(r"^Pss_Anon:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.M)
    return int(found[1]) / 1024 if found else float("nan")


if __name__ == "__main__":
    main()
