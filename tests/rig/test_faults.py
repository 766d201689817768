"""Faults that a test orders of virtual engines."""

import asyncio
from pathlib import Path
from subprocess import run
from sys import executable

import pytest

from perf.rig.devices import GIB, HOST, DeviceMemory, OutOfDeviceMemoryError, SharedDeviceMemory
from perf.rig.engine import GARBAGE, EngineDeadError, VirtualEngine
from perf.rig.faults import KINDS, Fault, FaultFolder, FaultList, Kind
from perf.rig.profile import EngineProfile
from perf.rig.request_engine import RequestEngine

pytestmark = pytest.mark.virtual_time
PROFILE = EngineProfile(load_s=60, weights_gib=10, max_num_seqs=2, reply_tokens=100)
ROOT = Path(__file__).parents[2]
_TAKER = """
import sys; from pathlib import Path; from perf.rig.faults import FaultFolder
print(sum(FaultFolder(Path(sys.argv[1])).take("a", "slow_load") is not None for _ in range(9)))
"""
_HOLDER = """
import sys; from pathlib import Path; from perf.rig.devices import SharedDeviceMemory
memory = SharedDeviceMemory(Path(sys.argv[1]))
memory.take("a", "0", "weights", 2**30)
print(memory.free("0"))
"""


def _printed(program: str, path: Path) -> int:
    """Return the number that a process prints."""
    command = [executable, "-c", program, str(path)]
    return int(run(command, cwd=ROOT, check=True, capture_output=True).stdout)


def _engine(*faults: Fault) -> VirtualEngine:
    memory = DeviceMemory({"0": 80})
    return VirtualEngine(PROFILE, memory, ["0"], name="a-r0", faults=FaultList(faults))


async def _started(*faults: Fault) -> VirtualEngine:
    engine = _engine(*faults)
    await engine.start()
    return engine


async def _texts(engine: VirtualEngine, *prompts: str) -> list[str]:
    asked = (engine.complete(prompt, prompt) for prompt in prompts)
    return [reply.text for reply in await asyncio.gather(*asked)]


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("oom_at_load", OutOfDeviceMemoryError),
        ("die_at_load", RuntimeError),
        ("missing_weights", RuntimeError),
    ],
)
async def test_a_load_fails_as_often_as_ordered(kind: Kind, error: type[Exception]) -> None:
    orders = FaultList([Fault(kind), Fault(kind, engines="b*")])
    memory = DeviceMemory({"0": 80})
    first, second = (
        VirtualEngine(PROFILE, memory, ["0"], name="a", faults=orders) for _ in range(2)
    )
    with pytest.raises(error):
        await first.start()
    assert memory.free("0") == 80 * GIB
    await second.start()
    assert [fault.engines for fault in orders.open] == ["b*"]


async def test_a_load_may_be_slow() -> None:
    began = asyncio.get_running_loop().time()
    await _started(Fault("slow_load", value=1000))
    assert asyncio.get_running_loop().time() - began == 1060


@pytest.mark.parametrize("level", [1, 2])
async def test_a_wake_may_bring_wrong_weights(level: int) -> None:
    engine = await _started(Fault("garbage_after_wake", value=level))
    (right,) = await _texts(engine, "x")
    for slept in (3 - level, level):
        await engine.sleep(slept)
        await engine.wake_up(["weights"])
        if slept == 2:
            await engine.collective_rpc("reload_weights")
        await engine.wake_up(["kv_cache"])
        assert (await _texts(engine, "x") == [right]) == (slept != level)


async def test_wrong_weights_are_not_the_right_reply() -> None:
    engine = await _started(Fault("garbage_after_wake", value=1))
    await engine.sleep(1)
    await engine.wake_up()
    assert await _texts(engine, "x") == [GARBAGE]


@pytest.mark.parametrize("level", [1, 2])
async def test_the_likeliest_tokens_show_wrong_weights(level: int) -> None:
    for faults, is_right in (((), True), ([Fault("garbage_after_wake", value=level)], False)):
        requests = RequestEngine(await _started(*faults))
        before = [await requests.generate_greedily("Once", 16) for _ in range(2)]
        await requests.sleep(level)
        await requests.wake(level)
        after = await requests.generate_greedily("Once", 16)
        assert before[0].tokens == before[1].tokens
        assert before[0].logprobs == pytest.approx(before[1].logprobs, abs=PROFILE.logprob_noise)
        assert before[0].logprobs != before[1].logprobs
        assert (after.tokens == before[0].tokens) == is_right
        assert len(after.tokens) == len(after.logprobs) == 16


async def test_a_wake_may_hang() -> None:
    engine = await _started(Fault("hang_in_wake"))
    await engine.sleep(1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.wake_up(), 10_000)
    await engine.wake_up()  # the next one does not
    await _texts(engine, "x")


async def test_a_sleeper_may_leave_more_than_it_should() -> None:
    memory = DeviceMemory({"0": 80})
    orders = FaultList([Fault("leak_gib", value=6)])
    engine = VirtualEngine(PROFILE, memory, ["0"], name="a-r0", faults=orders)
    await engine.start()
    for _ in range(2):
        await engine.sleep(2)
        held = memory.held("a-r0", "0")
        assert sum(held.values()) / GIB == pytest.approx(PROFILE.left_asleep_gib + 6)
        await engine.wake_up()


async def test_an_engine_may_fall_silent() -> None:
    engine = await _started(Fault("silent_after", value=3))
    asking = [asyncio.create_task(engine.complete(it, it)) for it in "abcdefg"]
    await asyncio.sleep(10_000)
    answered = [task for task in asking if task.done()]
    assert 3 <= len(answered) <= 4
    assert engine.running + engine.waiting == 7 - len(answered)
    tokens, last = engine.tokens, engine.last_token_ts
    await asyncio.sleep(1000)
    assert (engine.tokens, engine.last_token_ts) == (tokens, last)
    await engine.check_health()  # vLLM's looks at the process
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(engine.sleep(1), 1000)
    engine.die()
    ended = await asyncio.gather(*asking, return_exceptions=True)
    assert sum(isinstance(it, EngineDeadError) for it in ended) == 0  # the sleep aborted them


async def test_an_engine_may_die_under_its_requests() -> None:
    memory = DeviceMemory({"0": 80})
    orders = FaultList([Fault("die_after", value=3)])
    engine = VirtualEngine(PROFILE, memory, ["0"], name="a-r0", faults=orders)
    await engine.start()
    ended = await asyncio.gather(
        *(engine.complete(it, it) for it in "abcdefg"), return_exceptions=True
    )
    assert 3 <= sum(not isinstance(it, BaseException) for it in ended) <= 4
    assert memory.free("0") == 80 * GIB


async def test_an_engine_may_die_at_once() -> None:
    with pytest.raises(EngineDeadError):
        await _texts(await _started(Fault("die_after")), "x")


def test_orders_in_files_are_taken_once(tmp_path: Path) -> None:
    orders = FaultFolder(tmp_path)
    orders.order(Fault("garbage_after_wake", "a-*", 2.0), times=2)
    other = FaultFolder(tmp_path)
    assert other.take("b-r0", "garbage_after_wake") is None
    assert other.take("a-r0", "garbage_after_wake", 1) is None
    assert other.take("a-r0", "die_after") is None
    taken = [orders.take("a-r0", "garbage_after_wake", 2), other.take("a-r1", "garbage_after_wake")]
    assert taken == [2.0, 2.0]
    assert orders.take("a-r0", "garbage_after_wake") is None
    assert sorted(orders.happened("garbage_after_wake")) == ["a-r0", "a-r1"]


def test_a_fault_may_be_of_one_node(tmp_path: Path) -> None:
    FaultFolder(tmp_path).order(Fault("missing_weights", node="b"))
    taken = [FaultFolder(tmp_path, node).take("a-r0", "missing_weights") for node in "abb"]
    assert taken == [None, 0.0, None]


def test_only_known_faults_are_ordered(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        FaultFolder(tmp_path).order(Fault("earthquake"))  # type: ignore[arg-type]
    assert len(KINDS) == 9


@pytest.mark.process
def test_each_order_happens_once_over_all_processes(tmp_path: Path) -> None:
    orders = FaultFolder(tmp_path)
    orders.order(Fault("slow_load"), times=10)
    taken = [
        run([executable, "-c", _TAKER, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
        for _ in range(2)
    ]
    assert sorted(int(it.stdout) for it in taken) == [1, 9]


@pytest.mark.process
def test_memory_of_processes_that_are_gone_is_free(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    SharedDeviceMemory.create(file, {"0": 4.0, "1": 8.0}, host_gib=16)
    memory = SharedDeviceMemory(file)
    assert memory.devices == ("0", "1")
    assert [memory.total(it) / GIB for it in ("0", "1", HOST)] == [4, 8, 16]
    memory.take("a", "0", "weights", 2 * GIB)
    assert _printed(_HOLDER, file) == GIB  # it saw what others had, and took of the rest
    assert memory.owners("0") == {"a": 2 * GIB}
    with pytest.raises(OutOfDeviceMemoryError):
        memory.take("b", "0", "weights", 3 * GIB)
    memory.give_back("a", "0", "weights")
    memory.end("a")
    assert memory.free("0") == 4 * GIB and memory.owners("0") == {}
