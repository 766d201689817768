"""Where does the improved grader of mathematics decide other than parity's, and how fast is it?

    python -m perf.grading_improved [--half development] [--most PAIRS] [--show PAIRS]

Pairs are those of perf/math_pairs.py: gold answers of the datasets beside this repository against
rewritten forms, typical mistakes, other gold answers and expressions from solutions. Who is right
where the two differ, a person has to see: --show prints that many such pairs.

Prints both graders' decisions against each other, pairs per second of both, and the slowest of the
hostile pairs, in seconds of one core.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable

from perf import data
from perf.math_pairs import Pair, chosen, hostile
from raybench.grading import math as parity
from raybench.grading.improved import maths as improved


def main() -> None:
    """Print the decisions against each other, the speeds and the slowest hostile pair."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    data.add_folder(parser)
    parser.add_argument("--half", choices=("development", "held-out"), default="held-out")
    parser.add_argument("--most", type=int, default=10_000, metavar="PAIRS")
    parser.add_argument("--show", type=int, default=0, metavar="PAIRS")
    arguments = parser.parse_args()
    these = chosen(arguments.data, arguments.half, arguments.most)
    theirs, their_seconds = _decided(parity.decide, these)
    ours, our_seconds = _decided(improved.decide, these)
    for (their, our), count in Counter(zip(theirs, ours, strict=True)).most_common():
        print(f"{count:7}  parity {their:9}  improved {our}")
    n = len(these)
    print(f"pairs/s: parity {n / their_seconds:.0f}, improved {n / our_seconds:.0f}")
    differing = [
        (pair, their, our)
        for pair, their, our in zip(these, theirs, ours, strict=True)
        if (their == "right") != (our == "right")
    ]
    for (given, truth), their, our in differing[: arguments.show]:
        print(f"  parity {their:9}  improved {our:9}  given {given!r}  truth {truth!r}")
    slowest = max((_decided(improved.decide, [pair])[1], pair) for pair in hostile())
    print(f"hostile pairs: the slowest {slowest[0]:.2f} s ({slowest[1][0][:50]!r})")


def _decided(decide: Callable[[str, str], str], these: list[Pair]) -> tuple[list[str], float]:
    begun = time.process_time()
    decisions = [decide(*pair) for pair in these]
    return decisions, time.process_time() - begun


if __name__ == "__main__":
    main()
