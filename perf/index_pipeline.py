"""What does the pipeline cost, and does its memory stay flat?

    python perf/index_pipeline.py [--units 12032 110000] [--data FOLDER]

Runs +experiment=index with a stand-in that answers at once, over MMLU-Pro where the folder (or
../shared/datasets) has it, and else over the shipped samples, whose short rows go quicker; asked as
often as makes about so many units. Prints for each size: units per second while the journal grows
from a tenth to nine tenths, and the most memory that the program and all processes it started held
together (their proportional set sizes, so that what they share counts once); then the ratio of the
last size's memory to the first's.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import psutil

_DATASETS = Path(__file__).parents[2] / "shared" / "datasets"
_LOOK_S = 0.25


class Measured(NamedTuple):
    """What one run showed."""

    units: int
    per_second: float
    peak_gib: float


def main() -> None:
    """Measure every size and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--units", type=int, nargs="+", default=[12_032, 110_000])
    parser.add_argument("--data", type=Path, default=_DATASETS, help="folder with MMLU-Pro")
    arguments = parser.parse_args()
    source, questions = _questions(arguments.data)
    print(f"{questions:,} questions again and again, of {' '.join(source)}", flush=True)
    seen = []
    for units in arguments.units:
        seen.append(found := measured(units, source, questions))
        print(
            f"{found.units:7,} units  {found.per_second:6,.0f} units/s  peak {found.peak_gib:.2f} "
            "GiB",
            flush=True,
        )
    if len(seen) > 1:
        print(f"peak memory, last / first: {seen[-1].peak_gib / seen[0].peak_gib:.2f}")


def measured(units: int, source: Sequence[str], questions: int) -> Measured:
    """Run about so many units and watch from outside."""
    repeats = max(1, round(units / questions))
    limit = min(questions, units // repeats)
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "raybench", "+experiment=index", *source]
        command += ["index.benchmarks=[mmlu_pro]", f"index.limit={limit}"]
        command += [f"index.repeats={repeats}", f"runs_dir={folder}", *_STAND_IN]
        with (Path(folder) / "said").open("w+") as said:
            program = subprocess.Popen(command, stdout=said, stderr=said)
            seen, peak = _watched(program, Path(folder))
            if program.wait():
                said.seek(0)
                raise SystemExit(said.read())
        (results,) = Path(folder).glob("index/*/results.json")
        done = json.loads(results.read_text())["run"]["units"]
    return Measured(done, _steady(seen, done), peak / 2**30)


def _watched(
    program: "subprocess.Popen[bytes]", folder: Path
) -> tuple[list[tuple[float, int]], int]:
    """Return how the journal grew, in bytes by time, and the peak of the memory."""
    seen: list[tuple[float, int]] = []
    peak = 0
    process = psutil.Process(program.pid)
    while program.poll() is None:
        for journal in folder.glob("index/*/journal/units.jsonl"):
            seen.append((time.monotonic(), journal.stat().st_size))
        with suppress(psutil.NoSuchProcess):
            family = [process, *process.children(recursive=True)]
            peak = max(peak, sum(map(_memory, family)))
        time.sleep(_LOOK_S)
    return seen, peak


def _memory(process: psutil.Process) -> int:
    with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
        return int(process.memory_full_info().pss)
    return 0


def _steady(seen: Sequence[tuple[float, int]], units: int) -> float:
    """Return the units per second of the middle eight tenths."""
    whole = seen[-1][1]
    begin = next(at for at, size in seen if size >= 0.1 * whole)
    end = next(at for at, size in seen if size >= 0.9 * whole)
    return 0.8 * units / max(end - begin, _LOOK_S)


def _questions(folder: Path) -> tuple[list[str], int]:
    if (folder / "mmlu_pro_test.jsonl").exists():
        return [f"data.dir={folder}"], 12_032
    return ["data=samples"], 14


_STAND_IN = ["roster=simulated", "roster.models=[{name: stand-in, engine: simulated}]"]

if __name__ == "__main__":
    main()
