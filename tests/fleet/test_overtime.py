"""When a request is ended: by what the model has worked on it, and never by a wait."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from raybench.fleet.overtime import ended_in_time, worked

pytestmark = pytest.mark.virtual_time


class Engine:
    """Keeps one request, as vLLM's client does; each look at it is a step of its clock."""

    def __init__(self, written: Callable[[int], tuple[float, float] | None]) -> None:
        """`written` tells, by the number of the look, the first step and the last token."""
        self._written = written
        self.looks = 0
        self.aborted = asyncio.Event()
        self.output_processor = self
        self.external_req_ids = {"asked": ["asked-1"]}
        self.request_states = self

    def get(self, name: str) -> Any:
        assert name == "asked-1"
        self.looks += 1
        stats = self._written(self.looks)
        if stats is None:
            return SimpleNamespace(stats=SimpleNamespace(scheduled_ts=0.0, last_token_ts=0.0))
        return SimpleNamespace(stats=SimpleNamespace(scheduled_ts=stats[0], last_token_ts=stats[1]))

    async def abort(self, request: str) -> None:
        assert request == "asked"
        self.aborted.set()


async def test_it_is_ended_when_the_model_has_worked_for_so_long() -> None:
    """It was in the queue at first, and then the clock that counts is that of its tokens."""
    engine = Engine(lambda look: None if look < 4 else (100.0, 100.0 + (look - 3) * 0.04))
    async with ended_in_time(engine, "asked", 0.1):
        await engine.aborted.wait()
    assert engine.looks == 6  # 0.12 s after its first step


async def test_an_abort_that_has_begun_is_not_cut_off() -> None:
    """Told to its client only, the engine would write on for nobody."""
    ended = asyncio.Event()

    class Slow(Engine):
        async def abort(self, request: str) -> None:
            self.aborted.set()
            await asyncio.sleep(0.1)
            ended.set()

    engine = Slow(lambda look: (100.0, 200.0))
    async with ended_in_time(engine, "asked", 0.01):
        await engine.aborted.wait()
    await ended.wait()


async def test_a_deadline_that_cannot_be_kept_is_told(caplog: pytest.LogCaptureFixture) -> None:
    async with ended_in_time(SimpleNamespace(), "asked", 0.01):
        await asyncio.sleep(0.2)
    assert [it.levelname for it in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(
    "written", [lambda look: None, lambda look: (100.0, 100.02)], ids=["queued", "hung"]
)
async def test_who_waits_or_hangs_is_not_ended(
    written: Callable[[int], tuple[float, float] | None],
) -> None:
    engine = Engine(written)
    async with ended_in_time(engine, "asked", 0.03):
        while engine.looks < 5:
            await asyncio.sleep(0.01)
    assert not engine.aborted.is_set()


async def test_a_request_that_has_ended_is_not_looked_at() -> None:
    engine = Engine(lambda look: (100.0, 200.0))
    async with ended_in_time(engine, "asked", 0.01):
        pass
    await asyncio.sleep(600)
    assert (engine.looks, engine.aborted.is_set()) == (0, False)
    async with ended_in_time(engine, "asked", None):
        await asyncio.sleep(600)
    assert engine.looks == 0


def test_an_engine_that_counts_nothing_tells_of_no_work() -> None:
    state = SimpleNamespace(stats=None)
    kept = SimpleNamespace(external_req_ids={"a": ["a-1"]}, request_states={"a-1": state})
    engine = SimpleNamespace(output_processor=kept)
    assert worked(engine, "a") == worked(engine, "not there") == 0.0
