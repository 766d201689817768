"""Decides pairs of answers by what its environment has, and says how long each took.

    PYTHON grading.py NAME [CHECKOUT] < PAIRS

It runs in the peers' own environments, so it needs nothing but them. A line of PAIRS is a JSON list
of the given and the true answer. First comes an empty line, when everything is imported; then, as
soon as it is decided, a line for each pair: whether it is right, a JSON boolean or null where
nobody can tell, and the processor seconds that it took.
"""

import json
import logging
import resource
import sys
import time
import warnings
from collections.abc import Callable

_MEMORY = 4 << 30
"""Some of those that a hostile answer stops would take all there is."""
_DELIMITERS = ("$", r"\(", r"\[", r"\boxed")
Decide = Callable[[str, str], bool | None]


def raybench() -> Decide:
    """Decide as benchmarks do."""
    from raybench.grading.math import decide

    told: dict[str, bool | None] = {"right": True, "wrong": False}
    return lambda given, truth: told.get(decide(given, truth))


def math_verify() -> Decide:
    """Read both as its users do, as LaTeX between dollar signs, and compare them.

    It has time limits of its own, 5 s for each reading and for the comparison.
    """
    from math_verify import parse, verify  # type: ignore[import-not-found]

    logging.disable(logging.ERROR)

    def read(answer: str) -> object:
        return parse(answer if any(it in answer for it in _DELIMITERS) else f"${answer}$")

    return lambda given, truth: bool(verify(read(truth), read(given)))


def prm800k() -> Decide:
    """Have the script's own code decide."""
    warnings.simplefilter("ignore")  # it writes its patterns in plain strings
    logging.disable(logging.WARNING)  # and its LaTeX reader says what it could not fill in
    sys.path.insert(0, f"{sys.argv[2]}/prm800k")
    from grading.grader import grade_answer  # type: ignore[import-not-found]

    return lambda given, truth: bool(grade_answer(given, truth))


def main() -> None:
    """Decide them one after the other."""
    made = {"raybench": raybench, "math-verify": math_verify, "prm800k": prm800k}
    sys.path.remove(sys.path[0])  # this folder, where a module has the name of the script's package
    decide = made[sys.argv[1]]()
    for pair in (("1+x", "x+1"), (r"\sqrt{3+2\sqrt{2}}", r"1+\sqrt{2}")):
        decide(*pair)  # what is imported or cached by the first that needs it: sympy by the second
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    print(flush=True)
    for line in sys.stdin:
        given, truth = json.loads(line)
        begun = time.process_time()
        try:
            right = decide(given, truth)
        except Exception:  # whatever hostile answers may have raised
            right = None
        print(json.dumps([right, time.process_time() - begun]), flush=True)


if __name__ == "__main__":
    main()
