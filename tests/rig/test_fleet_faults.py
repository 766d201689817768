"""Faults of engines and nodes under a fleet: real Ray and Serve, virtual GPUs."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest
from refusals import refused
from rig.nodes import Rig, nodes
from statements import the

from perf.rig.faults import Fault
from perf.rig.weights import write_weights
from raybench.config import FleetConf
from raybench.engines.scheduler.messages import EngineNeed, MemoryBudget
from raybench.fleet import Fleet, cluster, open_fleet
from raybench.fleet.needs import nodes_of
from raybench.fleet.reservations import Reservations
from raybench.types import Message, ModelSpec, Request

pytestmark = pytest.mark.ray
QUICK = {
    "load_s": 0.5, "profile_s": 0.1, "step_s": 0.001, "prefill_tokens_per_s": 1e6,
    "sleep_s": 0.2, "wake_s": 0.2,
}  # fmt: skip
SLOW = {**QUICK, "step_s": 0.01, "reply_tokens": 100, "reply_spread": 0.0, "max_num_seqs": 8}
MODELS = ("first", "second", "third")
_PATIENCE_S = 300.0


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    """Keep two nodes: a with two GPUs, b with one."""
    with nodes([2, 1], 80) as started:
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("weights")
    for name in MODELS:
        write_weights(made / name, 14, **QUICK)
        write_weights(made / f"slow-{name}", 14, **SLOW)
    return made


@pytest.fixture(autouse=True)
def on_the_rig(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in rig.environment.items():
        monkeypatch.setenv(name, value)


def _models(folder: Path, *names: str) -> list[ModelSpec]:
    return [ModelSpec(name, "vllm", str(folder / name)) for name in names]


def _requests(count: int = 1) -> list[Request]:
    return [Request((Message("user", f"What is {it} + 2?"),), seed=1) for it in range(count)]


async def _texts(fleet: Fleet, model: str, count: int = 1) -> list[str]:
    """Return the texts of a model's replies, each of which has come once."""
    texts: dict[int, str] = {}
    async with aclosing(fleet.stream(model, _requests(count))) as replies:
        async for place, reply in replies:
            assert place not in texts
            assert reply.finish == "stop", reply
            texts[place] = reply.text
    return [texts[place] for place in range(count)]


async def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.1)


def _owners(rig: Rig, node: str) -> dict[str, list[str]]:
    """Return the replicas on each GPU of a node."""
    memory = rig.memory(node)
    return {device: sorted(memory.owners(device)) for device in memory.devices}


def _replied(rig: Rig, model: str) -> Mapping[str, int]:
    """Return how many replies each replica of a model gave."""
    return {name: count for name, count in rig.replies().items() if f"-{model}-" in name}


@pytest.mark.long(
    short="tests/rig/test_fleet_faults.py::"
    "test_engines_take_one_gpu_each_and_leave_the_third_to_others"
)
async def test_gpus_are_kept_from_others_until_they_are_given_up(rig: Rig) -> None:
    conf = FleetConf(address=rig.address, nodes={"rig": "a"})
    wanted = [EngineNeed("e", MemoryBudget(1.0), devices=2)]
    async with cluster.cluster(conf, print):
        there = nodes_of(await asyncio.to_thread(cluster.nodes, conf, gpu=True), conf, gpu=True)
        one, other = Reservations("one", gpu=True), Reservations("other", gpu=True)
        await one.reserve(there, _PATIENCE_S)
        with refused("resources.gpus"):
            await other.reserve(there, 0.5)
        assert await other.choose(wanted, conf, 0.5) == ()
        one.forget(one.devices)
        assert await other.choose(wanted, conf, _PATIENCE_S) == there


async def test_engines_take_one_gpu_each_and_leave_the_third_to_others(
    rig: Rig, folder: Path
) -> None:
    import ray

    conf = FleetConf(address=rig.address, nodes={"rig": "a"})
    async with open_fleet(_models(folder, "first", "second"), conf, print) as fleet:
        assert [len(await _texts(fleet, name)) for name in ("first", "second")] == [1, 1]
        assert sorted(len(names) for names in _owners(rig, "a").values()) == [1, 1]
        assert _owners(rig, "b") == {"0": []}
        await _until(lambda: ray.available_resources().get("GPU") == 1)


async def test_an_engine_that_ran_out_of_memory_is_loaded_again(rig: Rig, folder: Path) -> None:
    rig.faults.order(Fault("oom_at_load", "*-first-*"))
    said: list[str] = []
    conf = FleetConf(address=rig.address)
    async with open_fleet(_models(folder, "first"), conf, said.append) as fleet:
        assert len({*await _texts(fleet, "first", 5)}) == 5
    assert len(rig.faults.happened("oom_at_load")) == 1
    the("engine.load_failed", said)


async def test_engines_that_take_turns_are_loaded_once_and_wake_afterwards(
    rig: Rig, folder: Path
) -> None:
    rounds = 3
    rig.faults.order(Fault("slow_load"), times=len(MODELS) * rounds)  # a mark on each load
    conf = FleetConf(address=rig.address, nodes={"rig": "b"}, sleep_gib=100)
    async with open_fleet(_models(folder, *MODELS), conf, print) as fleet:
        texts = [[await _texts(fleet, name) for name in MODELS] for _ in range(rounds)]
        status = await fleet.controller.status.remote()
    assert texts == [texts[0]] * rounds
    assert status.swaps.loads == len(MODELS) * rounds  # wakes among them
    loads = Counter(rig.faults.happened("slow_load"))
    assert [*loads.values()] == [1] * len(MODELS)


async def test_one_engine_takes_the_gpus_of_all_nodes_where_that_pays(
    rig: Rig, folder: Path
) -> None:
    conf = FleetConf(address=rig.address, replicas="auto")
    (model,) = _models(folder, "slow-first")
    async with (
        open_fleet([model], conf, print) as fleet,
        aclosing(fleet.stream(model.name, _requests(5000))) as replies,
    ):
        async for _, reply in replies:
            assert reply.finish == "stop", reply
            if len(_replied(rig, model.name)) == 3:
                break
        used = {**_owners(rig, "a"), "b": _owners(rig, "b")["0"]}
    assert [len(names) for names in used.values()] == [1, 1, 1]


async def test_an_engine_whose_node_dies_is_loaded_on_the_one_that_comes_instead(
    rig: Rig, folder: Path
) -> None:
    conf = FleetConf(address=rig.address, nodes={"rig": "in(b,c)"})
    (model,) = _models(folder, "slow-first")
    async with open_fleet([model], conf, print) as fleet:
        undisturbed = await _texts(fleet, model.name, 40)
        (lost,) = _owners(rig, "b")["0"]
        count = rig.replies()[lost]
        asked = asyncio.create_task(_texts(fleet, model.name, 40))
        await _until(lambda: rig.replies()[lost] > count)
        await asyncio.to_thread(rig.kill, "b")
        async with asyncio.timeout(_PATIENCE_S):  # until its name is free
            while any(
                it.states for it in (await fleet.controller.status.remote()).engines.values()
            ):
                await asyncio.sleep(0.2)
        assert rig.add(1, 80) == "c"  # in this thread, with which the node will end
        assert await asked == undisturbed
        assert await _texts(fleet, model.name, 8) == undisturbed[:8]
        assert _owners(rig, "c")["0"] == [lost]  # deployed again under its name


@pytest.mark.long(
    short="tests/rig/test_fleet_faults.py::"
    "test_an_engine_whose_node_dies_is_loaded_on_the_one_that_comes_instead"
)
async def test_an_engine_whose_node_dies_takes_turns_on_the_others(rig: Rig, folder: Path) -> None:
    """Three engines, one on each GPU: two nodes, then one."""
    names = [f"slow-{name}" for name in MODELS]
    conf = FleetConf(address=rig.address, sleep_gib=100)
    async with open_fleet(_models(folder, *names), conf, print) as fleet:

        async def ask() -> list[list[str]]:
            return await asyncio.gather(*(_texts(fleet, name, 40) for name in names))

        undisturbed = await ask()
        (lost,) = _owners(rig, "c")["0"]
        count = rig.replies()[lost]
        asked = asyncio.create_task(ask())
        await _until(lambda: rig.replies()[lost] > count)
        await asyncio.to_thread(rig.kill, "c")
        assert await asked == undisturbed
