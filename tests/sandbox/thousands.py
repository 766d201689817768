"""Run programs by the thousand, two at a time, and tell what is left of them.

    python tests/sandbox/thousands.py 10000

A process of its own, in which nobody else opens files or starts processes: `test_run.py` runs it.
"""

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from raybench.sandbox import Limits, Settings
from raybench.sandbox.runner import Runner

_WARM = 500
"""Runs before anything is counted, at most: what is started once has started then."""
_GROWTH = 16 << 20
"""Bytes by which this process may grow all the same."""


def state() -> dict[str, Any]:
    """Return what this process holds: children, descriptors by their kinds, mounts."""
    links = [_link(entry) for entry in Path("/proc/self/fd").iterdir()]
    return {
        "children": len(psutil.Process().children(recursive=True)),
        "descriptors": Counter(link.partition(":")[0] for link in links if link),
        "mounts": Path("/proc/self/mounts").read_text().count("\n"),
    }


def _link(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except FileNotFoundError:  # the one by which the folder was listed
        return ""


def some(runner: Runner, count: int) -> None:
    """Run programs that each print a number of their own."""

    def one(number: int) -> bool:
        told = runner.run(f"print({number})", "", {}, Limits(), "plain").stdout
        return told == f"{number}\n"

    with ThreadPoolExecutor(2) as threads:
        for first in range(0, count, _WARM):  # what waits to be run takes memory, too
            assert all(threads.map(one, range(first, min(count, first + _WARM))))


def main(runs: int) -> None:
    """Run so many programs; fail where anything is left."""
    runner = Runner(Settings())
    some(runner, min(runs, _WARM))
    before, memory = state(), psutil.Process().memory_info().rss
    some(runner, runs)
    after, grown = state(), psutil.Process().memory_info().rss - memory
    assert after == before, f"{before} became {after}"
    assert grown < _GROWTH, f"memory grew by {grown:,} bytes"
    runner.close()
    assert state()["children"] == 0, f"{state()} is left"


if __name__ == "__main__":
    main(int(sys.argv[1]))
