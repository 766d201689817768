"""What starting a Ray does to the process that starts it."""

import ctypes
import os
import signal
import threading
from typing import Any

import pytest
import ray

from raybench.fleet import cluster
from raybench.fleet.devices import OWN


def test_sigterm_while_ray_starts_is_for_whoever_handled_it_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ray's own handler ends a driver with exit code 15."""
    heard: list[str] = []

    def init(**given: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: heard.append("Ray"))
        thread = threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGTERM))
        thread.start()
        thread.join()
        # As Ray's core does, past Python's module.
        ctypes.CDLL(None).signal(int(signal.SIGTERM), int(signal.SIG_IGN))

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(cluster, "close_token", lambda: None)
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("raybench"))
    unblocked = threading.Event()
    waiting = threading.Thread(target=unblocked.wait)
    waiting.start()  # with SIGTERM unblocked, as threads that began earlier have it
    try:
        cluster._init(OWN)
        assert heard == ["raybench"]
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard == ["raybench", "raybench"]
    finally:
        signal.signal(signal.SIGTERM, before)
        unblocked.set()
        waiting.join()
