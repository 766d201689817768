"""How long a comparison of two large runs takes, and how much memory.

    python -m perf.compare [--units 100000] [--words 300] [--repeats 1]

Makes two runs of one model each with so many units, whose replies have so many words, and compares
them as a person would: table, page and JSON. Prints seconds and the most memory that the process
held, and for reference what reading the journals alone takes.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BENCHMARKS = ("mmlu_pro", "math_500", "gpqa_diamond")


def main() -> None:
    """Make the runs, compare them in a process of its own, and print what that took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [Path(folder) / name for name in ("a", "b")]
        for seed, run in enumerate(runs):
            _make(run, args.units, args.words, args.repeats, seed)
        size = sum((run / "journal/units.jsonl").stat().st_size for run in runs)
        began = time.monotonic()
        for run in runs:
            with (run / "journal/units.jsonl").open("rb") as lines:
                for line in lines:
                    json.loads(line)
        reading = time.monotonic() - began
        began = time.monotonic()
        command = [sys.executable, "-m", "raybench.compare", *map(str, runs), "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        took = time.monotonic() - began
        page = (Path(folder) / "compare.html").stat().st_size
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print("\n".join(line for line in done.stdout.splitlines() if "against" in line))
    print(
        f"2 × {args.units:,} units, {size / 1e6:,.0f} MB: {took:.1f} s and {peak:,.0f} MiB at most"
        f"; parsing the lines alone takes {reading:.1f} s; the page has {page / 1e6:.1f} MB"
    )


def _make(run: Path, units: int, words: int, repeats: int, seed: int) -> None:
    rng = random.Random(seed)
    (run / "journal").mkdir(parents=True)
    roster = {"name": "r", "models": [{"name": "m", "engine": "vllm", "weights": f"org/{seed}"}]}
    config = {"experiment": "index", "seed": 0, "roster": roster, "data": {"source": "samples"}}
    (run / "config.yaml").write_text(json.dumps(config))
    text = " ".join(f"word{rng.randrange(1000)}" for _ in range(words))
    with (run / "journal/units.jsonl").open("w") as file:
        for number in range(units):
            question, repeat = divmod(number, repeats)
            right = rng.random() < 0.5 + 0.01 * seed
            record = {
                "model": "m", "benchmark": BENCHMARKS[question % len(BENCHMARKS)],
                "key": f"question-{question}", "language": "en", "subject": "math",
                "cluster": None, "repeat": repeat, "reused": False, "response": text,
                "reasoning": "", "finish": "stop", "error": None, "prompt_tokens": 100,
                "output_tokens": words, "correct": right, "answer": "A" if right else "B",
                "reason": "right" if right else "wrong", "by": "script", "judge_error": None,
                "truth": "A",
            }  # fmt: skip
            file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
