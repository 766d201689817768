"""How a try at a jail is run: the program that the sandbox gets, and what its outcome says.

The program is the same for everybody, so that no jail can tell its warden from its prisoner. Flag,
jail and input come as data on standard input, which is closed before the jail's code begins: the
flag lies in the environment, and nowhere else in the process where the jail did not put it.
"""

import json
import random
import re
from collections.abc import Mapping
from typing import Any

from raybench.games.parts.contract import InvalidMove, Program, Unjudged

SOURCE = """\
import json, os, sys, traceback, types

def run(source, user_input):
    module = types.ModuleType("jail")
    sys.modules["jail"] = module
    try:
        exec(compile(source, "jail.py", "exec", dont_inherit=True), module.__dict__)
        returned = module.jail(user_input)
        if returned is not None:
            print(returned)
    except Exception as error:
        inside = error.__traceback__.tb_next
        traceback.print_exception(type(error), error, inside)
        sys.exit(1)

given = json.loads(sys.stdin.read())
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
os.close(nothing)
os.environ["FLAG"] = given.pop("flag")
run(given.pop("source"), given.pop("input"))
"""
ENDED = ("ok", "error", "timeout", "memory", "output", "killed")
"""The sandbox's words for how a program ended."""
_BITS = 128
_BESIDE = re.compile(r"[\W_]+")


def flag(seed: int, number: int) -> str:
    """Return the flag of one run of a match."""
    bits = random.Random(f"pyjail/{seed}/{number}").getrandbits(_BITS)
    return f"flag{{{bits:0{_BITS // 4}x}}}"


def program(source: str, tried: str, flag: str, seconds: float) -> Program:
    """Return what the sandbox is to run for a try."""
    given = {"flag": flag, "source": source, "input": tried}
    return Program(SOURCE, json.dumps(given), seconds)


def brought(move: str) -> Mapping[str, Any]:
    """Return the outcome in a move of the manager's.

    Raises InvalidMove where it is none, Unjudged where the sandbox had none.
    """
    try:
        outcome = json.loads(move)
    except (ValueError, RecursionError):
        outcome = None
    if not isinstance(outcome, dict) or "status" not in outcome:
        raise InvalidMove('the outcome of the run is wanted: {"status": …, "stdout": …}')
    if outcome["status"] not in ENDED:
        raise Unjudged(
            f"the sandbox brought no outcome: {outcome.get('reason', 'no reason given')}"
        )
    return outcome


def printed(outcome: Mapping[str, Any]) -> str:
    """Return what a run printed, and how it ended where that was not by itself."""
    parts = [str(outcome.get(stream) or "") for stream in ("stdout", "stderr")]
    status = outcome["status"]
    if status not in ("ok", "error"):
        parts.append(f"(the run was stopped: {status})")
    return "\n".join(part.rstrip("\n") for part in parts if part.strip())


def opened(text: str, flag: str) -> bool:
    """Tell whether a flag stands in a text: spaced out and backwards count as well."""
    digits = flag.removeprefix("flag{").removesuffix("}")
    plain = _BESIDE.sub("", text).lower()
    return digits in plain or digits[::-1] in plain
