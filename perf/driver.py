"""What a plan and a run cost their driver, the process of the command itself, in CPU seconds.

    python perf/driver.py [--than CHECKOUT] [--times 3] [--plans] [NAME …]

Everything is simulated, so that little is left but starting, asking, statistics and the report. The
least of all times counts, as other work on a machine only ever adds, to CPU seconds too. What Ray's
processes take is not the driver's. `--than` measures another checkout of raybench in turns with
this one, and tells the ratio; `--plans` leaves out the runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]
ARGUMENTS = {
    "autobench": (),
    "index": ("data=samples", "benchmarks=[mmlu_pro,gpqa_diamond]"),
    "hle": ("data=samples",),
    "games": ("matches=100",),
}
_SAYS = """
import resource, sys
from raybench.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print("CPU", used.ru_utime + used.ru_stime, file=sys.stderr)
"""


def main() -> None:
    """Measure, and print a line for each command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(ARGUMENTS), metavar="NAME")
    parser.add_argument("--than", type=Path, help="another checkout")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--plans", action="store_true")
    args = parser.parse_args()
    checkouts = [HERE, *([args.than.absolute()] if args.than else [])]
    for name in args.names:
        command = [f"+experiment={name}", "roster=simulated", *ARGUMENTS.get(name, ())]
        for what, rest in {"plan": ["dry_run=true"], "run": []}.items():
            if what == "run" and args.plans:
                continue
            rounds = [
                [_cpu_s(checkout, [*command, *rest]) for checkout in checkouts]
                for _ in range(args.times)
            ]
            least = [min(times) for times in zip(*rounds, strict=True)]
            told = f"{name:<12} {what:<5} {least[0]:6.2f} s"
            if args.than:
                told += f"   there {least[1]:6.2f} s   {least[0] / least[1]:.2f} of that"
            print(told, flush=True)


def _cpu_s(checkout: Path, arguments: list[str]) -> float:
    """Return the CPU seconds of a driver that does this from beginning to end."""
    environment = {**os.environ, "PYTHONPATH": str(checkout), "RAYBENCH_TRACKING_SEND": "later"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _SAYS, *arguments],
            cwd=folder, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed in {checkout}:\n{done.stderr}")
    return float(done.stderr.rpartition("CPU ")[2])


if __name__ == "__main__":
    main()
