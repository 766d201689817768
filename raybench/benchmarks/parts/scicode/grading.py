"""A step's code in the sandbox: what a reply is worth."""

import json
import re
import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from raybench import sandbox
from raybench.benchmarks.parts import harness
from raybench.benchmarks.parts.contract import Grade, Row, UngradableError
from raybench.benchmarks.parts.scicode import steps
from raybench.benchmarks.parts.scicode.split import Inseparable, Split, split
from raybench.grading import suspicion

LIMITS = sandbox.Limits(cpu_s=600, wall_s=1200, memory_mb=8192)
"""Solutions take 0.4 s in the middle and a minute at worst; 30 s fail some of them."""
_HERE = Path(__file__).parent
_SHOWN = 500
_TOLD = ("status", "cpu_s", "wall_s", "memory_mb", "crowded")
"""What the journal keeps of a run."""
_LIMITED = {
    "timeout": "it took too long",
    "memory": "it took too much memory",
    "output": "it wrote too much",
}


def graded(row: Row, code: str, targets: Sequence[Any], *, written: str | None = None) -> Grade:
    """Run a step's code, with what came before it, against its test cases.

    `written` is the code with its imports, in which suspicious names can be told.
    Targets are encoded (codec.py), None where a test case needs none. Raises UngradableError where
    the fault is not the code's.
    """
    sofar = steps.so_far(row)
    cases, dependencies = tuple(sofar[-1]["test_cases"]), str(row["required_dependencies"])
    scripts = _scripts(cases, dependencies, "\n".join(str(it["function_header"]) for it in sofar))
    candidate = {
        "dependencies": dependencies,
        "code": steps.program(row, code),
        "cases": scripts.candidate,
    }
    word = secrets.token_hex()  # by which the judge's verdict is known
    judge = {"cases": scripts.judge, "targets": list(targets), "word": word}
    outcome = sandbox.run(
        _program(),
        stdin="".join(f"{len(it.encode())}\n{it}" for it in map(json.dumps, (candidate, judge))),
        limits=LIMITS,
        profile="scientific",
    )
    correct, reason, case = _verdict(outcome, word)
    details = {name: getattr(outcome, name) for name in _TOLD} | outcome.place | {"case": case}
    found = suspicion.flags(f"{dependencies}\n{written or code}")
    return Grade(correct, reason, code, found, details)


def _verdict(outcome: sandbox.Outcome, word: str) -> tuple[bool, str, int | None]:
    """Return whether the code is right, why, and the test case that decided it."""
    if outcome.status in _LIMITED:
        return False, f"wrong: {_LIMITED[outcome.status]} ({outcome.reason})", None
    verdict = harness.told(outcome.stdout, word)
    if not verdict:
        # The judge cannot be talked to, but any process of one user can end another.
        if outcome.signal is not None or outcome.status == "killed":
            return False, "wrong: it ended the process that judges it", None
        raise UngradableError(f"the judge failed ({outcome.reason}): {outcome.stderr[-_SHOWN:]}")
    if verdict["fault"]:
        raise UngradableError(f"its test cases cannot be run: {verdict['fault']}")
    return verdict["correct"], verdict["reason"], verdict["case"]


@cache
def _scripts(cases: tuple[str, ...], dependencies: str, headers: str) -> Split:
    names = re.findall(r"^\s*(?:def|class)\s+(\w+)", headers, re.MULTILINE)
    try:
        return split(cases, dependencies, names)
    except (Inseparable, SyntaxError) as error:
        raise UngradableError(f"its test cases cannot be kept from its code: {error}") from error


@cache
def _program() -> str:
    """Return what the sandbox runs: this folder's three files for it, as one."""
    texts = [(_HERE / f"{name}.py").read_text() for name in ("codec", "compare", "harness")]
    lines = "\n".join(texts).splitlines()
    return "\n".join(it for it in lines if not it.startswith("from raybench.")) + "\n\nmain()\n"
