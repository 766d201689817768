"""The long form, by hand: python -m tests.fuzz --seconds 600 [--only NAME] [--seed N] | --sweep.

It tries every parser in turn until the time is up, and tells how many texts each was given.
"""

import argparse
import random
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from fuzz.parsers import registry  # noqa: E402
from fuzz.trying import attempts, sweep  # noqa: E402

_ROUND, _HEAVY = 400, 60  # texts in a row


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--seconds", type=float, default=600)
    asked.add_argument("--only", default="", help="parsers whose name has this in it")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument(
        "--sweep", action="store_true", help="every piece again and again behind each other, once"
    )
    told = asked.parse_args()
    parsers = [it for it in registry() if told.only in it.name]
    counts = {it.name: 0 for it in parsers}
    failed: dict[str, str] = {}
    begun, rng = time.monotonic(), random.Random(told.seed)
    for parser in parsers if told.sweep else ():
        counts[parser.name], failed[parser.name] = sweep(parser)
        wrong = failed[parser.name]
        print(f"{parser.name:45} {counts[parser.name]:10,}  {wrong}", file=sys.stderr, flush=True)
    failed = {name: wrong for name, wrong in failed.items() if wrong}
    while not told.sweep and time.monotonic() - begun < told.seconds and len(failed) < len(parsers):
        for parser in parsers:
            if parser.name not in failed and time.monotonic() - begun < told.seconds:
                count, wrong = attempts(parser, _HEAVY if parser.heavy else _ROUND, rng)
                counts[parser.name] += count
                if wrong:
                    failed[parser.name] = wrong
                    print(f"{parser.name}: {wrong}", file=sys.stderr, flush=True)
    print(f"{'parser':45} {'texts':>10}  failed")
    for name, count in counts.items():
        print(f"{name:45} {count:10,}  {'yes' if name in failed else ''}")
    print(f"{len(parsers)} parsers, {sum(counts.values()):,} texts, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
