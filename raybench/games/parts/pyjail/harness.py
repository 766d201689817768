"""How a text is run in a jail: the program that the sandbox gets, and what its outcome says.

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
from raybench.games.parts.quoting import exact
from raybench.statements import Statement

SOURCE = """\
import json, os, sys, traceback, types

def run(source, user_input):
    module = types.ModuleType("jail")
    sys.modules["jail"] = module
    try:
        code = compile(source, "jail.py", "exec", dont_inherit=True)
        del source
        exec(code, module.__dict__)
        returned = module.jail(user_input)
        if returned is not None:
            print(returned)
    except SystemExit:
        raise
    except BaseException as error:
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
    """Return the flag of one run of a match, where the manager draws none."""
    bits = random.Random(f"pyjail/{seed}/{number}").getrandbits(_BITS)
    return _flag(f"{bits:0{_BITS // 4}x}")


def _flag(digits: str) -> str:
    return f"flag{{{digits}}}"


def _digits(flag: str) -> str:
    return flag.removeprefix("flag{").removesuffix("}")


def program(source: str, tried: str, flag: str, seconds: float) -> Program:
    """Return what the sandbox is to run for a text that is tried."""
    given = {"flag": flag, "source": source, "input": tried}
    return Program(SOURCE, json.dumps(given), seconds, secret=_digits(flag))


def brought(move: str) -> Mapping[str, Any]:
    """Return the outcome in a move of the manager's.

    Raises InvalidMove where it is none, Unjudged where the sandbox had none.
    """
    try:
        outcome = json.loads(move)
    except (ValueError, RecursionError):
        outcome = None
    if not isinstance(outcome, dict) or "status" not in outcome:
        raise InvalidMove(
            Statement(
                "pyjail.no_outcome",
                'the outcome of the run is wanted: {{"status": …, "stdout": …}}',
            )
        )
    if outcome["status"] not in ENDED:
        raise Unjudged(
            Statement(
                "pyjail.sandbox_failed",
                "the sandbox brought no outcome: {reason}",
                reason=outcome.get("reason", "no reason given"),
            )
        )
    return outcome


def printed(outcome: Mapping[str, Any]) -> str:
    """Return what a run printed."""
    parts = [str(outcome.get(stream) or "") for stream in ("stdout", "stderr")]
    return "\n".join(part.rstrip("\n") for part in parts if part.strip())


def failed(outcome: Mapping[str, Any], opened: int, most: int) -> str:
    """Return what came of a try whose last run did not open the jail; so many before it did.

    What we say stands outside the quotation of what was printed, where no program can write it.
    """
    told = ["It did not open the jail."]
    if opened:
        told = [
            f"It opened the jail in {opened} of {opened + 1} runs; the last one did not open it."
        ]
    if outcome["status"] not in ("ok", "error"):
        told.append(f"That run was stopped ({outcome['status']}).")
    shown = printed(outcome).strip("\n")
    told.append(f"It printed:\n{exact(shown, most)}" if shown else "It printed nothing.")
    return " ".join(told)


def carried(outcome: Mapping[str, Any], flag: str) -> str:
    """Return the flag that a run had: that of the program, or one that the manager drew for it."""
    return _flag(secret) if (secret := str(outcome.get("secret") or "")) else flag


def opened(text: str, flag: str) -> bool:
    """Tell whether a flag stands in a text: spaced out and backwards count as well."""
    digits = _digits(flag)
    plain = _BESIDE.sub("", text).lower()
    return digits in plain or digits[::-1] in plain
