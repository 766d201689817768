"""What do swaps cost a peer assessment of real engines that take turns on one slot?

    python -m perf.autobench_swaps                                        half an hour
    python -m perf.autobench_swaps --one-by-one 2 --side-by-side 2 8 32

Runs `python -m raybench +experiment=autobench` on two real engines of which one may be awake at a
time (`fleet.slots=1`): the embedded model and one made of its first half. First with iterations one
after the other (`autobench.at_once=1`), then with all of them at once, for each of several numbers
of iterations. Prints how often engines were swapped, how long that took, the whole time, and what
an iteration of it costs. A swap on a CPU is an engine's whole start; the waits for one another are
those of any device.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

_LINE = "{:>18} {:>10} {:>7} {:>16} {:>12} {:>9} {:>16}"
_SAMPLING = {"temperature": 0.5, "max_tokens": 32}


class Measured(NamedTuple):
    """What a run took."""

    swaps: int
    swapping_s: float
    seconds: float


def main() -> None:
    """Print a line per run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--one-by-one", type=int, nargs="+", default=[3])
    parser.add_argument("--side-by-side", type=int, nargs="+", default=[3, 12])
    arguments = parser.parse_args()
    heads = "under way", "iterations", "swaps", "an iteration", "swapping s", "whole s"
    print(_LINE.format(*heads, "s an iteration"))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_roster(home)
        for at_once, lengths in ((1, arguments.one_by_one), (None, arguments.side_by_side)):
            for iterations in lengths:
                found = played(home, iterations, at_once)
                print(
                    _LINE.format(
                        "one by one" if at_once else "all at once",
                        iterations,
                        found.swaps,
                        f"{found.swaps / iterations:.2f}",
                        f"{found.swapping_s:.0f}",
                        f"{found.seconds:.0f}",
                        f"{found.seconds / iterations:.1f}",
                    ),
                    flush=True,
                )


def write_roster(home: Path) -> None:
    """Write a roster of the embedded model and its first half."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    from helpers import half_depth

    weights = {"whole": "embedded", "half": half_depth(home / "half")}
    roster: dict[str, Any] = {
        "name": "two",
        "models": [
            {"name": name, "weights": of, "images": False, "sampling": _SAMPLING}
            for name, of in weights.items()
        ],
    }
    (home / "conf" / "roster").mkdir(parents=True)
    (home / "conf" / "roster" / "two.yaml").write_text(json.dumps(roster))  # JSON is YAML


def played(home: Path, iterations: int, at_once: int | None) -> Measured:
    """Play so many iterations, and return what that took."""
    runs = home / f"runs-{iterations}-{at_once}"
    command = [
        sys.executable, "-m", "raybench", "--config-dir", str(home / "conf"),
        "+experiment=autobench", "roster=two", "fleet.slots=1", "fleet.kv_cache_gib=0.5",
        f"autobench.iterations={iterations}", f"autobench.at_once={at_once or 'null'}",
        # Engines this small give low ratings: so that most tasks pass, and some do not.
        "autobench.mean_threshold=1", "autobench.median_threshold=0.9",
        "autobench.rating_temperature=0.4", "autobench.fenced=false",
        "autobench.task_tokens=64",
        f"runs_dir={runs}",
    ]  # fmt: skip
    begun = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True)
    seconds = time.monotonic() - begun
    if ended.returncode:
        raise SystemExit(ended.stderr)
    (results,) = runs.glob("autobench/*/results.json")
    account = json.loads(results.read_text())["fleet"]["this_session"]["total"]
    return Measured(account["swaps"], account["swap_seconds"], seconds)


if __name__ == "__main__":
    main()
