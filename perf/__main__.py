"""All that is held against others and against limits, and the page of what came of it.

    python -m perf [NAME ...]         those scripts, or all of them; then perf/RESULTS.md
    python -m perf --page             the page alone, of what was measured before

Each script is a process of its own, and keeps what it found in perf/results/.
"""

import argparse
import subprocess
import sys

from perf.results import HERE, PAGE, page

EVIDENCE = {
    "static": ["--questions", "500", "1000", "--rounds", "3"],
    "orchestration": ["--rows", "12000", "110000", "--rounds", "3"],
    "grading_math": ["--pairs", "2000", "10000"],
    "sandbox": ["--runs", "100", "400"],
    "games_pool": [],
    "ratings": ["--matches", "10000", "100000", "1000000"],
    "autobench_order": ["--iterations", "50", "100", "200"],
}
"""The scripts, with what each is given for the page."""


def main() -> int:
    """Run them one after the other; return 1 where one fails, with the others' results told."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", default=[*EVIDENCE])
    parser.add_argument("--page", action="store_true", help="measure nothing")
    asked = parser.parse_args()
    if unknown := set(asked.names) - EVIDENCE.keys():
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(EVIDENCE)}")
    # As users have us, and as peers are installed.
    subprocess.run([sys.executable, "-m", "compileall", "-q", "raybench"], cwd=HERE.parent)
    failed = []
    for name in [] if asked.page else asked.names:
        print(f"--- {name}", flush=True)
        done = subprocess.run(
            [sys.executable, "-m", f"perf.{name}", *EVIDENCE[name], "--keep"],
            cwd=HERE.parent, check=False,
        )  # fmt: skip
        failed += [name] * bool(done.returncode)
    if asked.page or len(failed) < len(asked.names):
        PAGE.write_text(page())
    if failed:
        print(f"Failed: {', '.join(failed)}; its last words stand above", file=sys.stderr)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
