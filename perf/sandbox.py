"""How long a program in the sandbox takes to start, and how many run a second.

    python perf/sandbox.py [--runs 300] [--scientific-runs 30]

Each number stands beside what the same machine needs for a plain subprocess, taken in turn with it:
`python -I -c pass` of the same interpreter for the plain profile, the import of the profile's
libraries in a fresh process for the scientific one. Bars: the warm median is at most 1.5 times a
plain process, and the scientific profile at least 8 times faster than the cold import.
"""

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from raybench import sandbox
from raybench.sandbox import environments, interpreters

_USE = (
    "import numpy, scipy.linalg, scipy.integrate, sympy, h5py\n"
    "numpy.linalg.inv(numpy.eye(3)); sympy.Symbol('x') + 1"
)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--scientific-runs", type=int, default=30)
    args = parser.parse_args()
    base = interpreters.chosen()
    environment = environments.scientific(base)
    first = time.perf_counter()
    outcome = _sandboxed("pass")
    first = time.perf_counter() - first
    print(f"backend {outcome.backend}, Python {outcome.python}; the first run took {first:.2f} s")

    plain, warm = _in_turn(
        lambda: _plain([base.path, "-I", "-c", "pass"]), lambda: _sandboxed("pass"), args.runs
    )
    _report("plain", "python -I -c pass", plain, warm)
    print(f"  ratio {statistics.median(warm) / statistics.median(plain):.2f} (at most 1.5)")

    imports = f"import {', '.join(environments.MODULES)}"
    _sandboxed(_USE, "scientific")
    cold, scientific = _in_turn(
        lambda: _plain([environment.python, "-I", "-c", f"{imports}\n{_USE}"]),
        lambda: _sandboxed(_USE, "scientific"),
        args.scientific_runs,
    )
    _report("scientific", "cold import", cold, scientific)
    print(
        f"  {statistics.median(cold) / statistics.median(scientific):.1f} times faster (8 or more)"
    )

    print("runs a second, of one process with as many threads as cores:")
    for name, work in (
        ("plain process", lambda: _plain([base.path, "-I", "-c", "pass"])),
        ("sandbox", lambda: _sandboxed("pass")),
    ):
        print(f"  {name}: {_a_second(work, args.runs):.0f}")


def _in_turn(
    one: Callable[[], object], other: Callable[[], object], runs: int
) -> tuple[list[float], list[float]]:
    """Time two pieces of work alternately, so that the machine's moods meet both."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, taken in zip((one, other), times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begin)
    return times


def _report(profile: str, what: str, process: list[float], warm: list[float]) -> None:
    for name, taken in ((what, process), ("sandbox", warm)):
        ordered = sorted(taken)
        median, high = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
        print(f"{profile}, {name}: median {median * 1000:.1f} ms, p95 {high * 1000:.1f} ms")


def _a_second(work: Callable[[], object], runs: int) -> float:
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        begin = time.perf_counter()
        for done in [threads.submit(work) for _ in range(runs)]:
            done.result()
        return runs / (time.perf_counter() - begin)


def _plain(command: list[str]) -> None:
    subprocess.run(command, check=True, env={}, stdin=subprocess.DEVNULL)


def _sandboxed(source: str, profile: sandbox.Profile = "plain") -> sandbox.Outcome:
    outcome = sandbox.run(source, profile=profile)
    if not outcome.ok:
        raise SystemExit(f"the program did not run: {outcome.reason}\n{outcome.stderr}")
    return outcome


if __name__ == "__main__":
    main()
