"""What becomes of a program that a game needs, before the sandbox has it and after."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raybench import sandbox
from raybench.games import Program
from raybench.games.parts import programs
from raybench.sandbox import Limits, Outcome


@given(st.text("0123456789abcdef", max_size=40), st.text("xyz ", max_size=9))
def test_a_secret_is_drawn_anew_where_it_stands_first(secret: str, rest: str) -> None:
    program = Program("print()", f"{rest}{secret}{rest}{secret}", secret=secret)
    sealed = programs.sealed(program)
    assert len(sealed.secret) == len(secret)
    assert sealed.stdin == f"{rest}{sealed.secret}{rest}{secret}"
    assert (sealed.source, sealed.seconds) == (program.source, program.seconds)
    if len(secret) > 20:
        assert sealed.secret != secret != programs.sealed(program).secret != sealed.secret


def test_its_time_bounds_what_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    given_limits = list[Limits]()

    def run(source: str, *, stdin: str, limits: Limits) -> Outcome:
        given_limits.append(limits)
        of: dict[str, Any] = {"backend": "namespaces", "python": "3.12", "kernel": "6.1"}
        of |= {"cpu_s": 0.1, "wall_s": 0.1, "memory_mb": 1.0}
        return Outcome(
            "error", "", 3, None, stdout=source, stderr=stdin, cut=(), limits=limits, **of
        )

    monkeypatch.setattr(sandbox, "run", run)
    program = Program("a", "b", seconds=2)
    told = json.loads(programs.brought(program, programs.run(program)))
    assert told == {"status": "error", "stdout": "a", "stderr": "b", "exit_code": 3}
    (limits,) = given_limits
    assert limits.cpu_s == limits.idle_s == 2 < limits.wall_s
    sealed = Program("a", "c0ffee", secret="c0ffee")
    assert json.loads(programs.brought(sealed, programs.run(sealed)))["secret"] == "c0ffee"
