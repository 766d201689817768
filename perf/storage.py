"""What it costs a run that its records are in an object store before they count.

    python perf/storage.py [--batches 60] [--times 5]

A journal is written in batches of 1, 32 and 256 records of a kilobyte, with and without a storage,
in turns; the best of all times counts, as other work on the machine only ever adds. The store is
moto's server, a process of its own on this machine: no network lies between, and it is not made to
be quick. So `ms_a_batch` is rather what the client and such a server take; a store that answers
after 30 ms takes those 30 ms a batch. One JSON object goes to standard output.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pyarrow import fs

from raybench.pipeline.storage import Storage
from raybench.pipeline.store import open_run

_SIZES = (1, 32, 256)
_RECORD = {"unit": "index/mmlu_pro/0", "reply": "x" * 960}
_PATIENCE_S = 60.0
_AROUND = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
}


def seconds(runs: Path, size: int, batches: int, storage: Storage | None) -> float:
    """Return how long it takes to journal so many batches of this size."""
    config = {"size": size, "stored": storage is not None}
    with open_run(runs, "perf", config, resume=False, storage=storage) as run:
        journal = run.journal("units")
        begun = time.perf_counter()
        for _ in range(batches):
            journal.extend([_RECORD] * size)
        took = time.perf_counter() - begun
        journal.close()
    return took


def measured(port: int, runs: Path, batches: int, times: int) -> dict[str, Any]:
    """Return what each size came to, with and without."""
    server = fs.S3FileSystem(
        scheme="http", endpoint_override=f"127.0.0.1:{port}", allow_bucket_creation=True
    )
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            server.create_dir("bucket")
            break
        except OSError:
            if time.monotonic() > until:
                raise
    uri = f"s3://bucket/runs?scheme=http&endpoint_override=127.0.0.1:{port}"
    storage = Storage.at(uri, _PATIENCE_S, lambda told: print(told, file=sys.stderr))
    found = {}
    for size in _SIZES:
        alone, stored = [], []
        for _ in range(times):
            alone.append(seconds(runs, size, batches, None))
            stored.append(seconds(runs, size, batches, storage))
        found[str(size)] = {
            "records_s": round(batches * size / min(alone)),
            "records_s_with_storage": round(batches * size / min(stored)),
            "ratio": round(min(alone) / min(stored), 3),
            "ms_a_batch": round(1000 * min(alone) / batches, 2),
            "ms_a_batch_with_storage": round(1000 * min(stored) / batches, 2),
        }
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=60)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--port", type=int, default=5321)
    given = parser.parse_args()
    os.environ.update(_AROUND)
    with ExitStack() as stack:
        runs = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", f"{given.port}"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        stack.callback(server.terminate)
        found = measured(given.port, runs, given.batches, given.times)
    print(json.dumps({"batches": given.batches, "times": given.times, "sizes": found}))


if __name__ == "__main__":
    main()
