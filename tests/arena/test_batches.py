"""Requests of many matches travel together, and nobody waits for another one's reply."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from raybench.arena import batches
from raybench.arena.batches import Batches
from raybench.engines.base import Placed
from raybench.fleet import Fleet, group_engines
from raybench.fleet.simulated import SimulatedEngine
from raybench.types import Completion, EngineKind, Message, ModelSpec, Request


class Slow(SimulatedEngine):
    """Answers the words of a request after so many steps of the loop."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def complete(self, model: ModelSpec, requests: Sequence[Request]) -> list[Completion]:
        return [reply async for _, reply in self.stream(model, requests)]

    async def stream(self, model: ModelSpec, requests: Sequence[Request]) -> AsyncGenerator[Placed]:
        asked = [it.messages[0].content for it in requests]
        self.calls.append(asked)
        if "broken" in asked:
            raise ValueError("the engine is broken")
        for place in sorted(range(len(asked)), key=lambda it: int(asked[it])):
            for _ in range(int(asked[place])):
                await asyncio.sleep(0)
            yield place, Completion(asked[place], "stop")


def fleet_of(engine: Slow, kind: EngineKind = "vllm") -> Fleet:
    """Two models, whose engines are asked in this process whatever their kind."""
    specs = group_engines([ModelSpec(name, kind, name) for name in "ab"])
    return Fleet(specs, {spec.name: engine for spec in specs})


def ask(text: str) -> Request:
    return Request((Message("user", text),), seed=0)


async def steps(count: int) -> None:
    """Let the loop make so many steps, however long they take."""
    for _ in range(count):
        await asyncio.sleep(0)


async def test_what_is_asked_in_one_moment_goes_in_one_call() -> None:
    engine = Slow()
    asking = Batches(fleet_of(engine))
    replies = await asyncio.gather(*(asking.ask("a", ask(str(n))) for n in range(5)))
    assert [it.text for it in replies] == ["0", "1", "2", "3", "4"]
    assert [sorted(call) for call in engine.calls] == [["0", "1", "2", "3", "4"]]


async def test_stand_ins_and_endpoints_are_asked_one_by_one() -> None:
    engine = Slow()
    asking = Batches(fleet_of(engine, "simulated"))
    replies = await asyncio.gather(*(asking.ask("a", ask(str(n))) for n in range(3)))
    assert [it.text for it in replies] == ["0", "1", "2"]
    assert engine.calls == [["0"], ["1"], ["2"]]


async def test_models_have_calls_of_their_own() -> None:
    engine = Slow()
    asking = Batches(fleet_of(engine))
    await asyncio.gather(asking.ask("a", ask("1")), asking.ask("b", ask("2")))
    assert sorted(engine.calls) == [["1"], ["2"]]


async def test_a_reply_comes_before_slower_ones_of_its_call() -> None:
    asking = Batches(fleet_of(Slow()))
    slow = asyncio.ensure_future(asking.ask("a", ask("100000")))
    assert (await asking.ask("a", ask("1"))).text == "1"
    assert not slow.done()
    await asking.close()
    with pytest.raises(asyncio.CancelledError):
        await slow


async def test_where_many_calls_are_under_way_requests_wait_for_one_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batches, "_CALLS", 1)
    engine = Slow()
    asking = Batches(fleet_of(engine))
    first = asyncio.ensure_future(asking.ask("a", ask("5000")))
    await steps(50)
    others = []
    for _ in range(3):
        others.append(asyncio.ensure_future(asking.ask("a", ask("0"))))
        await steps(50)
    await asyncio.gather(first, *others)
    assert engine.calls == [["5000"], ["0"] * 3]


async def test_an_error_reaches_everybody_who_waits() -> None:
    asking = Batches(fleet_of(Slow()))
    found = await asyncio.gather(
        asking.ask("a", ask("broken")), asking.ask("a", ask("1")), return_exceptions=True
    )
    assert [type(it) for it in found] == [ValueError] * 2


async def test_who_no_longer_waits_is_not_asked_for() -> None:
    engine = Slow()
    asking = Batches(fleet_of(engine))
    gone = asyncio.ensure_future(asking.ask("a", ask("1")))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    assert (await asking.ask("a", ask("2"))).text == "2"
    assert ["2"] in engine.calls
