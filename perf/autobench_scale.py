"""A peer assessment of the size of the public project's third run, on stand-ins, from the command.

    python -m perf.autobench_scale                        33 models, 400 iterations: 450,000 ratings
    python -m perf.autobench_scale --iterations 100 200 400

Runs `python -m raybench +experiment=autobench` with every model simulated, and reports for each
number of iterations: wall time (of everything, from the start of the program to its end), CPU time
of all of its processes, both per rating; the most memory that they took together (proportional set
size, Ray's own among them, every quarter of a second); the size of the journals; and the calls that
speculation threw away. Each is as good as linear in the iterations if the figures per iteration
stay the same from line to line.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

_LOOK_S = 0.25
_LINE = "{:>10} {:>9} {:>9} {:>10} {:>12} {:>10} {:>12} {:>10}"


def main() -> None:
    """Print a line per number of iterations."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", type=int, default=33)
    parser.add_argument("--iterations", type=int, nargs="+", default=[400])
    parser.add_argument("settings", nargs="*", help="further settings, as KEY=VALUE")
    arguments = parser.parse_args()
    print(
        _LINE.format(
            "iterations", "ratings", "wall s", "CPU s", "CPU µs each", "peak GiB", "journals MB",
            "discarded",
        )
    )  # fmt: skip
    for iterations in arguments.iterations:
        print(measured(arguments.models, iterations, arguments.settings), flush=True)


def measured(models: int, iterations: int, settings: Sequence[str]) -> str:
    """Run once, and return what it took."""
    roster = ", ".join(
        f"{{name: sim-{n:02}, engine: simulated, options: {{ability: {n / (models + 1):.3f}}}}}"
        for n in range(1, models + 1)
    )
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "raybench", "+experiment=autobench", f"roster.models=[{roster}]",
            f"autobench.iterations={iterations}", f"runs_dir={folder}", *settings,
        ]  # fmt: skip
        begun = time.monotonic()
        with (Path(folder) / "said").open("w+") as said:
            process = psutil.Popen(command, stdout=said, stderr=subprocess.STDOUT)
            peak, cpu = watch(process)
            if process.returncode:
                said.seek(0)
                sys.exit(said.read()[-4000:])
        wall = time.monotonic() - begun
        (run,) = (Path(folder) / "autobench").iterdir()
        results = json.loads((run / "results.json").read_text())
        ratings = sum(
            rating is not None
            for line in (run / "journal" / "iterations.jsonl").open(encoding="utf-8")
            for row in _rows(json.loads(line))
            for rating in row.values()
        )
        size = sum(path.stat().st_size for path in (run / "journal").iterdir())
        calls = results["run"]["calls"]
    return _LINE.format(
        iterations, f"{ratings:,}", f"{wall:.1f}", f"{cpu:.1f}", f"{1e6 * cpu / ratings:.0f}",
        f"{peak / 2**30:.2f}", f"{size / 1e6:.1f}", f"{calls['discarded'] / calls['calls']:.1%}",
    )  # fmt: skip


def watch(process: psutil.Popen) -> tuple[int, float]:
    """Wait for a program's end; return the memory and the CPU time of all of its processes."""
    peak, spent = 0, dict[int, float]()
    while process.poll() is None:
        memory = 0
        for each in _family(process):
            try:
                memory += each.memory_full_info().pss
                times = each.cpu_times()
                spent[each.pid] = times.user + times.system
            except psutil.Error:
                continue  # it has just ended
        peak = max(peak, memory)
        time.sleep(_LOOK_S)
    return peak, sum(spent.values())


def _family(process: psutil.Popen) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def _rows(record: dict[str, dict[str, dict[str, int | None]]]) -> list[dict[str, int | None]]:
    attempts = [attempt["ratings"] for attempt in record["attempts"]]  # type: ignore[index]
    return [*attempts, *record["judgments"].values()]  # type: ignore[list-item]


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    main()
