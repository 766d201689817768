"""The virtual engine does what vLLM does; each test names the place in vLLM's source."""

import ast
import asyncio
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeGuard

import pytest
from virtual_time import now

from perf.rig import engine as rig
from perf.rig import engine_memory
from perf.rig.devices import GIB, HOST, DeviceMemory, OutOfDeviceMemoryError
from perf.rig.engine import EngineDeadError, Output, VirtualEngine
from perf.rig.profile import EngineProfile

pytestmark = pytest.mark.virtual_time
SMALL = EngineProfile(weights_gib=10, load_s=60, profile_s=10, reply_spread=0.0, reply_tokens=100)
"""All its replies have 100 tokens."""
HALF: dict[str, Any] = {"gpu_memory_utilization": 0.5}
STEP_S = SMALL.step_seconds(1)


def _gpus(count: int = 1, gib: float = 80.0) -> DeviceMemory:
    return DeviceMemory({str(index): gib for index in range(count)})


def _engine(
    memory: DeviceMemory | None = None, *, name: str = "a", devices: str = "0", **changed: Any
) -> VirtualEngine:
    profile = replace(SMALL, **changed)
    return VirtualEngine(profile, memory or _gpus(), devices.split(","), name=name)


async def _started(memory: DeviceMemory | None = None, **given: Any) -> VirtualEngine:
    engine = _engine(memory, **given)
    await engine.start()
    return engine


async def _ask(engine: VirtualEngine, *prompts: str, **given: Any) -> list[Output]:
    asked = (engine.complete(prompt, prompt, **given) for prompt in prompts)
    return list(await asyncio.gather(*asked))


def _free_gib(memory: DeviceMemory, device: str = "0") -> float:
    return memory.free(device) / GIB


def _vllm(file: str, *lines: int) -> str:
    """Return the text at a line of vLLM's source, with {} for its values.

    Its last value is the text at the next of these lines, where there are several.
    """
    spec = find_spec("vllm")
    assert spec is not None and spec.origin is not None
    tree = ast.parse((Path(spec.origin).parent / file).read_text("utf-8"))
    text = "{}"
    for line in lines:
        # The first is the whole text: a breadth-first walk comes to its parts later.
        found = next(it for it in ast.walk(tree) if _is_text(it) and it.lineno == line)
        parts = found.values if isinstance(found, ast.JoinedStr) else [found]
        constants = [it.value if isinstance(it, ast.Constant) else "{}" for it in parts]
        text = text.removesuffix("{}") + "".join(map(str, constants))
    return text


def _is_text(node: ast.AST) -> TypeGuard[ast.JoinedStr | ast.Constant]:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr)


@pytest.mark.parametrize(
    ("text", "file", "lines", "values"),
    [
        (
            engine_memory.TOO_LITTLE_FREE,
            "v1/worker/utils.py",
            (527,),
            "device free total share wanted",
        ),
        (engine_memory.MEMORY_WAS_FREED, "v1/worker/gpu_worker.py", (586,), "before now"),
        (engine_memory.NO_CACHE_MEMORY, "v1/core/kv_cache_utils.py", (860,), ""),
        (engine_memory.NOT_FREED, "v1/worker/gpu_worker.py", (265,), ""),
        (rig.PROMPT_TOO_LONG, "v1/engine/input_processor.py", (468, 463), "kind length most"),
        (rig.NO_ROOM_FOR_A_REPLY, "v1/engine/input_processor.py", (478, 474), "kind length most"),
        (rig.NO_WEIGHTS, "model_executor/model_loader/default_loader.py", (239,), "folder"),
        (rig.DIED_AT_START, "v1/engine/utils.py", (1321,), "processes"),
        (rig.DEAD, "v1/engine/exceptions.py", (16,), ""),
    ],
)
def test_its_errors_say_what_vllm_says(
    text: str, file: str, lines: tuple[int, ...], values: str
) -> None:
    assert text.format(**dict.fromkeys(values.split(), "{}")) == _vllm(file, *lines)


# ------------------------------------------------------------------------------- start and memory


async def test_a_start_takes_time_and_all_the_memory_that_it_may() -> None:
    """v1/worker/gpu_worker.py:606: what it was allowed, without all else, is its KV cache."""
    memory, began = _gpus(), now()
    engine = await _started(memory)
    assert now() - began == 60
    held = {part: size / GIB for part, size in memory.held("a", "0").items()}
    # Of 80 GiB it may take 72. The CUDA context was there before it began to count.
    assert held == pytest.approx(
        {"context": 0.6, "communication": 0, "weights": 10, "kv_cache": 58.5}
        | {"graphs": 1.5, "activations": 2}
    )
    engine.stop()
    assert _free_gib(memory) == 80


async def test_it_does_not_start_where_less_is_free_than_it_may_take() -> None:
    """v1/worker/utils.py:525."""
    memory = _gpus()
    memory.take("somebody", "0", "", 9 * GIB)
    with pytest.raises(ValueError) as refusal:
        await _started(memory)
    values = {"device": "cuda:0", "free": "70.4", "total": "80.0", "share": 0.9, "wanted": "72.0"}
    assert str(refusal.value) == engine_memory.TOO_LITTLE_FREE.format(**values)
    assert _free_gib(memory) == 71


async def test_a_neighbour_that_loads_meanwhile_counts_as_its_own_memory() -> None:
    """utils/mem_utils.py:317: the difference of the whole device's free memory."""
    memory = _gpus()
    first = _engine(memory, gpu_memory_utilization=0.4)  # 32 GiB
    second = _engine(memory, name="b", gpu_memory_utilization=0.4)
    await asyncio.gather(first.start(), second.start())
    sizes = [memory.held(name, "0")["kv_cache"] / GIB for name in "ab"]
    # Alone it is 32 - 13.5. The first has the other's context, weights and activations counted,
    # the second what the first took after it had measured.
    assert sizes == pytest.approx([18.5 - 12.6, 18.5 - 5.9 - 3.5])


async def test_a_neighbour_s_weights_may_leave_no_memory_for_its_cache() -> None:
    """v1/core/kv_cache_utils.py:858."""
    memory = _gpus()
    start = asyncio.create_task(_engine(memory, **HALF).start())
    await asyncio.sleep(5)
    memory.take("somebody", "0", "weights", 30 * GIB)
    with pytest.raises(ValueError) as refusal:
        await start
    assert str(refusal.value) == engine_memory.NO_CACHE_MEMORY
    assert _free_gib(memory) == 50


async def test_a_neighbour_that_leaves_meanwhile_breaks_the_measurement() -> None:
    """v1/worker/gpu_worker.py:585."""
    memory = _gpus()
    memory.take("somebody", "0", "weights", 20 * GIB)
    start = asyncio.create_task(_engine(memory, **HALF).start())
    await asyncio.sleep(55)
    memory.end("somebody")
    with pytest.raises(AssertionError) as refusal:
        await start
    assert str(refusal.value) == engine_memory.MEMORY_WAS_FREED.format(before="59.4", now="69.4")


async def test_a_fixed_cache_needs_no_measurement() -> None:
    """v1/worker/gpu_worker.py:527, and what is free at the start counts all the same (:440)."""
    memory = _gpus()
    memory.take("somebody", "0", "weights", 20 * GIB)
    start = asyncio.create_task(_engine(memory, kv_gib=8, **HALF).start())
    await asyncio.sleep(55)
    memory.end("somebody")
    await start
    assert memory.held("a", "0")["kv_cache"] == 8 * GIB
    with pytest.raises(ValueError):
        await _started(memory, name="b", kv_gib=1)


async def test_weights_that_do_not_fit_are_cuda_s_own_failure() -> None:
    """v1/worker/gpu_model_runner.py:5460 raises it again as it is."""
    memory = _gpus(gib=24)
    with pytest.raises(OutOfDeviceMemoryError):
        await _started(memory, weights_gib=30)
    assert _free_gib(memory) == 24


async def test_an_engine_on_several_devices_has_the_cache_that_each_of_them_can_hold() -> None:
    """v1/core/kv_cache_utils.py:2354: the least of all workers counts."""
    memory = _gpus(2)
    memory.take("somebody", "1", "", 5 * GIB)
    await _started(memory, devices="0,1", gpu_memory_utilization=0.9)
    held = [memory.held("a", device) for device in "01"]
    assert held[0] == held[1]
    assert held[0]["weights"] == 5 * GIB and held[0]["communication"] == GIB
    assert held[0]["kv_cache"] / GIB == 72 - 5 - 3.5


# ------------------------------------------------------------------------------- requests and steps


async def test_a_step_makes_a_token_for_every_request() -> None:
    engine, began = await _started(), now()
    replies = await _ask(engine, "x", "y")
    assert [reply.output_tokens for reply in replies] == [100, 100]
    prefill = 2 / SMALL.prefill_tokens_per_s
    assert now() - began == pytest.approx(prefill + 100 * SMALL.step_seconds(2))
    assert engine.tokens == 200
    assert engine.last_token_ts == pytest.approx(now())


async def test_steps_take_longer_the_more_requests_run() -> None:
    engine = await _started()
    asking = asyncio.create_task(_ask(engine, "x"))
    await asyncio.sleep(50.5 * STEP_S)
    (reply,) = await _ask(engine, "y")
    (first,) = await asking
    # They run side by side for half of it: the second joins at the end of a step.
    both, alone = SMALL.step_seconds(2), STEP_S
    side_by_side = reply.last_token_ts - reply.scheduled_ts
    assert 49 * both + 51 * alone == pytest.approx(side_by_side, abs=2 * both)
    assert first.last_token_ts < reply.last_token_ts
    assert (reply.scheduled_ts - first.scheduled_ts) / alone == pytest.approx(51, abs=0.1)


async def test_only_so_many_run_and_the_others_wait_in_order() -> None:
    """v1/core/sched/scheduler.py:784, v1/core/sched/request_queue.py:75."""
    engine = await _started(max_num_seqs=2)
    asking = asyncio.create_task(_ask(engine, *"abcde"))
    await asyncio.sleep(50 * STEP_S)
    assert (engine.running, engine.waiting) == (2, 3)
    replies = await asking
    begins = [reply.scheduled_ts for reply in replies]
    assert begins == sorted(begins)
    assert len(set(begins)) == 3  # two at once, twice, and the last one
    assert (engine.running, engine.waiting) == (0, 0)


async def test_long_prompts_are_read_step_by_step() -> None:
    """v1/core/sched/scheduler.py:776: each step has its budget of tokens."""
    engine = await _started(prefill_tokens_per_s=1000)
    prompts = [f"{index}" * 4 * 4000 for index in range(4)]
    replies = await _ask(engine, *prompts)
    begins = [reply.scheduled_ts for reply in replies]
    assert begins[0] == begins[1] == begins[2]  # the third goes over the 8,192
    assert begins[3] - begins[0] == pytest.approx(12, abs=0.1)


async def test_a_prompt_s_known_beginning_is_not_read_again() -> None:
    """v1/core/kv_cache_manager.py:253: whole blocks, and never the last token."""
    engine = await _started()
    prompt = "".join(f"word {index:06d} " for index in range(100))
    (first,) = await _ask(engine, prompt)
    (again,) = await _ask(engine, prompt)
    (other,) = await _ask(engine, prompt[:640] + "else")
    assert (first.num_cached_tokens, other.num_cached_tokens) == (0, 160)
    assert again.num_cached_tokens == (again.prompt_tokens - 1) // 16 * 16
    assert await engine.reset_prefix_cache()
    assert (await _ask(engine, prompt))[0].num_cached_tokens == 0


async def test_the_prefix_cache_is_not_reset_under_requests() -> None:
    """v1/core/sched/scheduler.py:2604."""
    engine = await _started()
    asking = asyncio.create_task(_ask(engine, "x"))
    await asyncio.sleep(STEP_S)
    assert not await engine.reset_prefix_cache()
    await asking


async def test_a_reply_follows_from_model_seed_and_prompt() -> None:
    (one,) = await _ask(await _started(reply_spread=1.0), "x", seed=1)
    busy = await _started(_gpus(), reply_spread=1.0)
    asking = asyncio.create_task(_ask(busy, *"abc"))
    (same,) = await _ask(busy, "x", seed=1)
    await asking
    assert (one.text, one.output_tokens) == (same.text, same.output_tokens)
    (seeded,) = await _ask(busy, "x", seed=2)
    (other,) = await _ask(await _started(reply_spread=1.0, model="other"), "x", seed=1)
    assert len({one.text, seeded.text, other.text}) == 3


async def test_a_reply_ends_at_its_limit() -> None:
    engine = await _started(max_model_len=60)
    (whole, cut) = [(await _ask(engine, "x", max_tokens=most))[0] for most in (None, 20)]
    assert (whole.finish_reason, whole.output_tokens) == ("length", 59)
    assert (cut.finish_reason, cut.output_tokens) == ("length", 20)
    assert (await _ask(await _started(), "x"))[0].finish_reason == "stop"


@pytest.mark.parametrize(
    ("tokens", "text"), [(61, rig.PROMPT_TOO_LONG), (60, rig.NO_ROOM_FOR_A_REPLY)]
)
async def test_a_prompt_that_is_too_long_is_refused(tokens: int, text: str) -> None:
    """v1/engine/input_processor.py:452."""
    engine = await _started(max_model_len=60)
    with pytest.raises(ValueError) as refusal:
        await _ask(engine, "x" * 4 * (tokens - 1))
    assert str(refusal.value) == text.format(kind="decoder", length=tokens, most=60)


async def test_an_abort_returns_what_there_is() -> None:
    """v1/engine/output_processor.py:541."""
    engine = await _started(max_num_seqs=1)
    asking = asyncio.create_task(_ask(engine, "x", "y"))
    await asyncio.sleep(10.5 * STEP_S)
    await engine.abort("x")
    await engine.abort("nobody's")
    first, second = await asking
    assert (first.finish_reason, first.output_tokens) == ("abort", 10)
    assert (second.finish_reason, second.output_tokens) == ("stop", 100)


async def test_a_request_that_nobody_waits_for_is_aborted() -> None:
    """v1/engine/async_llm.py:693."""
    engine = await _started()
    asking = asyncio.create_task(anext(engine.generate("x", "1")))
    await asyncio.sleep(STEP_S)
    assert engine.running == 1
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert engine.running == 0


async def test_a_million_tokens_cost_no_step_each() -> None:
    engine = await _started(reply_tokens=900_000, max_model_len=1_000_000)
    turns = 0
    asking = asyncio.create_task(_ask(engine, "x"))
    while not asking.done():
        turns += 1
        await asyncio.sleep(100 * STEP_S * 1000)
    assert turns < 12
    assert engine.tokens == 900_000


# ------------------------------------------------------------------------------- sleep and wake


@pytest.mark.parametrize(("level", "host_gib"), [(1, 10), (2, 0)])
async def test_a_sleeper_leaves_its_device_but_for_a_rest(level: int, host_gib: float) -> None:
    """v1/worker/gpu_worker.py:237, device_allocator/cumem.py:243."""
    memory = _gpus()
    engine = await _started(memory)
    await engine.sleep(level)
    assert _free_gib(memory) == pytest.approx(80 - SMALL.left_asleep_gib)
    assert memory.held("a", HOST).get("pinned", 0) == host_gib * GIB
    before = memory.held("a", "0")
    await engine.sleep(level)  # v1/executor/abstract.py:338
    assert memory.held("a", "0") == before


async def test_a_sleep_aborts_what_runs_and_what_comes_then_waits() -> None:
    """v1/engine/async_llm.py:1046 (mode "abort"), v1/engine/core.py:855."""
    engine = await _started(max_num_seqs=1)
    asking = asyncio.create_task(_ask(engine, "x", "y"))
    await asyncio.sleep(10.5 * STEP_S)
    await engine.sleep(1)
    assert [(it.finish_reason, it.output_tokens) for it in await asking] == [
        ("abort", 10),
        ("abort", 0),
    ]
    later = asyncio.create_task(_ask(engine, "z"))
    await asyncio.sleep(1000)
    assert (engine.is_sleeping, engine.running, engine.waiting) == (True, 0, 1)
    await engine.wake_up()
    assert (await later)[0].finish_reason == "stop"


async def test_level_1_keeps_the_weights() -> None:
    memory = _gpus()
    engine = await _started(memory)
    (before,), awake = await _ask(engine, "x"), memory.held("a", "0")
    await engine.sleep(1)
    await engine.wake_up()
    assert memory.held("a", "0") == awake
    assert memory.held("a", HOST) == {}
    assert (await _ask(engine, "x"))[0].text == before.text


async def test_level_2_needs_its_weights_loaded_again() -> None:
    """v1/worker/gpu_worker.py:508: without it, what is in memory is no model."""
    engine = await _started()
    (before,) = await _ask(engine, "x")
    await engine.sleep(2)
    await engine.wake_up()
    assert (await _ask(engine, "x"))[0].text == rig.GARBAGE
    await engine.sleep(2)
    await engine.wake_up(["weights"])
    assert engine.is_sleeping  # v1/engine/core.py:938
    await engine.collective_rpc("reload_weights")
    await engine.wake_up(["kv_cache"])
    assert (await _ask(engine, "x"))[0].text == before.text


async def test_a_tag_that_is_awake_wakes_nothing() -> None:
    """v1/executor/abstract.py:354."""
    engine = await _started()
    await engine.sleep(1)
    await engine.wake_up(["weights"])
    await engine.wake_up(["weights", "kv_cache"])
    assert engine.is_sleeping


async def test_level_0_only_pauses() -> None:
    """v1/engine/core.py:903."""
    memory = _gpus()
    engine = await _started(memory)
    before = memory.held("a", "0")
    await engine.sleep(0)
    later = asyncio.create_task(_ask(engine, "x"))
    await asyncio.sleep(1000)
    assert memory.held("a", "0") == before and not later.done()
    await engine.wake_up(["scheduling"])
    await later


async def test_older_torch_takes_more_host_memory_and_keeps_it() -> None:
    memory = _gpus()
    engine = await _started(memory, pinned_factor=1.9, keeps_pinned=True)
    for _ in range(2):
        await engine.sleep(1)
        await engine.wake_up()
        assert memory.held("a", HOST) == {"pinned": 19 * GIB}


async def test_too_little_host_memory_ends_it() -> None:
    memory = DeviceMemory({"0": 80}, host_gib=9)
    engine = await _started(memory)
    with pytest.raises(EngineDeadError):
        await engine.sleep(1)
    assert _free_gib(memory) == 80


async def test_no_memory_to_wake_up_with() -> None:
    """device_allocator/cumem.py:345; it can be tried again."""
    memory = _gpus()
    engine = await _started(memory)
    await engine.sleep(1)
    memory.take("somebody", "0", "", 30 * GIB)
    with pytest.raises(RuntimeError) as failure:
        await engine.wake_up()
    assert str(failure.value) == engine_memory.NO_MEMORY_TO_WAKE
    memory.end("somebody")
    await engine.wake_up()
    assert (await _ask(engine, "x"))[0].finish_reason == "stop"


async def test_a_neighbour_that_loads_makes_a_sleep_fail() -> None:
    """v1/worker/gpu_worker.py:265. Its memory is gone, and the next step dies of that."""
    memory = _gpus()
    engine = await _started(memory, kv_gib=1, **HALF)
    sleeping = asyncio.create_task(engine.sleep(1))
    await asyncio.sleep(1)
    memory.take("somebody", "0", "weights", 20 * GIB)
    with pytest.raises(AssertionError) as failure:
        await sleeping
    assert str(failure.value) == engine_memory.NOT_FREED
    await engine.wake_up()
    with pytest.raises(EngineDeadError):
        await _ask(engine, "x")


async def test_a_dead_engine_says_so_to_everybody() -> None:
    """v1/engine/async_llm.py:1015, v1/engine/exceptions.py:16."""
    memory = _gpus()
    engine = await _started(memory, max_num_seqs=1)
    await engine.check_health()
    asking = asyncio.gather(_ask(engine, "x"), _ask(engine, "y"), return_exceptions=True)
    await asyncio.sleep(STEP_S)
    engine.die()
    assert [type(it) for it in await asking] == [EngineDeadError, EngineDeadError]
    for call in (engine.check_health(), _ask(engine, "z"), engine.sleep(1), engine.wake_up()):
        with pytest.raises(EngineDeadError):
            await call
    assert _free_gib(memory) == 80
