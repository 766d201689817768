"""The rig's replica and its NVML, as raybench's own code sees them."""

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from virtual_time import now

from perf.rig import node
from perf.rig.devices import GIB, SharedDeviceMemory
from perf.rig.engine import GARBAGE
from perf.rig.faults import Fault
from perf.rig.nvml import pynvml
from perf.rig.replica import VirtualReplica
from perf.rig.weights import profile_of, write_weights
from raybench.config import FleetConf
from raybench.fleet.deployment import SERVER_CLASS, Engine
from raybench.fleet.engines import group_engines
from raybench.fleet.gpus import gpus_gib
from raybench.fleet.llm_config import Place, llm_config
from raybench.types import Completion, Message, ModelSpec, Request

pytestmark = pytest.mark.virtual_time
PROFILE: dict[str, Any] = {"load_s": 60, "reply_tokens": 100, "reply_spread": 0.0}
TWO = ("0", "1")


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SharedDeviceMemory:
    """Make this process one of a node with two GPUs."""
    for name, value in {node.FOLDER: str(tmp_path), node.NODE: "a"}.items():
        monkeypatch.setenv(name, value)
    SharedDeviceMemory.create(node.memory_file(tmp_path, "a"), {"0": 80.0, "1": 24.0})
    return node.memory()


def _config(folder: Path, *gpus: str, gib: float = 10, **options: Any) -> dict[str, Any]:
    """Return what raybench gives to Ray for an engine that has these GPUs."""
    model = ModelSpec("m", "vllm", write_weights(folder, gib, **PROFILE), options=options)
    (engine,) = group_engines([model])
    return llm_config(engine, FleetConf(), gpu=True, place=Place("a1b2", gpus, 0.9))


async def _started(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> VirtualReplica:
    """Make a replica as Serve does: its environment, its class, its constructor."""
    for name, value in config["runtime_env"]["env_vars"].items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(SERVER_CLASS, "perf.rig.replica:VirtualReplica")
    server = Engine.__new__(Engine)
    assert isinstance(server, VirtualReplica)
    await server.__init__(config, 600.0, controller(True))  # type: ignore[misc]
    return server


def controller(answer: bool) -> Any:
    """Return the handle of a controller that answers this to replicas that want to load."""

    async def begin_load(replica: str) -> bool:
        return answer

    return SimpleNamespace(begin_load=SimpleNamespace(remote=begin_load))


def _request(text: str, **given: Any) -> Request:
    return Request((Message("user", text),), seed=1, **given)


async def _answers(server: VirtualReplica, *requests: Request) -> list[Completion]:
    found: dict[int, Completion] = {}
    async for group in server.stream(requests):
        found |= dict(event for event in group if isinstance(event, tuple))
    return [found[place] for place in range(len(requests))]


async def _one(server: VirtualReplica, text: str, **given: Any) -> Completion:
    (completion,) = await _answers(server, _request(text, **given))
    return completion


async def test_it_starts_where_and_as_it_is_told(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = now()
    config = _config(tmp_path / "w", "1", gib=10)
    await _started(config, monkeypatch)
    assert now() - began == 60
    (name,) = memory.owners("1")
    assert name == config["model_loading_config"]["model_id"] and memory.owners("0") == {}
    assert memory.owners("1")[name] / GIB == pytest.approx(0.9 * 24 + 0.6)


async def test_an_engine_s_options_are_its_profile(tmp_path: Path) -> None:
    options = {"max_num_seqs": 7, "max_model_len": 900, "kv_cache_memory_bytes": 2 * GIB}
    profile = profile_of(_config(tmp_path / "w", *TWO, gib=30, **options))
    assert (profile.model, profile.weights_gib, profile.load_s) == ("w", 30, 60)
    assert (profile.max_num_seqs, profile.max_model_len, profile.kv_gib) == (7, 900, 2)
    assert profile.gpu_memory_utilization == 0.9
    assert profile_of(_config(tmp_path / "v")).max_model_len == 32_768


async def test_weights_take_no_space_on_the_disk(tmp_path: Path) -> None:
    file = Path(write_weights(tmp_path / "w", 140)) / "model.safetensors"
    assert file.stat().st_size == 140 * GIB and file.stat().st_blocks < 100


async def test_a_start_that_fails_says_why(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.take("somebody", "0", "weights", 40 * GIB)
    config = _config(tmp_path / "w", "0")
    with pytest.raises(RuntimeError) as failure:
        await _started(config, monkeypatch)
    assert str(failure.value).partition(":")[0] == "ValueError"
    memory.end("somebody")
    node.faults().order(Fault("oom_at_load"))
    with pytest.raises(RuntimeError) as failure:
        await _started(config, monkeypatch)
    assert str(failure.value).partition(":")[0] == "torch.OutOfMemoryError"
    await _started(config, monkeypatch)


async def test_it_replies_in_a_stream_those_together_that_end_together(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await _started(_config(tmp_path / "w", "0"), monkeypatch)
    requests = [_request("long"), _request("short", max_tokens=10), _request("hot", temperature=1)]
    whole = await _answers(server, *requests)
    assert [it.finish for it in whole] == ["stop", "length", "stop"]
    assert [it.output_tokens for it in whole] == [100, 10, 100]
    groups = [
        sorted(event[0] for event in group if isinstance(event, tuple))
        async for group in server.stream(requests)
    ]
    assert [group for group in groups if group] == [[1], [0, 2]]
    assert all(it.seconds >= it.own_seconds > 0 for it in whole)


@pytest.mark.parametrize(
    ("request_", "finish"),
    [
        (Request((Message("user", "x", images=("data:x",)),), seed=1), "unsupported"),
        (_request("x" * 200_000), "overflow"),
        (_request("x", deadline_s=0.1), "late"),
        (_request("x", deadline_s=1000), "stop"),
    ],
)
async def test_what_becomes_of_a_request(
    memory: SharedDeviceMemory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request_: Request,
    finish: str,
) -> None:
    server = await _started(_config(tmp_path / "w", "0"), monkeypatch)
    (completion,) = await _answers(server, request_)
    assert completion.finish == finish


async def test_it_sleeps_and_wakes_as_the_controller_asks(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", pynvml)
    server = await _started(_config(tmp_path / "w", *TWO), monkeypatch)
    loaded = await server.memory_after_load()
    assert loaded is not None
    assert loaded.device_gib == pytest.approx(80 - memory.free("0") / GIB)
    before = (await _one(server, "x")).text
    for level in (1, 2):
        await server.drain(cut_waiting=False)
        asleep = await server.put_to_sleep(level)
        assert memory.free("0") / GIB > 78
        assert asleep is not None
        assert asleep.device_gib == pytest.approx(80 - memory.free("0") / GIB)
        assert await server.wake_and_compare()
    assert (await _one(server, "x")).text == before != GARBAGE


async def test_a_replica_that_has_lost_its_devices_does_not_load(
    memory: SharedDeviceMemory, tmp_path: Path
) -> None:
    server = object.__new__(VirtualReplica)
    with pytest.raises(RuntimeError):
        await server.__init__(_config(tmp_path / "w", "0"), 600.0, controller(False))  # type: ignore[misc]
    assert memory.free("0") == 80 * GIB


async def test_a_wake_with_other_weights_is_noticed(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await _started(_config(tmp_path / "w", *TWO), monkeypatch)
    node.faults().order(Fault("garbage_after_wake", value=2))
    await server.drain(cut_waiting=False)
    await server.put_to_sleep(2)
    assert not await server.wake_and_compare()


async def test_a_replica_ends_after_its_last_words(
    memory: SharedDeviceMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    server = await _started(_config(tmp_path / "w", "0"), monkeypatch)
    await server.check_health()
    node.faults().order(Fault("die_after"))
    with pytest.raises(RuntimeError):
        await _one(server, "x")
    with pytest.raises(RuntimeError):
        await server.check_health()
    assert not ends
    await asyncio.sleep(10)
    assert ends == [1]


def test_nvml_tells_what_raybench_asks(
    memory: SharedDeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", pynvml)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpus_gib() == {"0": 80, "1": 24}
    uuid = pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByIndex(1))
    for visible in ("1", uuid):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        assert gpus_gib() == {visible: 24}
    memory.take("somebody", "1", "weights", 4 * GIB)
    info = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByUUID(uuid))
    assert (info.total, info.free, info.used) == (24 * GIB, 20 * GIB, 4 * GIB)
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlDeviceGetHandleByIndex(2)
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlDeviceGetHandleByUUID("MIG-1")
