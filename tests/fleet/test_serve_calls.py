"""Threads that ask Serve at once, with its own configurations, which get into each other's way."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from ray import serve
from ray.serve.config import RequestRouterConfig

from raybench.fleet.serve_calls import applications, deploy


def configured(found: Any = None) -> Callable[..., Any]:
    """Return what makes a configuration, as Serve does, whatever it is asked."""

    def call(*_: Any, **__: Any) -> Any:
        RequestRouterConfig()
        return found

    return call


def test_they_do_not_take_each_others_notes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "status", configured(SimpleNamespace(applications={})))
    monkeypatch.setattr(serve, "run_many", configured())

    def ask(number: int) -> None:
        if number % 2:
            deploy(lambda: SimpleNamespace(), f"app-{number}")
        else:
            assert applications() == {}

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(80)))
