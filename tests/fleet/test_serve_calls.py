"""Threads that ask Serve at once, with its own configurations, which get into each other's way."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from raybench.fleet.serve_calls import applications, deploy

_THREADS = 8


def test_they_ask_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from ray import serve  # half a second, for the one worker that runs this

    inside, together, asking = 0, 0, threading.Barrier(_THREADS)

    def serves(*_: Any, **__: Any) -> Any:
        nonlocal inside, together
        inside += 1
        together = max(together, inside)
        threading.Event().wait(0.005)  # any other thread that may come in does so meanwhile
        inside -= 1
        return SimpleNamespace(applications={})

    monkeypatch.setattr(serve, "status", serves)
    monkeypatch.setattr(serve, "run_many", serves)

    def ask(number: int) -> None:
        asking.wait()
        if number % 2:
            deploy(lambda: SimpleNamespace(), f"app-{number}")
        else:
            assert applications() == {}

    with ThreadPoolExecutor(_THREADS) as pool:
        list(pool.map(ask, range(_THREADS)))
    assert together == 1
