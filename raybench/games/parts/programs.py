"""How programs that games need are run: what one may use, and its outcome as the manager's move."""

import json
import secrets
from dataclasses import replace

from raybench import sandbox
from raybench.games.parts.needs import Program
from raybench.sandbox import Limits, Outcome

_CLOCK = 6.0
"""A program may take so much longer than its processor time: it is not alone on the machine. One
that only sleeps is stopped long before."""


def sealed(program: Program) -> Program:
    """Return the program with another secret, which nobody could foresee."""
    secret = secrets.token_hex(len(program.secret))[: len(program.secret)]
    stdin = program.stdin.replace(program.secret, secret, 1)
    return replace(program, stdin=stdin, secret=secret)


def run(program: Program) -> Outcome:
    """Run a program in the sandbox, and wait for it. Raises SandboxFaultError where that fails."""
    limits = Limits(
        cpu_s=program.seconds,
        wall_s=_CLOCK * program.seconds,
        idle_s=program.seconds,
        memory_mb=512,
        processes=16,
        output_kept_mb=0.05,
        output_killed_mb=4.0,
    )
    return sandbox.run(program.source, stdin=program.stdin, limits=limits)


def brought(program: Program, outcome: Outcome) -> str:
    """Return the outcome of a sealed program as the manager's move."""
    return json.dumps(
        {
            "status": outcome.status,
            "stdout": outcome.stdout,
            "stderr": outcome.stderr,
            "exit_code": outcome.exit_code,
            **({"secret": program.secret} if program.secret else {}),
        }
    )
