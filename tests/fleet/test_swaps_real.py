"""Two sets of weights on one slot, by real Ray and vLLM: requests gather, and faults heal.

The short form is in test_host_real.py, where a model of text and one of images take turns.
"""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from helpers import NEEDS_MODEL, engines_of_tests, half_depth, wait_for_silence

from raybench.config import FleetConf
from raybench.experiments.parts.taking_part import seen
from raybench.fleet import Fleet, group_engines, open_fleet
from raybench.tracking.console.models import Seen
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = [
    pytest.mark.engine,
    pytest.mark.long(
        short="tests/fleet/test_host_real.py"
        "::test_interleaved_requests_cost_one_swap_and_none_is_lost"
    ),
    pytest.mark.timeout(900),
    pytest.mark.asyncio(loop_scope="module"),
    NEEDS_MODEL,
]
REQUESTS = 200
ALONE = 20


@dataclass
class Scene:
    """The fleet, and the replies of earlier tests."""

    fleet: Fleet
    engines: dict[str, str]
    mixed: dict[str, list[Completion]]
    awake: str = ""
    """The model that answered last."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scene]:
    half = half_depth(tmp_path_factory.mktemp("weights") / "half")
    # In half of it a token may turn on what else is in the batch.
    exact = {"dtype": "float32"}
    models = [
        ModelSpec(name, "vllm", weights, options=exact)
        for name, weights in (("whole", "embedded"), ("half", half))
    ]
    conf = FleetConf(slots=1, kv_cache_gib=0.5)
    async with open_fleet(models, conf, lambda text: None) as fleet:
        engines = {engine.models[0].name: engine.name for engine in group_engines(models)}
        yield Scene(fleet, engines, {})
    assert not wait_for_silence()


def request(number: int, tokens: int = 16) -> Request:
    return Request((Message("user", f"Count to {number}."),), seed=number, max_tokens=tokens)


async def one(fleet: Fleet, model: str, number: int) -> Completion:
    (completion,) = await fleet.complete(model, [request(number)])
    return completion


async def swaps(fleet: Fleet) -> int:
    """Return the number of swaps so far: what the account has after two more reports."""
    reports, deadline = fleet.account.reports, time.monotonic() + 120
    while fleet.account.reports < reports + 2:
        assert time.monotonic() < deadline, "the controller does not report"
        await asyncio.sleep(0.1)
    return fleet.account.swaps.count


def lost(completions: list[Completion]) -> list[str | None]:
    return [reply.error for reply in completions if reply.finish not in ("stop", "length")]


async def looking(fleet: Fleet, looks: list[Seen]) -> None:
    """Look again and again at what the progress shows of the models."""
    while True:
        looks += seen(["whole", "half"], fleet.account, Counter(), None, True)
        await asyncio.sleep(0.5)


async def test_interleaved_requests_cost_few_swaps_and_none_is_lost(scene: Scene) -> None:
    models = ["whole", "half"] * (REQUESTS // 2)

    async def ask(number: int) -> Completion:
        completion = await one(scene.fleet, models[number], number)
        scene.awake = models[number]
        return completion

    looks: list[Seen] = []
    watch = asyncio.create_task(looking(scene.fleet, looks))
    completions = await asyncio.gather(*map(ask, range(REQUESTS)))
    watch.cancel()
    assert lost(completions) == []
    # A model whose engine is up has requests under way; the other has a queue. At the end none has.
    assert [it for it in looks if it.state == "awake" and it.under_way]
    assert [it for it in looks if it.state in ("waiting", "coming up") and it.queued]
    assert all(it.under_way + it.queued <= REQUESTS // 2 for it in looks)
    await swaps(scene.fleet)
    account = scene.fleet.account
    assert not any([*account.running.values(), *account.queued.values()])
    assert 1 <= await swaps(scene.fleet) <= 4
    for model, completion in zip(models, completions, strict=True):
        scene.mixed.setdefault(model, []).append(completion)
    # Each was asked, and the weights differ.
    assert [reply.text for reply in scene.mixed["whole"]] != [
        reply.text for reply in scene.mixed["half"]
    ]


async def test_asked_in_turn_a_request_costs_a_swap_and_is_answered_the_same(scene: Scene) -> None:
    before = await swaps(scene.fleet)
    for model in sorted(scene.mixed, key=lambda model: model != scene.awake):
        # Each had every other number, the whole one the even ones.
        numbers = range(model == "half", 2 * ALONE, 2)
        alone = [await one(scene.fleet, model, numbers[0])]
        naive = await swaps(scene.fleet) - before
        assert naive == (model != scene.awake)
        alone += await scene.fleet.complete(model, [request(number) for number in numbers[1:]])
        mixed = scene.mixed[model][:ALONE]
        assert [reply.text for reply in alone] == [reply.text for reply in mixed]
    scene.awake = model
    assert naive > 10 * before / REQUESTS


async def test_a_batch_outlives_the_engine_under_it(scene: Scene) -> None:
    before = await swaps(scene.fleet)
    (core,) = (
        process
        for process in engines_of_tests("VLLM::EngineCore")
        # On a GPU the other one sleeps in its own process.
        if scene.engines[scene.awake] in " ".join(process.parents()[0].cmdline())
    )
    # One ends after its first token, the others long after it.
    first, *others = [request(number, tokens=250 if number else 1) for number in range(9)]
    batch = asyncio.create_task(scene.fleet.complete(scene.awake, others))
    await scene.fleet.complete(scene.awake, [first])
    assert not batch.done()
    os.kill(core.pid, signal.SIGKILL)
    completions = await batch
    assert lost(completions) == []
    assert len(completions) == 8
    assert await swaps(scene.fleet) == before
    assert scene.fleet.account.failed == {}
