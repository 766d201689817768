"""Programs that a game needs are brought to positions as a match would have them."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest
from refusals import refused

from raybench import games, sandbox
from raybench.errors import Problem
from raybench.games import InvalidMove, State
from raybench.positions.parts import sandboxed
from raybench.positions.parts.sandboxed import played
from raybench.sandbox import Limits, Outcome, SandboxFaultError

JAIL = "def jail(user_input):\n    return eval(user_input)"


def jail() -> State:
    return games.load("pyjail").new(1).apply(JAIL)


def ended(status: Literal["ok", "timeout"], printed: str, limits: Limits) -> Outcome:
    used = {"cpu_s": 0.1, "wall_s": limits.wall_s if status == "timeout" else 0.1, "memory_mb": 1.0}
    of: dict[str, Any] = {"backend": "namespaces", "python": "3.12", "kernel": "6.1", **used}
    return Outcome(status, "", 0, None, stdout=printed, stderr="", cut=(), limits=limits, **of)


Run = Callable[..., Outcome]


def told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "run", run)


def test_it_is_played_until_no_program_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[str]()

    def run(source: str, *, stdin: str, limits: Limits) -> Outcome:
        given.append(stdin)
        return ended("ok", stdin, limits)

    told(run, monkeypatch)
    after = played(jail(), "1")
    assert after.to_move == "prisoner" and len({*given}) == 3, "three runs, each with its flag"
    assert played(games.load("pyjail").new(1), JAIL) == jail(), "nothing has to run"
    with pytest.raises(InvalidMove):
        played(jail(), "1" * 9_999)


def test_a_sandbox_that_fails_says_nothing_about_the_move(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: object, **__: object) -> Outcome:
        raise SandboxFaultError(Problem("sandbox.failed", "no processes left"))

    told(run, monkeypatch)
    with refused("sandbox.failed", kind=SandboxFaultError):
        played(jail(), "1")


def test_one_that_others_kept_from_the_processor_is_run_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lock, running, beside = threading.Lock(), list[str](), list[int]()
    late = {"kept"}

    def run(source: str, *, stdin: str, limits: Limits) -> Outcome:
        name = next(it for it in ("kept", "other") if f'"{it}"' in stdin)
        with lock:
            crowded = name in late
            running.append(name)
            late.discard(name)
            if name == "kept" and not crowded:
                beside.append(len(running))
        threading.Event().wait(0.02)
        with lock:
            running.remove(name)
            beside.append(-1)
        return ended("timeout" if crowded else "ok", "", limits)

    told(run, monkeypatch)
    monkeypatch.setattr(sandboxed, "_room", threading.Semaphore(sandboxed._PLACES))
    with ThreadPoolExecutor(6) as threads:
        states = [*threads.map(played, [jail()] * 6, ["kept", *["other"] * 5])]
    assert [it for it in beside if it > 0] == [1], "alone, and once"
    assert len(beside) == 8 and all("timeout" not in str(state) for state in states)


def test_what_only_an_arena_has_is_refused_with_the_mend() -> None:
    state, rng = games.load("debate").new(1), random.Random(1)
    with refused("setting.conflict"):
        while not state.over:
            state = played(state, state.good(rng))
    assert not state.over
